package dev.activator.cluster;

import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One kind of object: an informer in, what the objects mean out. Only a change of the meaning is
 * told; an object that becomes malformed keeps the meaning it had.
 *
 * <p>
 * <b>Threads.</b> The informer calls in from one thread at a time, and the listener is called there.
 *
 * <p>
 * <b>Errors.</b> What fails is tried again until {@link #close}: a list, a watch, the informer as a
 * whole. A listener that throws is logged with the name of the object.
 *
 * @param <F> what an object of the kind means
 */
final class Feed<F, I extends Item<F>> implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Feed.class);

  /** Told of each change, with null for "nothing": an object that came or went. */
  @FunctionalInterface
  interface Listener<F> {
    void changed(@Nullable F before, @Nullable F now);
  }

  private final String plural;
  private final Informable<I> source;
  private final Complaints complaints;
  private final Listener<F> listener;
  private final Map<String, F> known = new ConcurrentHashMap<>();
  private final CompletableFuture<Void> listed = new CompletableFuture<>();
  private volatile @Nullable SharedIndexInformer<I> informer;
  private volatile @Nullable String complaint;
  private volatile boolean closed;

  /**
   * @param plural the kind, as in "list endpoints"
   */
  Feed(String plural, Informable<I> source, Complaints complaints, Listener<F> listener) {
    this.plural = plural;
    this.source = source;
    this.complaints = complaints;
    this.listener = listener;
  }

  void start() {
    start(Stream.empty());
  }

  /** Done when all objects there were at the start have been told to the listener. */
  CompletableFuture<Void> listed() {
    return listed;
  }

  /** What is wrong now, in a line; null if all is well. */
  @Nullable String complaint() {
    return complaint;
  }

  @Override
  public void close() {
    closed = true;
    var running = informer;
    if (running != null) {
      running.stop();
    }
  }

  /** With what the last informer knew, this one tells only what is different. */
  private void start(Stream<I> initial) {
    var next = source.runnableInformer(0).removeNamespaceIndex().initialState(initial)
        .exceptionHandler((started, failure) -> retry(failure));
    next.addEventHandler(new Handler());
    informer = next;
    next.start();
    next.stopped().whenComplete((done, failure) -> {
      if (!closed) {
        log.error("The watch of {} ended; it is started again", plural, failure);
        var last = List.copyOf(next.getStore().list());
        CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> restart(last));
      }
    });
    if (closed) {
      next.stop();
    }
  }

  private void restart(List<I> last) {
    if (!closed) {
      start(last.stream());
    }
  }

  /** Always: without an informer the pods of tomorrow are never seen. */
  private boolean retry(Throwable failure) {
    var now = complaints.about("list and watch", plural, failure);
    if (!closed && !now.equals(complaint)) {
      log.warn("{}; trying again", now);
    }
    complaint = now;
    return true;
  }

  private void seen(I item) {
    item.remarks().forEach(
        remark -> log.warn("Left out of {} {}: {}", item.getKind(), item.key(), remark));
    if (item.problem() != null) {
      log.warn("Skipped {} {}: {}", item.getKind(), item.key(), item.problem());
      return;
    }
    change(item.key(), item.fact());
  }

  private void change(String key, @Nullable F now) {
    var before = now == null ? known.remove(key) : known.put(key, now);
    if (closed || Objects.equals(before, now)) {
      return;
    }
    try {
      listener.changed(before, now);
    } catch (RuntimeException bug) {
      log.error("The news of {} {} were not taken", plural, key, bug);
    }
  }

  /** What the informer calls. */
  private final class Handler implements ResourceEventHandler<I> {
    @Override
    public void onAdd(I item) {
      seen(item);
    }

    @Override
    public void onUpdate(I before, I now) {
      seen(now);
    }

    @Override
    public void onDelete(I item, boolean finalStateUnknown) {
      change(item.key(), null);
    }

    @Override
    public void onList(String resourceVersion, boolean remainedEmpty) {
      if (complaint != null) {
        log.info("The list of {} is there again", plural);
      }
      complaint = null;
      listed.complete(null);
    }
  }
}
