package dev.activator.ext.console;

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
import java.util.EnumMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the last hour of each revision, in points of one minute, and since when it has been in
 * its state. The history is lost when the process ends. It takes 1.2 KB for each of at most
 * {@link #MAX_SERIES} revisions with requests.
 *
 * <p><b>Threads.</b> Any.
 */
public final class RevisionHourHistory {
  public static final int MINUTES = 60;
  static final int MAX_SERIES = 2_000;
  static final int MAX_MARKS = 20;
  static final int REJECT_MINUTES = 5;
  private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();
  private static final Duration HOUR = Duration.ofHours(1);

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
    this.slot = revisions.slot("last hour", _ -> new Entry(), Entry::drop);
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

  /** Call when a request has failed, at the activator or at its pod. */
  public void failed(RevisionId id, RequestOutcome outcome, int status) {
    errors.add(second(), status);
    if (!outcome.served()) {
      rejects.add(minute(), outcome);
    }
    var entry = revisions.peek(id, slot);
    if (entry != null) {
      entry.add(Kind.ERRORS, minute(), 1);
    }
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
    /** The points, with one row for each kind; null until there is something to count. */
    private int @Nullable [][] points;
    private long last;
    private @Nullable Sample sample;
    private @Nullable Instant since;
    private boolean dropped;

    synchronized void add(Kind kind, long minute, int number) {
      if (number == 0 && points == null) {
        return;
      }
      var rows = rows(minute);
      if (rows != null) {
        int at = Math.floorMod(minute, MINUTES);
        rows[kind.ordinal()][at] = kind.isSum()
            ? rows[kind.ordinal()][at] + number
            : Math.max(rows[kind.ordinal()][at], number);
      }
    }

    private int @Nullable [][] rows(long minute) {
      if (points == null) {
        if (dropped || series.incrementAndGet() > MAX_SERIES) {
          if (!dropped) {
            series.decrementAndGet();
          }
          return null;
        }
        points = new int[Kind.values().length][MINUTES];
        last = minute;
      }
      for (long each = Math.max(last + 1, minute - MINUTES + 1); each <= minute; each++) {
        for (var row : points) {
          row[Math.floorMod(each, MINUTES)] = 0;
        }
      }
      last = Math.max(last, minute);
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
      if (points != null && isQuiet(minute)) {
        points = null;
        series.decrementAndGet();
      }
    }

    private boolean isQuiet(long minute) {
      var rows = rows(minute);
      return rows == null
          || Arrays.stream(rows).flatMapToInt(Arrays::stream).allMatch(each -> each == 0);
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
      var rows = points == null ? null : rows(minute);
      if (rows != null) {
        for (var kind : Kind.values()) {
          var line = new int[MINUTES];
          for (int i = 0; i < MINUTES; i++) {
            line[i] = rows[kind.ordinal()][Math.floorMod(minute - MINUTES + 1 + i, MINUTES)];
          }
          all.put(kind, line);
        }
      }
      return new LastHour(all, now == null ? "" : now.state, since, List.copyOf(marks));
    }
  }

  /** Counts for all revisions, in a ring of time slots. */
  private static final class Counts<K extends Comparable<K>> {
    private final int slots;
    private final int maxKeys;
    private final Map<K, int[]> rings = new TreeMap<>();
    private long last = Long.MIN_VALUE / 2;

    Counts(int slots, int maxKeys) {
      this.slots = slots;
      this.maxKeys = maxKeys;
    }

    synchronized void add(long slot, K key) {
      clearUntil(slot);
      if (rings.size() < maxKeys || rings.containsKey(key)) {
        rings.computeIfAbsent(key, _ -> new int[slots])[Math.floorMod(slot, slots)]++;
      }
    }

    synchronized Map<K, Integer> sums(long slot) {
      clearUntil(slot);
      var sums = new TreeMap<K, Integer>();
      rings.forEach((key, ring) -> sums.put(key, Arrays.stream(ring).sum()));
      sums.values().removeIf(sum -> sum == 0);
      rings.keySet().retainAll(sums.keySet());
      return sums;
    }

    private void clearUntil(long slot) {
      for (long each = Math.max(last + 1, slot - slots + 1); each <= slot; each++) {
        for (var ring : rings.values()) {
          ring[Math.floorMod(each, slots)] = 0;
        }
      }
      last = Math.max(last, slot);
    }
  }
}
