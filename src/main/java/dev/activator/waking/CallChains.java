package dev.activator.waking;

import dev.activator.loop.Loop;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.Throttler;
import dev.activator.waking.SpeculativeStarts.Result;
import dev.activator.waking.policy.CallChainTable;
import dev.activator.waking.policy.CallChainTable.Prediction;
import dev.activator.waking.policy.CallChainTable.StartTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Learns which revisions call which others after a start from zero. When a caller starts again, it
 * starts the called revisions, too.
 *
 * <p>An episode of a revision begins with the first request that finds it at zero, or finds it
 * started ahead of its requests. It ends after twice the revision's usual start, plus ten seconds.
 * Calls by its pods in that time are hits; expected calls that do not come are misses. A start
 * ahead of requests does not begin an episode by itself.
 *
 * <p><b>Threads.</b> Confined to the loop of {@code starts}, except for the methods that say
 * otherwise.
 */
public final class CallChains {
  /** Whether revisions are started because of what was learned. */
  public enum Mode {
    OFF,
    /** Predictions are counted, but do not start revisions. */
    OBSERVE,
    ON
  }

  /** Why a revision was, or would have been, started ahead of its requests. */
  public enum Source {
    WAKE_WITH,
    /** A learned call, for which the revision was started. */
    LEARNED,
    /** A learned call that was only counted. */
    OBSERVED;

    /** The name in meters. */
    public String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** The maximum number of episodes at a time. Further ones are not followed. */
  private static final int MAX_EPISODES = 1_024;
  /** The maximum number of callees, and of traces, that are remembered for one episode. */
  private static final int MAX_CALLEES = 32;
  /** The assumed duration of a start until one has been measured. */
  private static final Duration UNKNOWN_START = Duration.ofSeconds(30);
  private static final Duration AT_ONCE = Duration.ofMillis(20);
  private static final double NANOS_A_SECOND = 1e9;
  private static final long NANOS_A_MILLI = 1_000_000;
  private static final double NINE_TENTHS = 0.9;

  private final Mode mode;
  private final SpeculativeStarts starts;
  private final Loop loop;
  private final Throttler throttler;
  private final Function<RevisionId, @Nullable PrivateEndpoints> pods;
  private final List<Consumer<Boolean>> onWatching = new CopyOnWriteArrayList<>();
  private final List<Consumer<RevisionId>> onStarted = new CopyOnWriteArrayList<>();
  private final PrewarmCounts counts;
  private final CallChainTable table = new CallChainTable();
  private final CallingRevisionLookup callerLookup = new CallingRevisionLookup();
  /** The revisions that have an episode, or were started ahead. <b>Threads.</b> Any may read it. */
  private final Map<RevisionId, Watch> watched = new ConcurrentHashMap<>();
  private int episodes;

  /** The calls and requests that are expected for one revision. */
  private static final class Watch {
    private volatile @Nullable Episode episode;
    private volatile @Nullable Expectation expectation;
  }

  private static final class Episode {
    private final long beganNanos;
    private final long dueNanos;
    /**
     * The known callees that were at zero when the episode began, or would have been without a
     * start ahead of their requests.
     */
    private final Set<RevisionId> cold = new HashSet<>();
    /** The callees that this episode has started. */
    private final Set<RevisionId> woken = new HashSet<>();
    /** <b>Threads.</b> Any may read it. */
    private final Set<RevisionId> called = ConcurrentHashMap.newKeySet();
    private final List<String> traces = new ArrayList<>();
    private final List<Loop.Timer> timers = new ArrayList<>();
    /** When the revision's first request got a permit. */
    private long servedNanos;
    private volatile boolean served;
    private volatile boolean hasAllTraces;

    private Episode(long beganNanos, long dueNanos) {
      this.beganNanos = beganNanos;
      this.dueNanos = dueNanos;
    }
  }

  /** A start ahead of requests, whose first request is expected. */
  private record Expectation(Source source, long nanos, Loop.Timer timeout) {}

  /** @param pods returns the pods that are currently listed for a revision */
  public CallChains(Mode mode, SpeculativeStarts starts, Throttler throttler,
      Function<RevisionId, @Nullable PrivateEndpoints> pods, PrewarmCounts counts) {
    this.mode = mode;
    this.starts = starts;
    this.loop = starts.loop();
    this.throttler = throttler;
    this.pods = pods;
    this.counts = counts;
  }

  /**
   * Adds a listener that is called with true when requests must be {@link #reached reported} from
   * now on, and with false when they need not be. Add it before the first request.
   */
  public void onWatching(Consumer<Boolean> listener) {
    onWatching.add(listener);
  }

  /**
   * Adds a listener that is called on the loop of {@code starts} with each revision that this
   * object has started.
   */
  public void onStarted(Consumer<RevisionId> listener) {
    onStarted.add(listener);
  }

  public CallingRevisionLookup callerLookup() {
    return callerLookup;
  }

  /** Call when the first request is queued for a start of this revision. <b>Threads.</b> Any. */
  public void started(RevisionId id) {
    if (mode != Mode.OFF) {
      loop.execute(() -> {
        if (!starts.isUnderWay(id)) {
          begin(id, loop.nanoTime());
        }
      });
    }
  }

