package dev.activator.cluster.informer;

import dev.activator.cluster.informer.Pending.Item;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A handler and what it has yet to be told.
 *
 * <p>
 * <b>Threads.</b> The processor offers on its loop, and never waits for the handler, which is called
 * on the listener's own. What passes between the two is under this object's lock; no handler ever
 * is.
 *
 * <p>
 * <b>Errors.</b> A call that throws, whatever it throws, skips that change for this listener alone;
 * the next call comes after a pause. A loop that takes no more tasks ends the listener.
 *
 * <p>
 * <b>Source.</b> {@code processorListener} in client-go's {@code tools/cache/shared_informer.go}.
 */
public final class Listener<T> {
  static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  /** A loop that others use, too, gets its turn after this many calls. */
  private static final int CALLS_PER_TURN = 64;
  private static final Logger log = LoggerFactory.getLogger(Listener.class);

  private enum Outcome {
    RETURNED, THREW
  }

  private final Handler<T> handler;
  private final HandlerOptions listening;
  private final Loop loop;
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  private final Pending<T> pending;
  private long offered;
  /** What was offered before this many is the initial state; unknown until all of it was. */
  private long initialEnd = Long.MAX_VALUE;
  /** Whether a turn runs, is queued, or waits out the pause. */
  private boolean awake;
  private boolean busy;
  private long busySinceNanos;
  private long delivered;
  private long failures;
  private boolean closed;

  Listener(Handler<T> handler, HandlerOptions listening) {
    this.handler = handler;
    this.listening = listening;
    this.loop = listening.loop();
    this.pending = listening.pending();
  }

  HandlerOptions listening() {
    return listening;
  }

  /** Done once all that was there when it came has been told to it; cancelled if that never is. */
  CompletableFuture<Void> synced() {
    return synced;
  }

  synchronized void offer(Change<T> change) {
    if (!closed) {
      pending.add(new Item<>(change, offered++, loop.nanoTime()));
      wake();
    }
  }

  /** All that was offered up to now is the initial state. */
  synchronized void initialOffered() {
    if (!closed) {
      initialEnd = offered;
      wake();
    }
  }

  /** No call starts after this; one may be in progress. What waits is forgotten. */
  void close() {
    synchronized (this) {
      closed = true;
      pending.clear();
    }
    synced.cancel(false);
  }

  synchronized ListenerView view() {
    long now = loop.nanoTime();
    var oldest = pending.oldest();
    return new ListenerView(listening.name(), pending.size(),
        oldest == null ? Duration.ZERO : Duration.ofNanos(now - oldest.sinceNanos()),
        busy ? Duration.ofNanos(now - busySinceNanos) : Duration.ZERO, delivered, failures,
        synced.isDone() && !synced.isCancelled());
  }

  private void wake() {
    if (awake) {
      return;
    }
    awake = true;
    queueTurn(Duration.ZERO);
  }

  private void queueTurn(Duration pause) {
    try {
      if (pause.isZero()) {
        loop.execute(this::turn);
      } else {
        loop.schedule(pause, this::turn);
      }
    } catch (RejectedExecutionException ended) {
      log.warn("Listener {} is told no more: its loop has ended", listening.name());
      close();
    }
  }

  private void turn() {
    for (int calls = 0; calls < CALLS_PER_TURN; calls++) {
      var next = take();
      if (next == null) {
        // What was marked initial between the last call and the end of the turn.
        syncedIfDone();
        return;
      }
      var outcome = call(next.what());
      finished(outcome);
      syncedIfDone();
      if (outcome == Outcome.THREW) {
        queueTurn(PAUSE_AFTER_FAILURE);
        return;
      }
    }
    queueTurn(Duration.ZERO);
  }

  private synchronized @Nullable Change<T> take() {
    var item = pending.poll();
    if (item == null) {
      awake = false;
      return null;
    }
    busy = true;
    busySinceNanos = loop.nanoTime();
    return item.change();
  }

  private Outcome call(Notification<T> notification) {
    try {
      handler.on(notification);
      return Outcome.RETURNED;
    } catch (Throwable failure) {
      log.error("Listener {} failed on a change of {}, which is skipped", listening.name(),
          notification.key(), failure);
      return Outcome.THREW;
    }
  }

  private synchronized void finished(Outcome outcome) {
    busy = false;
    switch (outcome) {
      case RETURNED -> delivered++;
      case THREW -> failures++;
    }
  }

  private void syncedIfDone() {
    if (!synced.isDone() && initialDone()) {
      synced.complete(null);
    }
  }

  private synchronized boolean initialDone() {
    var oldest = pending.oldest();
    return !closed && initialEnd != Long.MAX_VALUE
        && (oldest == null || oldest.order() >= initialEnd);
  }
}
