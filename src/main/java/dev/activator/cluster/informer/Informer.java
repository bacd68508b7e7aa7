package dev.activator.cluster.informer;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The objects of one kind, shared by any number of handlers: what is put into the {@link #sink} can be
 * read from the {@link #store}, and every handler is told of it.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. Objects are stored and distributed on {@code loop}; handlers
 * are called on theirs.
 *
 * <p>
 * <b>Errors.</b> A handler is refused once the informer is closed, and so is a second start.
 *
 * <p>
 * <b>Source.</b> {@code SharedIndexInformer} in client-go's {@code tools/cache/shared_informer.go},
 * without the reflector.
 */
public final class Informer<T> implements AutoCloseable {
  private enum Phase {
    NEW, STARTED, CLOSED
  }

  private final String name;
  private final IndexedStore<T> store = new IndexedStore<>();
  private final SharedProcessor<T> processor;
  private final Controller<T> controller;
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.NEW);

  /** An informer that stores what it is given, and resyncs no handler. */
  public Informer(String name, Loop loop) {
    this(name, loop, Duration.ZERO, (_, seen) -> seen);
  }

  /**
   * @param name in logs and views, such as {@code endpoints}
   * @param resyncCheck how often to look for handlers that are due for a resync; zero for never
   * @param transform applied to each object before it is stored
   */
  public Informer(String name, Loop loop, Duration resyncCheck, Transform<T> transform) {
    this.name = name;
    this.processor = new SharedProcessor<>(name, loop, store, resyncCheck);
    this.controller = new Controller<>(name, loop, transform, store, processor);
  }

  /**
   * Begins to store and to tell. Once.
   *
   * @throws IllegalStateException if it was started or closed before
   */
  public void start() {
    if (!phase.compareAndSet(Phase.NEW, Phase.STARTED)) {
      throw new IllegalStateException(name + " cannot be started: it is " + phase.get());
    }
    controller.start();
  }

  /** Takes what the API shows. What is put before the start waits for it. */
  public DeltaSink<T> sink() {
    return controller.queue();
  }

  public IndexedStore<T> store() {
    return store;
  }

  /**
   * Tells the handler of every stored object, as added, and of every change after that.
   *
   * @throws IllegalStateException if the informer is closed
   */
  public Registration addHandler(Handler<T> handler, HandlerOptions options) {
    return processor.add(handler, options);
  }

  /** Whether the first list is in the store. Handlers may not have been told of it yet. */
  public boolean hasSynced() {
    return controller.synced().isDone() && !controller.synced().isCancelled();
  }

  /**
   * Done when {@link #hasSynced}, on the informer's loop; fails with a
   * {@link java.util.concurrent.CancellationException} if the informer is closed before.
   */
  public CompletableFuture<Void> synced() {
    return controller.synced().copy();
  }

  public InformerView view() {
    return new InformerView(name, store.size(), controller.queue().depth(), hasSynced(),
        controller.failures(), store.indexFailures(), processor.views());
  }

  /**
   * Ends it for good. No call of a handler starts after this, one in progress ends by itself, and
   * pending changes are dropped. Idempotent.
   */
  @Override
  public void close() {
    phase.set(Phase.CLOSED);
    controller.close();
    processor.close();
  }

  /**
   * Waits until all of these are synced.
   *
   * @return false if the time passed or one was closed
   * @throws InterruptedException if the thread is interrupted meanwhile
   */
  public static boolean awaitSynced(Duration timeout, List<CompletableFuture<Void>> synced)
      throws InterruptedException {
    var all = CompletableFuture.allOf(synced.toArray(CompletableFuture[]::new));
    var closed = new CompletableFuture<Void>();
    synced.forEach(one -> one.exceptionally(failure -> {
      closed.completeExceptionally(failure);
      return null;
    }));
    try {
      CompletableFuture.anyOf(all, closed).get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException | TimeoutException notSynced) {
      return false;
    }
  }
}
