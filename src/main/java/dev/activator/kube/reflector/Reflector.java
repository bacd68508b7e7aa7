package dev.activator.kube.reflector;

import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.kube.informer.ReflectorStore;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.kube.policy.RelistPauses;
import dev.activator.loop.policy.Backoff;
import dev.activator.loop.Loop;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Lists and watches the objects of one query, and passes them to a store. It resumes a watch that
 * ended, and lists again if the watch cannot be resumed. It retries until it is closed.
 *
 * <p><b>Threads.</b> Any thread may call. The state belongs to the loop, on which the sink is
 * called.
 *
 * <p><b>Source.</b> client-go's {@code Reflector}. In addition, the store is periodically compared
 * with a fresh list.
 */
final class Reflector<T> implements AutoCloseable {
  /**
   * The minimum time of a watch. If it ends sooner, and without an event, the objects are listed
   * again.
   */
  private static final Duration MIN_WATCH_TIME = Duration.ofSeconds(1);
  private static final Duration HEALTHY_WATCH = Duration.ofMinutes(2);
  private static final Duration BETWEEN_LISTS = Duration.ofSeconds(1);

  private final ListerWatcher<T> source;
  private final ReflectorStore<T> sink;
  private final Loop loop;
  private final ApiErrorText errors;
  private final ReflectorStats stats;
  private final WatchMonitor watchMonitor;
  private final Backoff afterFailedLists;
  private final Backoff afterBrokenWatches;
  private final Backoff betweenWatches;
  private final RandomGenerator random;
  private String resourceVersion = "";
  private int frequentLists;
  /**
   * Whether the server was unavailable for a watch since the last watch whose version had expired.
   */
  private boolean wasUnavailable;
  /**
   * The time since which no watch has delivered an object or lasted for {@link #MIN_WATCH_TIME}.
   */
  private long outageNanos;
  /** The end of the server's last Retry-After. */
  private long serverDueNanos;
  /** The current list or watch; null before the first one, during a pause, and after the end. */
  private @Nullable Attempt current;
  private Loop.@Nullable Timer pause;
  private boolean closed;

  /**
   * @param resource the plural, such as {@code endpoints}
   * @param queried the query as arguments of kubectl, such as {@code endpoints -A}
   * @param stored returns the stored resourceVersion of each key; called on the loop
   */
  Reflector(String resource, String queried, ListerWatcher<T> source, ReflectorStore<T> sink,
      Supplier<Map<String, String>> stored, ReflectorContext context) {
    this.source = source;
    this.sink = sink;
    this.loop = context.loop();
    this.errors = context.errors();
    this.stats = new ReflectorStats(resource, queried);
    this.afterFailedLists = RelistPauses.ofLists(context.random());
    this.afterBrokenWatches = RelistPauses.ofLists(context.random());
    this.betweenWatches = RelistPauses.ofWatches(context.random());
    this.random = context.random();
    this.watchMonitor = new WatchMonitor(context, stats, source::list, stored, this::restart);
  }

  void start() {
    loop.execute(() -> {
      if (!closed) {
        outageNanos = loop.nanoTime();
        serverDueNanos = outageNanos;
        watchMonitor.start();
        list();
      }
    });
  }

  void onWatchChange(Consumer<Boolean> listener) {
    watchMonitor.onWatchChange(listener);
  }

  /** The current error, in one line; null if there is none. */
  @Nullable String error() {
    return view().health().error();
  }

  ReflectorStatus view() {
    return stats.view();
  }

  /** Ends the list or watch. The sink is not called afterwards. Idempotent. */
  @Override
  public void close() {
    loop.execute(() -> {
      closed = true;
      watchMonitor.stop();
      endCurrent();
    });
  }

  private void list() {
    var attempt = new Attempt();
    begin(attempt);
    watchMonitor.listing();
    // While pages arrive, a list that takes minutes is not restarted.
    var pages = source.list(() -> attempt.onLoop(watchMonitor::restarted));
    attempt.cancel = () -> pages.cancel(false);
    pages.whenComplete((all, failure) -> attempt.onLoop(() -> {
      if (failure == null) {
        listed(all);
      } else {
        stats.failed(errors.about("list", stats.queried(), failure));
        pause(afterFailedLists.next(retryAfter(failure)), this::list);
      }
    }));
  }

  private void listed(Page<T> all) {
    afterFailedLists.reset();
    resourceVersion = all.resourceVersion();
    sink.replace(all.items());
    stats.listed(resourceVersion, loop.nanoTime());
    watchMonitor.listed();
    watch();
  }

  private void watch() {
    var watching = new WatchAttempt();
    begin(watching);
    watching.cancel = source.watch(resourceVersion, watching)::close;
  }

  private void begin(Attempt next) {
    endCurrent();
    current = next;
  }

  private void endCurrent() {
    var last = current;
    current = null;
    if (last != null) {
      last.abandon();
    }
    if (pause != null) {
      pause.cancel();
      pause = null;
    }
    watchMonitor.closed();
  }

  private void restart() {
    if (serverDueNanos - loop.nanoTime() > 0) {
      return;
    }
    stats.restarted();
    watchMonitor.restarted();
    list();
  }

