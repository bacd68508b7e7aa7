package dev.activator.cluster.informer;

import dev.activator.cluster.informer.InformerStatus.ListenerView;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A handler and its pending changes, at most one for each key.
 *
 * <p><b>Threads.</b> The processor never waits for it. The lock is never held during a call of the
 * handler.
 *
 * <p><b>Errors.</b> A loop that rejects tasks ends the listener.
 *
 * <p><b>Source.</b> client-go's {@code processorListener}.
 */
final class ProcessorListener<T> {
  static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  /** Lets others on the loop have a turn. */
  private static final int CALLS_PER_TURN = 64;
  private static final Logger log = LoggerFactory.getLogger(ProcessorListener.class);

  private record Pending<T>(InformerNotification<T> change, long order, long sinceNanos) {
    @Nullable Pending<T> then(Pending<T> next) {
      var both = change.then(next.change);
      return both == null ? null : new Pending<>(both, order, sinceNanos);
    }
  }

  private final InformerHandler<T> handler;
  private final InformerHandlerOptions options;
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  /** The pending changes by key, the oldest first. */
  private final LinkedHashMap<String, Pending<T>> pending = new LinkedHashMap<>();
  private long offered;
  /** The first change after the initial state; unknown until that was offered. */
  private long initialEnd = Long.MAX_VALUE;
  /** Whether a turn runs, is queued, or waits out the pause. */
  private boolean awake;
  private boolean closed;

  ProcessorListener(InformerHandler<T> handler, InformerHandlerOptions options) {
    this.handler = handler;
    this.options = options;
  }

  InformerHandlerOptions options() {
    return options;
  }

  CompletableFuture<Void> synced() {
    return synced;
  }

  synchronized void offer(InformerNotification<T> change) {
    if (!closed) {
      pending.merge(change.key(), new Pending<>(change, offered++, options.loop().nanoTime()),
          Pending::then);
      wake();
    }
  }

  /** Everything offered so far is the initial state. */
  synchronized void initialOffered() {
    if (!closed) {
      initialEnd = offered;
      wake();
    }
  }

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
    } catch (RejectedExecutionException e) {
      log.warn("Handler {} is called no more: its loop has ended", options.name());
      close();
    }
  }

  private void turn() {
    for (int calls = 0; calls < CALLS_PER_TURN; calls++) {
      var next = take();
      if (next == null) {
        // The initial state may have become complete since the last call.
        syncedIfDone();
        return;
      }
      boolean returned = call(next);
      syncedIfDone();
      if (!returned) {
        queueTurn(PAUSE_AFTER_FAILURE);
        return;
      }
    }
    queueTurn(Duration.ZERO);
  }

  private synchronized @Nullable InformerNotification<T> take() {
    var first = pending.pollFirstEntry();
    if (first == null) {
      awake = false;
      return null;
    }
    return first.getValue().change();
  }

  private boolean call(InformerNotification<T> notification) {
    try {
      handler.on(notification);
      return true;
    } catch (RuntimeException | Error e) {
      // Also errors: one handler's bug must not stop the others of its loop.
      log.error("Handler {} failed on a change of {}, which is skipped", options.name(),
          notification.key(), e);
      return false;
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