  /**
   * Call when a revision was started ahead of its requests, because another one names it.
   * <b>Threads.</b> Any.
   */
  public void startedByName(RevisionId id) {
    if (mode != Mode.OFF) {
      loop.execute(
          () -> expect(id, Source.WAKE_WITH, loop.nanoTime() + starts.timeout(id).toNanos()));
    }
  }

  /** <b>Threads.</b> Any. */
  public boolean isWatched(RevisionId id) {
    return watched.containsKey(id);
  }

  /** Call when the pods of a revision have changed. <b>Threads.</b> Any. */
  public void listed(PrivateEndpoints now) {
    if (watched.containsKey(now.revision())) {
      loop.execute(() -> {
        var watch = watched.get(now.revision());
        if (watch != null && watch.episode != null) {
          callerLookup.put(now.revision(), all(now));
        }
      });
    }
  }

  private static PodsByReadiness all(PrivateEndpoints pods) {
    return new PodsByReadiness(pods.http1().all().plus(pods.h2c().all()), pods.http1().notReady());
  }

  /**
   * Call when a request of a revision got a permit; the first one of an episode counts.
   * <b>Threads.</b> Any.
   */
  public void served(RevisionId id) {
    var known = episode(id);
    // This check ends the work for most requests.
    if (known == null || !known.served) {
      loop.execute(() -> {
        var episode = episode(id);
        if (episode != null && !episode.served) {
          episode.servedNanos = loop.nanoTime();
          episode.served = true;
        }
      });
    }
  }

  /** Call when a request with this trace is sent to a revision. <b>Threads.</b> Any. */
  public void traced(RevisionId id, String trace) {
    var known = episode(id);
    if (known != null && known.hasAllTraces) {
      return;
    }
    loop.execute(() -> {
      var episode = episode(id);
      if (episode != null && !episode.hasAllTraces && callerLookup.traced(trace, id)) {
        episode.traces.add(trace);
        episode.hasAllTraces = episode.traces.size() == MAX_CALLEES;
      }
    });
  }

  /**
   * Call when a request came to a revision that is at zero or watched. <b>Threads.</b> Any.
   *
   * @param callers the revisions whose pods may have sent it
   * @param waits whether it waits for a permit
   */
  public void reached(RevisionId id, Set<RevisionId> callers, boolean waits) {
    if (!isExpected(id) && callers.stream().noneMatch(caller -> isNews(caller, id))) {
      // Keeps the cost low if many requests come in the seconds after a start.
      return;
    }
    loop.execute(() -> {
      callers.forEach(caller -> called(caller, id));
      var watch = watched.get(id);
      if (watch != null && watch.expectation != null) {
        settle(id, watch, watch.expectation, waits);
      }
    });
  }

  private boolean isExpected(RevisionId id) {
    var watch = watched.get(id);
    return watch != null && watch.expectation != null;
  }

  private boolean isNews(RevisionId caller, RevisionId callee) {
    var episode = episode(caller);
    return episode != null && !caller.equals(callee) && !episode.called.contains(callee);
  }

  /** Whether the revision of an open episode has not called this one yet. <b>Threads.</b> Any. */
  boolean isCallAwaited(RevisionId callee) {
    return watched.keySet().stream().anyMatch(caller -> isNews(caller, callee));
  }

  private void called(RevisionId caller, RevisionId callee) {
    var episode = episode(caller);
    if (episode == null || !isNews(caller, callee) || episode.called.size() >= MAX_CALLEES) {
      return;
    }
    episode.called.add(callee);
    long served = episode.served
        ? episode.servedNanos
        : episode.beganNanos + usualStart(caller).toNanos();
    table.called(caller, callee, (int) ((loop.nanoTime() - served) / NANOS_A_MILLI));
  }

  private @Nullable Episode episode(RevisionId id) {
    var watch = watched.get(id);
    return watch == null ? null : watch.episode;
  }

  /** @param sinceNanos when the revision was at zero; an older episode is over */
  private void begin(RevisionId id, long sinceNanos) {
    var watch = watch(id);
    var before = watch.episode;
    if (before != null && before.beganNanos - sinceNanos >= 0) {
      return;
    }
    if (before != null) {
      close(id, watch, before);
    }
    if (episodes >= MAX_EPISODES) {
      unwatchIfIdle(id, watch);
      return;
    }
    long now = loop.nanoTime();
    var usual = usualStart(id);
    var length = (usual.isZero() ? UNKNOWN_START : usual).multipliedBy(2)
        .plus(SpeculativeStarts.EXTRA);
    var episode = new Episode(now, now + length.toNanos());
    watch.episode = episode;
    episodes++;
    episode.timers.add(loop.schedule(length, () -> end(id)));
    var listed = pods.apply(id);
    if (listed != null) {
      callerLookup.put(id, all(listed));
    }
    table.callees(id).stream().filter(callee -> throttler.isAtZero(callee) || isExpected(callee))
        .forEach(episode.cold::add);
    for (var one : table.predict(id, this::startTime)) {
      var after = Duration.ofMillis(one.afterMillis());
      if (after.compareTo(AT_ONCE) <= 0) {
        wake(id, one, episode);
      } else {
        episode.timers.add(loop.schedule(after, () -> wake(id, one, episode)));
      }
    }
  }