  private void pause(Duration length, Runnable next) {
    endCurrent();
    pause = loop.schedule(length, next);
  }

  /**
   * Lists again. Two lists in a row are normal if a watch began too late. Further ones are delayed.
   */
  private void listAgain() {
    boolean soon = since(view().lastListNanos()).compareTo(BETWEEN_LISTS) < 0;
    frequentLists = soon ? frequentLists + 1 : 0;
    if (frequentLists > 1) {
      stats.listDelayed();
      stats.restarted();
      watchMonitor.restarted();
      pause(RelistPauses.ofFrequentLists(since(outageNanos), random), this::list);
    } else {
      pause(betweenWatches.next(), this::list);
    }
  }

  private void ended(WatchAttempt watching, @Nullable Throwable failure) {
    if (watching.open) {
      stats.watchEnded();
    }
    boolean brief = since(watching.openedNanos).compareTo(MIN_WATCH_TIME) < 0;
    if (watching.open && since(watching.openedNanos).compareTo(HEALTHY_WATCH) >= 0) {
      afterBrokenWatches.reset();
    }
    if (watching.receivedObject || (watching.open && !brief)) {
      betweenWatches.reset();
      outageNanos = loop.nanoTime();
    }
    switch (failure) {
      case null -> {
        if (brief && !watching.receivedAny) {
          listAgain();
        } else {
          pause(brief ? betweenWatches.next() : Duration.ZERO, this::watch);
        }
      }
      case KubernetesApiException answer when answer.isExpired() -> {
        if (wasUnavailable) {
          // The server answers again, so the long pauses of the outage end.
          wasUnavailable = false;
          betweenWatches.reset();
        }
        listAgain();
      }
      case KubernetesApiException answer when !answer.isTransient() -> {
        stats.failed(errors.about("watch", stats.queried(), answer));
        listAgain();
      }
      case KubernetesApiException answer -> watchAgain(answer);
      case IOException lost -> watchAgain(lost);
      case TimeoutException late -> watchAgain(late);
      default -> {
        stats.broken(failure.toString());
        stats.restarted();
        watchMonitor.restarted();
        pause(afterBrokenWatches.next(), this::list);
      }
    }
  }

  private void watchAgain(Throwable failure) {
    wasUnavailable = true;
    stats.watchFailed(errors.about("watch", stats.queried(), failure));
    pause(betweenWatches.next(retryAfter(failure)), this::watch);
  }

  private Duration retryAfter(Throwable failure) {
    var cause = failure instanceof CompletionException ? failure.getCause() : failure;
    var requested = cause instanceof KubernetesApiException answer
        ? Backoff.limited(answer.retryAfter())
        : Duration.ZERO;
    serverDueNanos = loop.nanoTime() + requested.toNanos();
    return requested;
  }

  private Duration since(long nanos) {
    return Duration.ofNanos(loop.nanoTime() - nanos);
  }

  /** A list or a watch. Its answers are ignored when the next attempt has begun. */
  private class Attempt {
    private volatile boolean abandoned;
    Runnable cancel = () -> {
    };

    /** Runs a step on the loop. Nothing is queued after the end, because the loop may be closed. */
    void onLoop(Runnable step) {
      if (!abandoned) {
        loop.execute(() -> {
          if (current == this) {
            step.run();
          }
        });
      }
    }

    void abandon() {
      abandoned = true;
      cancel.run();
    }
  }

  private final class WatchAttempt extends Attempt implements ListerWatcher.Watcher<T> {
    private boolean open;
    private boolean receivedAny;
    private boolean receivedObject;
    private long openedNanos = loop.nanoTime();

    @Override
    public void opened() {
      onLoop(() -> {
        open = true;
        openedNanos = loop.nanoTime();
        stats.opened();
        watchMonitor.opened();
      });
    }

    @Override
    public void events(List<WatchEvent<T>> events, Runnable handled) {
      onLoop(() -> {
        try {
          for (var event : events) {
            if (current == this) {
              on(event);
            }
          }
        } finally {
          handled.run();
        }
      });
    }

    @Override
    public void ended(@Nullable Throwable failure) {
      onLoop(() -> Reflector.this.ended(this,
          failure instanceof CompletionException ? failure.getCause() : failure));
    }

    private void on(WatchEvent<T> event) {
      switch (event) {
        case WatchEvent.Put<T>(var now) -> {
          reached(now);
          sink.put(now);
        }
        case WatchEvent.Removed<T>(var last) -> {
          reached(last);
          sink.remove(last);
        }
        case WatchEvent.Bookmark<T>(var version) -> {
          receivedAny = true;
          resourceVersion = version;
          watchMonitor.alive();
          stats.reached(version);
        }
        case WatchEvent.Failed<T>(var code, var retryAfter) ->
          Reflector.this.ended(this, new KubernetesApiException(code, retryAfter));
      }
    }

    private void reached(VersionedObject<T> object) {
      receivedAny = true;
      receivedObject = true;
      resourceVersion = object.resourceVersion();
      watchMonitor.delivered(object.key());
      stats.delivered(resourceVersion, loop.nanoTime());
    }
  }
}
