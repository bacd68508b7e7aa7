package dev.activator.cluster.informer;

import dev.activator.cluster.informer.InformerView.ListenerView;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A handler and its pending changes, at most one a key.
 *
 * <p>
 * <b>Threads.</b> The processor offers on its loop and never waits for the handler, which is called
 * on the listener's own loop. The state is guarded by this object's lock, which is never held during
 * a call of the handler.
 *
 * <p>
 * <b>Errors.</b> A call that throws skips that change for this listener alone; the next call comes
 * after a pause. A loop that takes no more tasks ends the listener.
 *
 * <p>
 * <b>Source.</b> {@code processorListener} in client-go's {@code tools/cache/shared_informer.go}.
 */
final class Listener<T> {
  static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  /** Others that use the loop get their turn after this many calls. */
  private static final int CALLS_PER_TURN = 64;
  private static final Logger log = LoggerFactory.getLogger(Listener.class);

  /**
   * @param order of arrival
   * @param sinceNanos on the listener's loop
   */
  private record Pending<T>(Notification<T> change, long order, long sinceNanos) {
    @Nullable Pending<T> then(Pending<T> next) {
      var both = change.then(next.change);
      return both == null ? null : new Pending<>(both, order, sinceNanos);
    }
  }

  private final Handler<T> handler;
  private final HandlerOptions options;
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  /** By key, oldest first. */
  private final LinkedHashMap<String, Pending<T>> pending = new LinkedHashMap<>();
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

  Listener(Handler<T> handler, HandlerOptions options) {
    this.handler = handler;
    this.options = options;
  }

  HandlerOptions options() {
    return options;
  }

  /** Done once the handler was called for everything that was there when it came. */
  CompletableFuture<Void> synced() {
    return synced;
  }

  synchronized void offer(Notification<T> change) {
    if (!closed) {
      pending.merge(change.key(), new Pending<>(change, offered++, options.loop().nanoTime()),
          Pending::then);
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

  /** No call starts after this; one may be in progress. Pending changes are dropped. */
  void close() {
    synchronized (this) {
      closed = true;
      pending.clear();
    }
    synced.cancel(false);
  }

  synchronized ListenerView view() {
    long now = options.loop().nanoTime();
    var oldest = pending.firstEntry();
    return new ListenerView(options.name(), pending.size(),
        oldest == null ? Duration.ZERO : Duration.ofNanos(now - oldest.getValue().sinceNanos()),
        busy ? Duration.ofNanos(now - busySinceNanos) : Duration.ZERO, delivered, failures,
        synced.isDone() && !synced.isCancelled());
  }

  private void wake() {
    if (!awake) {
      awake = true;
      queueTurn(Duration.ZERO);
    }
  }

  private void queueTurn(Duration pause) {
    try {
      if (pause.isZero()) {
        options.loop().execute(this::turn);
      } else {
        options.loop().schedule(pause, this::turn);
      }
    } catch (RejectedExecutionException ended) {
      log.warn("Handler {} is called no more: its loop has ended", options.name());
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
      boolean returned = call(next);
      finished(returned);
      syncedIfDone();
      if (!returned) {
        queueTurn(PAUSE_AFTER_FAILURE);
        return;
      }
    }
    queueTurn(Duration.ZERO);
  }

  private synchronized @Nullable Notification<T> take() {
    var first = pending.pollFirstEntry();
    if (first == null) {
      awake = false;
      return null;
    }
    busy = true;
    busySinceNanos = options.loop().nanoTime();
    return first.getValue().change();
  }

  private boolean call(Notification<T> notification) {
    try {
      handler.on(notification);
      return true;
    } catch (RuntimeException | Error failure) {
      // An error, too: one handler's bug must not keep the others of its loop from being called.
      log.error("Handler {} failed on a change of {}, which is skipped", options.name(),
          notification.key(), failure);
      return false;
    }
  }

  private synchronized void finished(boolean returned) {
    busy = false;
    if (returned) {
      delivered++;
    } else {
      failures++;
    }
  }

  private void syncedIfDone() {
    if (!synced.isDone() && initialDone()) {
      synced.complete(null);
    }
  }

  private synchronized boolean initialDone() {
    var oldest = pending.firstEntry();
    return !closed && initialEnd != Long.MAX_VALUE
        && (oldest == null || oldest.getValue().order() >= initialEnd);
  }
}
