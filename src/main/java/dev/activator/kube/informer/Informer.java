package dev.activator.kube.informer;

import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.DeltaQueue.Delta;
import dev.activator.kube.informer.DeltaQueue.Popped;
import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Deleted;
import dev.activator.kube.informer.InformerNotification.FinalState;
import dev.activator.kube.informer.InformerNotification.Updated;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the objects of one kind that a reflector puts into the {@link #sink}, and notifies all
 * handlers of changes.
 *
 * <p><b>Threads.</b> Any thread may call. Objects are stored on {@code loop}, a limited number of
 * keys in each turn; handlers run on their own loops. Objects are stored before handlers are
 * notified, so a handler finds that version in the store, or a newer one.
 *
 * <p><b>Errors.</b> A change that fails is logged and skipped. After an OutOfMemoryError it is
 * retried, unless a newer change is pending.
 *
 * <p><b>Source.</b> client-go's {@code SharedIndexInformer}.
 */
public final class Informer<T> implements AutoCloseable {
  /**
   * Computes the object to store. Called once for each version, on the informer's loop.
   *
   * <p><b>Source.</b> client-go's {@code TransformFunc}.
   */
  @FunctionalInterface
  public interface Transform<T> {
    VersionedObject<T> apply(@Nullable VersionedObject<T> stored, VersionedObject<T> seen);
  }

  static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  private static final int KEYS_PER_TURN = 256;
  private static final Logger log = LoggerFactory.getLogger(Informer.class);

  private enum Phase {
    NEW,
    STARTED,
    CLOSED
  }

  private final String name;
  private final IndexedStore<T> store = new IndexedStore<>();
  private final Loop loop;
  private final Duration resyncPeriod;
  private final Transform<T> transform;
  private final SharedProcessor<T> processor;
  private final DeltaQueue<T> queue;
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.NEW);
  private volatile Loop.@Nullable Timer nextResync;
  private volatile long failures;
  private volatile long missedDeletions;
  /** Used only on the loop. */
  private boolean paused;

  /** @param resyncPeriod how often handlers that are resynced get all objects again; zero for never */
  public Informer(String name, Loop loop, Duration resyncPeriod, Transform<T> transform) {
    this.name = name;
    this.loop = loop;
    this.resyncPeriod = resyncPeriod;
    this.transform = transform;
    this.processor = new SharedProcessor<>(name, loop, store);
    this.queue = new DeltaQueue<>(store, this::wake);
  }

  /** @throws IllegalStateException if it was started or closed before */
  public void start() {
    if (!phase.compareAndSet(Phase.NEW, Phase.STARTED)) {
      throw new IllegalStateException(name + " cannot be started: it is " + phase.get());
    }
    wake();
    if (!resyncPeriod.isZero()) {
      scheduleResync();
    }
  }

  public ReflectorStore<T> sink() {
    return queue;
  }

  public IndexedStore<T> store() {
    return store;
  }

  /**
   * Adds a handler. It is notified of each stored object, and then of each change.
   *
   * @throws IllegalStateException if the informer is closed
   */
  public InformerHandlerRegistration addHandler(InformerHandler<T> handler,
      InformerHandlerOptions options) {
    return processor.add(handler, options);
  }

  /** Whether the first list is stored. Handlers may not have handled it yet. */
  public boolean hasSynced() {
    return synced.isDone() && !synced.isCancelled();
  }

  /**
   * Completes on the informer's loop when the first list is stored; cancelled if the informer is
   * closed before.
   */
  public CompletableFuture<Void> synced() {
    return synced.copy();
  }

  public InformerStatus view() {
    return new InformerStatus(name, store.size(), queue.depth(), hasSynced(), failures,
        missedDeletions, processor.views());
  }

  /**
   * Closes the informer. No handler is called afterwards; pending changes are dropped. Idempotent.
   */
  @Override
  public void close() {
    phase.set(Phase.CLOSED);
    var timer = nextResync;
    if (timer != null) {
      timer.cancel();
    }
    queue.close();
    synced.cancel(false);
    processor.close();
  }

  private void wake() {
    if (phase.get() == Phase.STARTED) {
      loop.execute(this::turn);
    }
  }

  private void turn() {
    for (int keys = 0; keys < KEYS_PER_TURN; keys++) {
      if (phase.get() == Phase.CLOSED || paused) {
        return;
      }
      var popped = pop();
      if (!synced.isDone() && queue.hasSynced()) {
        processor.initialDistributed();
        synced.complete(null);
      }
      switch (popped) {
        case EMPTY -> {
          return;
        }
        case PUT_BACK -> {
          paused = true;
          loop.schedule(PAUSE_AFTER_FAILURE, this::resume);
          return;
        }
        case PROCESSED -> {
        }
      }
    }
    loop.execute(this::turn);
  }

  private void resume() {
    paused = false;
    turn();
  }

  private Popped pop() {
    try {
      return queue.pop(this::process);
    } catch (RuntimeException | Error e) {
      failed("lost a change", e);
      return Popped.PROCESSED;
    }
  }

  private List<Delta<T>> process(String key, List<Delta<T>> deltas) {
    for (int i = 0; i < deltas.size(); i++) {
      try {
        apply(deltas.get(i));
      } catch (OutOfMemoryError e) {
        failed("has no memory for a change of " + key + " and will try again", e);
        return deltas.subList(i, deltas.size());
      } catch (RuntimeException | Error e) {
        failed("could not store a change of " + key, e);
      }
    }
    return List.of();
  }

  private void apply(Delta<T> delta) {
    switch (delta.type()) {
      case ADDED, UPDATED, REPLACED -> put(delta.object());
      case DELETED -> delete(delta.object(), FinalState.KNOWN);
      case LOST -> delete(delta.object(), FinalState.UNKNOWN);
      case SYNC -> processor.resynced(delta.object());
    }
  }

  private void put(VersionedObject<T> seen) {
    var before = store.find(seen.key());
    if (before != null && seen.isSameAs(before)) {
      return;
    }
    var now = transform.apply(before, seen);
    store.put(now);
    distribute(before == null ? new Added<>(now) : new Updated<>(before, now));
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written only on the loop
  private void delete(VersionedObject<T> last, FinalState state) {
    var before = store.remove(last.key());
    if (before != null) {
      missedDeletions += state == FinalState.UNKNOWN ? 1 : 0;
      distribute(new Deleted<>(before, last, state));
    }
  }

  /**
   * Notifies the handlers. A failure is not retried, because the change is already stored and would
   * look unchanged.
   */
  private void distribute(InformerNotification<T> stored) {
    try {
      processor.distribute(stored);
    } catch (RuntimeException | Error e) {
      failed("did not notify every handler of a change of " + stored.key(), e);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written only on the loop
  private void failed(String what, Throwable failure) {
    failures++;
    log.error("The informer of {} {}", name, what, failure);
  }

  private void scheduleResync() {
    nextResync = loop.schedule(resyncPeriod, this::resync);
  }

  private void resync() {
    if (phase.get() == Phase.CLOSED) {
      return;
    }
    scheduleResync();
    if (processor.hasResynced()) {
      queue.resync();
    }
  }

  /**
   * Waits until several informers or handlers are synced.
   *
   * @return false if the timeout has passed, or one was closed
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
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  /**
   * A snapshot of an informer's state: stored and queued objects, sync, failures, listeners.
   *
   * @param queued the number of keys with changes that are not stored yet
   * @param synced whether the first list is stored
   * @param missedDeletions the number of objects that were missing in a list, although no watch had
   *     reported their deletion
   */
  public record InformerStatus(String name, int stored, int queued, boolean synced, long failures,
      long missedDeletions, List<ListenerView> listeners) {
    /**
     * @param oldest the age of the oldest pending change
     * @param synced whether the listener has handled the initial objects
     */
    public record ListenerView(String name, int pending, Duration oldest, boolean synced) {}
  }
}