  private void wake(RevisionId first, Prediction one, Episode episode) {
    var id = one.callee();
    if (mode == Mode.OBSERVE) {
      if (starts.check(id) == Result.STARTED) {
        expect(id, Source.OBSERVED, episode.dueNanos);
      }
    } else if (starts.start(id,
        one.caller() + " was (" + text(one) + ")") == Result.STARTED) {
      expect(id, Source.LEARNED, episode.dueNanos);
      if (one.caller().equals(first)) {
        episode.woken.add(id);
      }
      onStarted.forEach(listener -> listener.accept(id));
    }
  }

  private String text(Prediction one) {
    double within = Math.max(0,
        usualStart(one.caller()).toNanos() / NANOS_A_SECOND + one.edge().lateMillis() / 1e3);
    return String.format(Locale.ROOT, "%s within %.1f s", one.edge(), within);
  }

  private void expect(RevisionId id, Source source, long dueNanos) {
    var watch = watch(id);
    if (watch.expectation == null) {
      watch.expectation = new Expectation(source, loop.nanoTime(),
          loop.schedule(Duration.ofNanos(dueNanos - loop.nanoTime()), () -> {
            watch.expectation = null;
            counts.countUnused(source);
            unwatchIfIdle(id, watch);
          }));
    }
  }

  private void settle(RevisionId id, Watch watch, Expectation expected, boolean waits) {
    watch.expectation = null;
    expected.timeout.cancel();
    long passed = loop.nanoTime() - expected.nanos;
    long usual = usualStart(id).toNanos();
    long saved = usual == 0 ? passed : Math.min(passed, usual);
    boolean late = expected.source == Source.OBSERVED ? passed < usual : waits;
    counts.countUsed(expected.source, late, Duration.ofNanos(saved));
    // Without the start ahead of its requests, the revision would have been at zero.
    begin(id, expected.nanos);
  }

  private void end(RevisionId id) {
    var watch = watched.get(id);
    var episode = watch == null ? null : watch.episode;
    if (watch != null && episode != null) {
      close(id, watch, episode);
      unwatchIfIdle(id, watch);
    }
  }

  private void close(RevisionId id, Watch watch, Episode episode) {
    // If the episode's first request got no permit, missing calls do not count, except those of
    // callees that were started in vain.
    episode.cold.stream()
        .filter(callee -> !episode.called.contains(callee)
            && (episode.served || episode.woken.contains(callee)))
        .forEach(callee -> table.missed(id, callee));
    drop(id, watch, episode);
  }

  private void drop(RevisionId id, Watch watch, Episode episode) {
    watch.episode = null;
    episodes--;
    episode.timers.forEach(Loop.Timer::cancel);
    callerLookup.remove(id, episode.traces);
  }

  private Watch watch(RevisionId id) {
    if (watched.isEmpty()) {
      onWatching.forEach(one -> one.accept(true));
    }
    return watched.computeIfAbsent(id, _ -> new Watch());
  }

  private void unwatchIfIdle(RevisionId id, Watch watch) {
    if (watch.episode == null && watch.expectation == null) {
      watched.remove(id);
      if (watched.isEmpty()) {
        onWatching.forEach(one -> one.accept(false));
      }
    }
  }

  private Duration usualStart(RevisionId id) {
    var start = throttler.start(id);
    return start == null ? Duration.ZERO : start.usual();
  }

  private StartTime startTime(RevisionId id) {
    var recent = throttler.recentStarts(id);
    if (recent.isEmpty()) {
      return StartTime.UNKNOWN;
    }
    var sorted = recent.stream().sorted().toList();
    return new StartTime(sorted.getFirst() / NANOS_A_MILLI,
        sorted.get((int) Math.round(NINE_TENTHS * (sorted.size() - 1))) / NANOS_A_MILLI);
  }

  /** Call when the revision was deleted. <b>Threads.</b> Any. */
  public void gone(RevisionId id) {
    loop.execute(() -> {
      table.forget(id);
      var watch = watched.get(id);
      if (watch == null) {
        return;
      }
      if (watch.episode != null) {
        drop(id, watch, watch.episode);
      }
      if (watch.expectation != null) {
        watch.expectation.timeout.cancel();
        watch.expectation = null;
      }
      unwatchIfIdle(id, watch);
    });
  }

  /**
   * What was learned about the revisions that this one calls, with a sentence for each.
   * <b>Threads.</b> Any.
   */
  public CompletableFuture<List<String>> learned(RevisionId id) {
    var answer = new CompletableFuture<List<String>>();
    loop.execute(() -> answer.complete(table.callees(id).stream().sorted().map(callee -> {
      var edge = table.edge(id, callee);
      return callee + ": called " + edge + (edge.wakes()
          ? mode == Mode.ON ? "; starts with it" : "; would start with it"
          : "; does not start with it");
    }).toList()));
    return answer;
  }
}
