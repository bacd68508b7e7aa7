package dev.activator.kube.informer;

import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import dev.activator.kube.informer.InformerNotification.Added;
import dev.activator.kube.informer.InformerNotification.Updated;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Distributes the changes of one informer to its handlers, and repeats objects for resyncs.
 *
 * <p><b>Threads.</b> Any thread may add and remove. Between two tasks of the informer's loop, the
 * store equals the distributed changes. So a new listener gets the objects in the store, and then
 * each change.
 *
 * <p><b>Source.</b> client-go's {@code sharedProcessor}, which uses a lock.
 */
final class SharedProcessor<T> {
  private static final Logger log = LoggerFactory.getLogger(SharedProcessor.class);

  private final String name;
  private final Loop loop;
  private final IndexedStore<T> distributed;
  /** Guards the next two fields. */
  private final Object membership = new Object();
  private final Set<ProcessorListener<T>> listeners = new LinkedHashSet<>();
  private boolean closed;
  /** This field and the next are used only on the loop. */
  private final List<ProcessorListener<T>> members = new ArrayList<>();
  private boolean synced;

  /** @param distributed the informer's store */
  SharedProcessor(String name, Loop loop, IndexedStore<T> distributed) {
    this.name = name;
    this.loop = loop;
    this.distributed = distributed;
  }

  InformerHandlerRegistration add(InformerHandler<T> handler, InformerHandlerOptions options) {
    var listener = new ProcessorListener<>(handler, options, this::remove);
    synchronized (membership) {
      if (closed) {
        throw new IllegalStateException(
            "Handler " + options.name() + " cannot be added: " + name + " is closed");
      }
      listeners.add(listener);
    }
    loop.execute(() -> join(listener));
    return listener;
  }

  void distribute(InformerNotification<T> change) {
    members.forEach(member -> member.offer(change));
  }

  /** Whether a handler gets objects again. */
  boolean hasResynced() {
    return members.stream().anyMatch(member -> member.options.resynced());
  }

  void resynced(VersionedObject<T> same) {
    members.stream().filter(member -> member.options.resynced())
        .forEach(member -> member.offer(new Updated<>(same, same)));
  }

  void initialDistributed() {
    synced = true;
    members.forEach(ProcessorListener::initialOffered);
  }

  void close() {
    synchronized (membership) {
      closed = true;
      listeners.forEach(ProcessorListener::end);
      listeners.clear();
    }
  }

  List<ListenerView> views() {
    synchronized (membership) {
      return listeners.stream().map(ProcessorListener::view).toList();
    }
  }

  private void join(ProcessorListener<T> listener) {
    members.add(listener);
    distributed.all().forEach(there -> listener.offer(new Added<>(there)));
    if (synced) {
      listener.initialOffered();
    }
  }

  private void remove(ProcessorListener<T> listener) {
    listener.end();
    synchronized (membership) {
      listeners.remove(listener);
      if (closed) {
        return;
      }
    }
    loop.execute(() -> members.remove(listener));
  }

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
  static final class ProcessorListener<T> implements InformerHandlerRegistration {
    static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
    /** The limit of calls in one turn, so that other tasks of the loop can run. */
    private static final int CALLS_PER_TURN = 64;

    private record Pending<T>(InformerNotification<T> change, long order, long sinceNanos) {
      @Nullable Pending<T> then(Pending<T> next) {
        var both = change.then(next.change);
        return both == null ? null : new Pending<>(both, order, sinceNanos);
      }
    }

    private final InformerHandler<T> handler;
    private final InformerHandlerOptions options;
    private final Consumer<ProcessorListener<T>> remove;
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

    private ProcessorListener(InformerHandler<T> handler, InformerHandlerOptions options,
        Consumer<ProcessorListener<T>> remove) {
      this.handler = handler;
      this.options = options;
      this.remove = remove;
    }

    @Override
    public boolean hasSynced() {
      return synced.isDone() && !synced.isCancelled();
    }

    @Override
    public CompletableFuture<Void> synced() {
      return synced.copy();
    }

    @Override
    public void close() {
      remove.accept(this);
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

    private void end() {
      synchronized (this) {
        closed = true;
        pending.clear();
      }
      synced.cancel(false);
    }

    @Override
    public synchronized ListenerView view() {
      long now = options.loop().nanoTime();
      var oldest = pending.firstEntry();
      return new ListenerView(options.name(), pending.size(),
          oldest == null ? Duration.ZERO : Duration.ofNanos(now - oldest.getValue().sinceNanos()),
          hasSynced());
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
        end();
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
}
