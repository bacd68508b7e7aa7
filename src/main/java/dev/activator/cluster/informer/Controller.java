package dev.activator.cluster.informer;

import dev.activator.cluster.informer.DeltaQueue.Delta;
import dev.activator.cluster.informer.DeltaQueue.Popped;
import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Deleted;
import dev.activator.cluster.informer.Notification.FinalState;
import dev.activator.cluster.informer.Notification.Moment;
import dev.activator.cluster.informer.Notification.Updated;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drains a queue of deltas into a store, and distributes what changed there. The store decides what a
 * delta means, whatever the API called it.
 *
 * <p>
 * <b>Threads.</b> Works on one loop, a bounded number of keys a turn; the queue wakes it. It stores
 * before it tells, so a handler finds in the store what it is told of or something newer.
 *
 * <p>
 * <b>Errors.</b> It never ends. A delta that cannot be handled is logged, counted and skipped; one
 * that there was no memory to store is tried again, unless something newer is pending.
 *
 * <p>
 * <b>Source.</b> {@code processLoop} and {@code processDeltas} in client-go's
 * {@code tools/cache/controller.go}, and the resync timer of {@code reflector.go}.
 */
final class Controller<T> {
  static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  private static final int KEYS_PER_TURN = 256;
  private static final Logger log = LoggerFactory.getLogger(Controller.class);

  private final String name;
  private final Loop loop;
  private final Transform<T> transform;
  private final IndexedStore<T> store;
  private final SharedProcessor<T> processor;
  private final DeltaQueue<T> queue;
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  private int syncsPending;
  private boolean paused;
  private volatile Loop.@Nullable Timer nextResync;
  private volatile boolean started;
  private volatile boolean closed;
  private volatile long failures;

  Controller(String name, Loop loop, Transform<T> transform, IndexedStore<T> store,
      SharedProcessor<T> processor) {
    this.name = name;
    this.loop = loop;
    this.transform = transform;
    this.store = store;
    this.processor = processor;
    this.queue = new DeltaQueue<>(store, this::wake);
  }

  DeltaQueue<T> queue() {
    return queue;
  }

  /** Done once the first list has been stored and distributed; cancelled if it never is. */
  CompletableFuture<Void> synced() {
    return synced;
  }

  /** How many times something could not be handled. */
  long failures() {
    return failures;
  }

  /** Begins with what was put before. */
  void start() {
    started = true;
    wake();
    var check = processor.start();
    if (!check.isZero()) {
      scheduleResync(check);
    }
  }

  /** Pending deltas are dropped. */
  void close() {
    closed = true;
    var timer = nextResync;
    if (timer != null) {
      timer.cancel();
    }
    queue.close();
    synced.cancel(false);
  }

  private void wake() {
    if (started && !closed) {
      loop.execute(this::turn);
    }
  }

  private void turn() {
    for (int keys = 0; keys < KEYS_PER_TURN; keys++) {
      if (closed || paused) {
        return;
      }
      var popped = pop();
      if (!synced.isDone() && queue.hasSynced()) {
        processor.initialDistributed();
        synced.complete(null);
      }
      switch (popped) {
        case EMPTY, CLOSED -> {
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
    } catch (RuntimeException | Error failure) {
      failed("lost a change", failure);
      return Popped.PROCESSED;
    }
  }

  private List<Delta<T>> process(String key, List<Delta<T>> deltas, Moment moment) {
    for (int i = 0; i < deltas.size(); i++) {
      try {
        apply(deltas.get(i), moment);
      } catch (OutOfMemoryError exhausted) {
        failed("has no memory for a change of " + key + " and will try again", exhausted);
        return deltas.subList(i, deltas.size());
      } catch (RuntimeException | Error failure) {
        failed("could not store a change of " + key, failure);
      }
    }
    return List.of();
  }

  private void apply(Delta<T> delta, Moment moment) {
    switch (delta.type()) {
      case ADDED, UPDATED -> put(delta.object(), Moment.LATER);
      case REPLACED -> put(delta.object(), moment);
      case DELETED -> delete(delta.object(), FinalState.KNOWN);
      case LOST -> delete(delta.object(), FinalState.UNKNOWN);
      case SYNC -> {
        syncsPending--;
        processor.resynced(delta.object());
      }
    }
  }

  private void put(VersionedObject<T> seen, Moment moment) {
    var before = store.find(seen.key());
    if (before != null && seen.isSameAs(before)) {
      processor.unchanged(before);
      return;
    }
    var now = transform.apply(before, seen);
    store.put(now);
    tell(before == null ? new Added<>(now, moment) : new Updated<>(before, now));
  }

  private void delete(VersionedObject<T> last, FinalState state) {
    var before = store.remove(last.key());
    if (before != null) {
      tell(new Deleted<>(before, last, state));
    }
  }

  /** Not tried again if it fails: the change is stored, and would pass for known. */
  private void tell(Notification<T> stored) {
    try {
      processor.distribute(stored);
    } catch (RuntimeException | Error failure) {
      failed("did not tell every handler of a change of " + stored.key(), failure);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written on the loop alone
  private void failed(String what, Throwable failure) {
    failures++;
    log.error("The informer of {} {}", name, what, failure);
  }

  private void scheduleResync(Duration check) {
    nextResync = loop.schedule(check, () -> resync(check));
  }

  private void resync(Duration check) {
    if (closed) {
      return;
    }
    scheduleResync(check);
    if (syncsPending == 0) {
      processor.noneDue();
    }
    if (processor.markDue()) {
      syncsPending += queue.resync();
    }
  }
}
