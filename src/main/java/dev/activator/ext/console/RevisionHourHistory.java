package dev.activator.ext.console;

import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.stats.RevisionStat;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.EnumMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the last hour of each revision, in points of one minute, since when it has been in its
 * state, and the last request that it failed to serve, until it serves a later one. A request that fell
 * back counts for the revision that it fell back to. The history is lost when the process ends. It takes 1.2 KB for each of at most
 * {@link #MAX_SERIES} revisions with requests.
 *
 * <p><b>Threads.</b> Any.
 */
public final class RevisionHourHistory implements RequestObserver {
  public static final int MINUTES = 60;
  static final int MAX_SERIES = 2_000;
  static final int MAX_MARKS = 20;
  static final int REJECT_MINUTES = 5;
  private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();
  private static final Duration HOUR = Duration.ofHours(1);
  private static final int SERVER_ERROR = 500;

  private final LongSupplier nanoTime;
  private final Clock clock;
  private final ToIntFunction<RevisionId> queued;
  private final LiveRevisions revisions;
  private final Slot<Entry> slot;
  private final AtomicInteger series = new AtomicInteger();
  /**
   * Errors by second, for a minute. The number of statuses is limited, because a pod may invent
   * some.
   */
  private final Counts<Integer> errors = new Counts<>(60, 32);
  /** Rejections by minute, for five minutes. */
  private final Counts<RequestOutcome> rejects = new Counts<>(REJECT_MINUTES,
      RequestOutcome.values().length);
  private volatile boolean sampledAll;

  public RevisionHourHistory(LiveRevisions revisions, LongSupplier nanoTime, Clock clock,
      ToIntFunction<RevisionId> queued) {
    this.revisions = revisions;
    this.slot = revisions.declare("last hour", _ -> new Entry(), Entry::drop);
    this.nanoTime = nanoTime;
    this.clock = clock;
    this.queued = queued;
  }

  /**
   * The values of a point. They are sums, except for the queue and the pods, of which they are
   * maxima.
   */
  public enum Kind {
    REQUESTS,
    ERRORS,
    STARTS,
    QUEUED,
    PODS;

    private boolean isSum() {
      return this != QUEUED && this != PODS;
    }
  }

  /** @param atNanos on the loops' clock */
  record FailedRequest(RequestOutcome outcome, int status, long atNanos) {}

  /** An event of a revision. */
  public record Mark(Instant at, String text, boolean bad) {}

  /**
   * @param points by kind, the oldest first; the last one is the current minute, which is not over
   * @param state one word; empty before the first sample
   * @param since null if the state began before this process
   * @param marks the events, the newest first
   */
  public record LastHour(Map<Kind, int[]> points, String state, @Nullable Instant since,
      List<Mark> marks) {
    public static final LastHour NONE = new LastHour(Map.of(), "", null, List.of());

    boolean isEmpty() {
      return points.isEmpty();
    }

    int[] of(Kind kind) {
      return points.getOrDefault(kind, new int[MINUTES]);
    }

    int peak(Kind kind) {
      return Arrays.stream(of(kind)).max().orElse(0);
    }

    int sum(Kind kind) {
      return Arrays.stream(of(kind)).sum();
    }

    /** The last event; null if there was none. */
    @Nullable Mark lastChange() {
      return marks.isEmpty() ? null : marks.getFirst();
    }
  }

  /**
   * The state of a revision at one moment.
   *
   * @param restarts the restarts of its processes on this machine
   * @param live whether its Service sends requests to it
   */
  record Sample(RevisionId id, String state, boolean bad, int pods, int restarts, boolean live) {}

  /**
   * Called once a second with the statistics of the active revisions, and at once for a new
   * request.
   */
  public void reported(Collection<RevisionStat> stats) {
    long minute = minute();
    for (var stat : stats) {
      var id = stat.revision();
      int requests = (int) Math.round(stat.requestCount());
      int depth = queued.applyAsInt(id);
      if (requests > 0 || depth > 0) {
        var entry = revisions.slot(id, slot);
        if (entry != null) {
          entry.add(Kind.REQUESTS, minute, requests);
          entry.add(Kind.QUEUED, minute, depth);
        }
      }
    }
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    var revision = request.serving();
    var outcome = request.outcome();
    if (step != Step.ENDED || revision == null || outcome == null
        || outcome == RequestOutcome.CALLER_GONE || outcome == RequestOutcome.WAITING_PAGE
        || outcome == RequestOutcome.NOT_WOKEN || outcome == RequestOutcome.FALLBACK) {
      return;
    }
    if (outcome.served() && request.status() < SERVER_ERROR) {
      var entry = revision.peek(slot);
      // Written only if it changes, because all loops write it for each request.
      if (entry != null && entry.failure != null) {
        entry.failure = null;
      }
      return;
    }
    errors.add(second(), request.status());
    if (!outcome.served()) {
      rejects.add(minute(), outcome);
    }
    var known = revision.peek(slot);
    if (known != null) {
      known.add(Kind.ERRORS, minute(), 1);
    }
    var entry = revision.slot(slot);
    if (entry != null) {
      entry.failure = new FailedRequest(outcome, request.status(), nanoTime.getAsLong());
    }
  }

  /** The last failed request; null if one was served since then. */
  @Nullable FailedRequest failure(RevisionId id) {
    var entry = revisions.peek(id, slot);
    return entry == null ? null : entry.failure;
  }

  /** Call at the first answered request of a start from zero. */
  public void started(RevisionId id) {
    var entry = revisions.peek(id, slot);
    if (entry != null) {
      entry.add(Kind.STARTS, minute(), 1);
    }
  }

  /** @param all whether all revisions have been sampled with these, so that others later are new */
  void sampled(Collection<Sample> samples, boolean all) {
    long minute = minute();
    var now = clock.instant();
    for (var sample : samples) {
      var entry = revisions.slot(sample.id, slot);
      if (entry != null) {
        entry.sampled(sample, minute, now, sampledAll);
      }
    }
    if (all) {
      sampledAll = true;
      revisions.all(slot).forEach(entry -> entry.forget(minute, now));
    }
  }

  Instant now() {
    return clock.instant();
  }

  public LastHour of(RevisionId id) {
    var entry = revisions.peek(id, slot);
    return entry == null ? LastHour.NONE : entry.read(minute());
  }

  /** The number of failed requests in the last minute, by status. */
  public Map<Integer, Integer> errors() {
    return errors.sums(second());
  }

  /**
   * The number of requests in the last five minutes that got no response from a pod, by outcome.
   */
  Map<RequestOutcome, Integer> rejects() {
    return rejects.sums(minute());
  }

  private long second() {
    return Math.floorDiv(nanoTime.getAsLong(), MINUTE_NANOS / 60);
  }

  private long minute() {
    return Math.floorDiv(nanoTime.getAsLong(), MINUTE_NANOS);
  }

  private final class Entry {
    private final Deque<Mark> marks = new ArrayDeque<>(0);
    private volatile @Nullable FailedRequest failure;
    /** By kind; null until there is something to count, as each of its rings. */
    private @Nullable Ring @Nullable [] points;
    private @Nullable Sample sample;
    private @Nullable Instant since;
    private boolean dropped;

    synchronized void add(Kind kind, long minute, int number) {
      var rings = points == null && number != 0 ? begin() : points;
      if (rings != null && (number != 0 || rings[kind.ordinal()] != null)) {
        var ring = Objects.requireNonNullElseGet(rings[kind.ordinal()], () -> new Ring(MINUTES));
        rings[kind.ordinal()] = ring;
        ring.set(minute, kind.isSum()
            ? ring.get(minute) + number
            : Math.max(ring.get(minute), number));
      }
    }

    /** Null if there is no room for the points of one more revision. */
    private @Nullable Ring @Nullable [] begin() {
      if (dropped || series.incrementAndGet() > MAX_SERIES) {
        series.addAndGet(dropped ? 0 : -1);
        return null;
      }
      points = new Ring[Kind.values().length];
      return points;
    }

    synchronized void sampled(Sample next, long minute, Instant now, boolean mayBeNew) {
      var before = sample;
      sample = next;
      add(Kind.PODS, minute, next.pods);
      if (before == null) {
        since = mayBeNew ? now : null;
        if (mayBeNew) {
          mark(now, "created", false);
        }
        return;
      }
      if (!before.state.equals(next.state)) {
        since = now;
        if (next.bad) {
          mark(now, next.state, true);
        }
      }
      if (next.restarts > before.restarts) {
        mark(now, "its process ended", true);
      }
      if (next.live != before.live) {
        mark(now, next.live ? "live" : "superseded", false);
      }
    }

    private void mark(Instant at, String text, boolean bad) {
      if (marks.size() == MAX_MARKS) {
        marks.removeLast();
      }
      marks.addFirst(new Mark(at, text, bad));
    }

    /** Drops what is older than an hour. */
    synchronized void forget(long minute, Instant now) {
      while (!marks.isEmpty() && marks.getLast().at().isBefore(now.minus(HOUR))) {
        marks.removeLast();
      }
      if (points != null && Stream.of(points).filter(Objects::nonNull)
          .allMatch(
              ring -> Arrays.stream(ring.until(minute, MINUTES)).allMatch(each -> each == 0))) {
        points = null;
        series.decrementAndGet();
      }
    }

    synchronized void drop() {
      dropped = true;
      if (points != null) {
        points = null;
        series.decrementAndGet();
      }
    }

    synchronized LastHour read(long minute) {
      var now = sample;
      var all = new EnumMap<Kind, int[]>(Kind.class);
      if (points != null) {
        for (var kind : Kind.values()) {
          var ring = points[kind.ordinal()];
          all.put(kind, ring == null ? new int[MINUTES] : ring.until(minute, MINUTES));
        }
      }
      return new LastHour(all, now == null ? "" : now.state, since, List.copyOf(marks));
    }
  }

  /** Counts for all revisions, in a ring of time slots. */
  private static final class Counts<K extends Comparable<K>> {
    private final int slots;
    private final int maxKeys;
    private final Map<K, Ring> rings = new TreeMap<>();

    Counts(int slots, int maxKeys) {
      this.slots = slots;
      this.maxKeys = maxKeys;
    }

    synchronized void add(long slot, K key) {
      if (rings.size() < maxKeys || rings.containsKey(key)) {
        rings.computeIfAbsent(key, _ -> new Ring(slots)).add(slot, 1);
      }
    }

    synchronized Map<K, Integer> sums(long slot) {
      var sums = new TreeMap<K, Integer>();
      rings.forEach((key, ring) -> sums.put(key, Arrays.stream(ring.until(slot, slots)).sum()));
      sums.values().removeIf(sum -> sum == 0);
      rings.keySet().retainAll(sums.keySet());
      return sums;
    }
  }
}
