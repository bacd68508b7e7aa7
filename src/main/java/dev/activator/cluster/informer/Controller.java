package dev.activator.cluster.informer;

import dev.activator.cluster.informer.Delta.Deleted;
import dev.activator.cluster.informer.Delta.Replaced;
import dev.activator.cluster.informer.Delta.Sync;
import dev.activator.cluster.informer.DeltaQueue.Popped;
import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Moment;
import dev.activator.cluster.informer.Notification.Updated;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drains a queue of deltas into a store, and tells listeners what that changed there. What is stored
 * decides what a delta means, whatever the API called it.
 *
 * <p>
 * <b>Threads.</b> All of it on one loop, a bounded number of keys a turn; the queue wakes it. It
 * stores, then tells, so a handler finds what it is told of or something newer.
 *
 * <p>
 * <b>Errors.</b> It never ends. A delta that cannot be handled is logged and counted, and the next
 * comes; one that there was no memory to store is tried again, unless something newer is known.
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
  private final IndexedStore<T> store;
  private final SharedProcessor<T> processor;
  private final DeltaQueue<T> queue;
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  private Consumer<Change<T>> onStored = _ -> {
  };
  private int syncsPending;
  private boolean paused;
  private volatile boolean started;
  private volatile boolean closed;
  private volatile long failures;

  Controller(String name, Loop loop, IndexedStore<T> store, SharedProcessor<T> processor) {
    this.name = name;
    this.loop = loop;
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

  /** Calls this with each change between storing and telling it. Only before the start. */
  void onStored(Consumer<Change<T>> listener) {
    onStored = listener;
  }

  /** What was put before waits for this. */
  void start() {
    started = true;
    wake();
    var check = processor.start();
    if (!check.isZero()) {
      loop.schedule(check, () -> resync(check));
    }
  }

  /** What waits in the queue is forgotten. */
  void close() {
    closed = true;
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
    switch (delta) {
      case Deleted<T> deleted -> delete(deleted);
      case Sync<T>(var same) -> {
        syncsPending--;
        processor.resynced(new Change<>(same, new Updated<>(same, same)));
      }
      case Replaced<T>(var now) -> put(now, moment);
      case Delta.Added<T>(var now) -> put(now, Moment.LATER);
      case Delta.Updated<T>(var now) -> put(now, Moment.LATER);
    }
  }

  private void put(VersionedObject<T> now, Moment moment) {
    var before = store.find(now.key());
    if (before == null) {
      var change = new Change<T>(null, new Added<>(now, moment));
      store.put(now);
      tell(change);
    } else if (now.isSameAs(before)) {
      processor.unchanged(new Change<>(before, new Updated<>(before, before)));
    } else {
      var change = new Change<>(before, new Updated<>(before, now));
      store.put(now);
      tell(change);
    }
  }

  private void delete(Deleted<T> deleted) {
    var before = store.remove(deleted.sighting().key());
    if (before != null) {
      tell(new Change<>(before,
          new Notification.Deleted<>(deleted.sighting(), deleted.finalState())));
    }
  }

  /** Nothing that fails here is tried again: it is stored, and would pass for known. */
  private void tell(Change<T> stored) {
    try {
      onStored.accept(stored);
      processor.distribute(stored);
    } catch (RuntimeException | Error failure) {
      failed("did not tell everybody of a change of " + stored.key(), failure);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written on the loop alone
  private void failed(String what, Throwable failure) {
    failures++;
    log.error("The informer of {} {}", name, what, failure);
  }

  private void resync(Duration check) {
    if (closed) {
      return;
    }
    loop.schedule(check, () -> resync(check));
    if (syncsPending == 0) {
      processor.noneDue();
    }
    if (processor.markDue()) {
      syncsPending += queue.resync();
    }
  }
}
