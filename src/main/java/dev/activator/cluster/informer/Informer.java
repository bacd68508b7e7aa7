package dev.activator.cluster.informer;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One kind of object, watched once for all who want to know of it: what is put into the
 * {@link #mirror} can be read from the {@link #store}, and is told to every handler.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. What is stored and who is told what is decided on
 * {@code loop}; handlers are called on theirs.
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
  private final Loop loop;
  private final IndexedStore<T> store = new IndexedStore<>();
  private final SharedProcessor<T> processor;
  private final Controller<T> controller;
  private volatile @Nullable MutationDetector<T> detector;
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.NEW);

  /** An informer that resyncs no listener. */
  public Informer(String name, Loop loop) {
    this(name, loop, Duration.ZERO);
  }

  /**
   * @param name in logs and views, as in "endpoints"
   * @param resyncCheck how often to look for listeners that are due for a resync; zero for never
   */
  public Informer(String name, Loop loop, Duration resyncCheck) {
    this.name = name;
    this.loop = loop;
    this.processor = new SharedProcessor<>(name, loop, store, resyncCheck);
    this.controller = new Controller<>(name, loop, store, processor);
  }

  /**
   * For debugging: looks this often whether anybody changed a cached object, logs it and counts it.
   *
   * @param fingerprint a value that differs if the object does, as its JSON
   * @throws IllegalStateException if it was started or closed before
   */
  public void detectMutations(Function<? super T, ?> fingerprint, Duration every) {
    if (phase.get() != Phase.NEW) {
      throw new IllegalStateException(name + " has cached objects already");
    }
    var watching = new MutationDetector<T>(fingerprint);
    controller.onStored(watching::stored);
    detector = watching;
    loop.schedule(every, () -> detect(watching, every));
  }

  /**
   * Stores and tells, from now on and once.
   *
   * @throws IllegalStateException if it was started or closed before
   */
  public void start() {
    if (!phase.compareAndSet(Phase.NEW, Phase.STARTED)) {
      throw new IllegalStateException(name + " cannot be started: it is " + phase.get());
    }
    controller.start();
  }

  /** Where to put what the API shows. What is put before the start waits for it. */
  public DeltaSink<T> mirror() {
    return controller.queue();
  }

  /** What is known. */
  public IndexedStore<T> store() {
    return store;
  }

  /**
   * Tells the handler of all that is known, as added, and of every change after that.
   *
   * @throws IllegalStateException if the informer is closed
   */
  public Registration addHandler(Handler<T> handler, HandlerOptions listening) {
    return processor.add(handler, listening);
  }

  /** Whether the first list is in the store. Handlers may have yet to be told of it. */
  public boolean hasSynced() {
    return controller.synced().isDone() && !controller.synced().isCancelled();
  }

  /**
   * Done when {@link #hasSynced}, on the informer's loop, so what hangs on it must not block;
   * fails with a {@link java.util.concurrent.CancellationException} if it is closed before.
   */
  public CompletableFuture<Void> synced() {
    return controller.synced().copy();
  }

  public InformerView view() {
    var watching = detector;
    return new InformerView(name, store.size(), controller.queue().depth(), hasSynced(),
        controller.failures(), store.indexFailures(), watching == null ? 0 : watching.mutated(),
        processor.views());
  }

  /**
   * Ends it for good. No call of a handler starts after this, one in progress ends by itself, and
   * what was still to be told is forgotten. A second time does nothing.
   */
  @Override
  public void close() {
    phase.set(Phase.CLOSED);
    controller.close();
    processor.close();
  }

  private void detect(MutationDetector<T> watching, Duration every) {
    if (phase.get() != Phase.CLOSED) {
      watching.check();
      loop.schedule(every, () -> detect(watching, every));
    }
  }

  /**
   * Waits until all of these are synced.
   *
   * @return whether they are: not if the time passed, one was closed, or the thread was interrupted
   */
  public static boolean awaitSynced(Duration timeout, List<CompletableFuture<Void>> synced) {
    var all = new CompletableFuture<Void>();
    CompletableFuture.allOf(synced.toArray(CompletableFuture[]::new))
        .thenRun(() -> all.complete(null));
    synced.forEach(one -> one.exceptionally(closed -> {
      all.completeExceptionally(closed);
      return null;
    }));
    try {
      all.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException | TimeoutException notSynced) {
      return false;
    }
  }
}
