package dev.activator.kube.informer;

import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A handler with its queue of pending changes. There is at most one change for each key.
 *
 * <p><b>Threads.</b> The processor never waits for the handler. The lock is not held while the
 * handler is called.
 *
 * <p><b>Errors.</b> The listener closes itself if its loop rejects tasks.
 *
 * <p><b>Source.</b> client-go's {@code processorListener}.
 */
final class ProcessorListener<T> {
  static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  /** The limit of calls in one turn, so that other tasks of the loop can run. */
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
  /**
   * The number of the first change after the initial state; {@code MAX_VALUE} until the initial
   * state is complete.
   */
  private long initialEnd = Long.MAX_VALUE;
  /** Whether a turn runs, is queued, or is scheduled after a failure. */
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

  /** Marks the changes that were offered so far as the initial state. */
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
      log.warn("Handler {} is not called any more: its loop has ended", options.name());
      close();
    }
  }

  private void turn() {
    for (int calls = 0; calls < CALLS_PER_TURN; calls++) {
      var next = take();
      if (next == null) {
        // The initial state may have been completed since the last call.
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
      // Errors are caught, too: a bug of one handler must not stop the other handlers of its loop.
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
