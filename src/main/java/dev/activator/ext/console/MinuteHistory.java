package dev.activator.ext.console;

import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestObservers;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.stats.RevisionStat;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * Remembers the last minute of each revision. It uses the statistics that the autoscaler gets once
 * a second, so it costs requests nothing. It observes how long requests take only while the console is
 * open.
 *
 * <p><b>Threads.</b> Any.
 */
public final class MinuteHistory implements RequestObserver {
  static final int SECONDS = 60;
  private static final long NANOS_A_SECOND = 1_000_000_000L;
  /** The seconds of one count of durations, and of a rate. */
  private static final int STEP = 10;

  private final LongSupplier nanoTime;
  private final ToIntFunction<RevisionId> queued;
  private final RequestObservers observers;
  private final LiveRevisions revisions;
  private final Slot<Minute> slot;
  private volatile boolean isViewed;
  private long viewedAt;
  private long cleanedSecond = Long.MIN_VALUE;

  public MinuteHistory(LiveRevisions revisions, LongSupplier nanoTime,
      ToIntFunction<RevisionId> queued, RequestObservers observers) {
    this.revisions = revisions;
    this.slot = revisions.declare("last minute", _ -> new Minute());
    this.nanoTime = nanoTime;
    this.queued = queued;
    this.observers = observers;
  }

  /**
   * @param requests the number in each second, the oldest first
   * @param queue the length at the end of each second
   * @param durations how many requests of the last minute took how long
   */
  public record LastMinute(int[] requests, int[] queue, Durations durations) {
    int requestsInAll() {
      return Arrays.stream(requests).sum();
    }

    int peakRequests() {
      return Arrays.stream(requests).max().orElse(0);
    }

    int peakQueued() {
      return Arrays.stream(queue).max().orElse(0);
    }
  }

  /**
   * Counts of durations. A duration is known to 3 %, if it is between 16 µs and 18 min.
   *
   * <p><b>Threads.</b> Any.
   */
  static final class Durations {
    /** The buckets of each doubling of a microsecond. */
    private static final int PARTS = 16;
    private static final int BUCKETS = PARTS * 26;

    private final AtomicIntegerArray counts = new AtomicIntegerArray(BUCKETS);

    void add(long nanos) {
      long micros = Math.max(PARTS, nanos / 1_000);
      int doublings = Long.numberOfTrailingZeros(Long.highestOneBit(micros / PARTS));
      long bucket = doublings * PARTS + (micros >> doublings) - PARTS;
      counts.getAndIncrement((int) Math.min(bucket, BUCKETS - 1));
    }

    void add(Durations others) {
      for (int i = 0; i < BUCKETS; i++) {
        counts.addAndGet(i, others.counts.get(i));
      }
    }

    /** In nanoseconds: what this share of the durations does not exceed. NaN without a duration. */
    double percentile(double share) {
      long all = 0;
      for (int i = 0; i < BUCKETS; i++) {
        all += counts.get(i);
      }
      long left = Math.max(1, (long) Math.ceil(share * all));
      for (int i = 0; i < BUCKETS; i++) {
        left -= counts.get(i);
        if (left <= 0) {
          return (PARTS + i % PARTS + 0.5) * (1L << i / PARTS) * 1_000;
        }
      }
      return Double.NaN;
    }
  }

  /**
   * Called once a second with the statistics of the active revisions, and at once for a new
   * request.
   */
  public void reported(Collection<RevisionStat> stats) {
    long second = second();
    for (var stat : stats) {
      var id = stat.revision();
      var minute = revisions.slot(id, slot);
      if (minute != null) {
        minute.add(second, (int) Math.round(stat.requestCount()), queued.applyAsInt(id));
      }
    }
    cleanUp(second);
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    var revision = request.routed();
    var minute = step != Step.ENDED || revision == null ? null : revision.slot(slot);
    if (minute != null) {
      minute.took(second() / STEP, request.endedNanos() - request.arrivedNanos());
    }
  }

  public LastMinute of(RevisionId id) {
    long second = second();
    viewed(second);
    // Leaves out the current second, which is not over and perhaps not reported yet.
    var known = revisions.peek(id, slot);
    return (known == null ? new Minute() : known).until(second - 1);
  }

  /**
   * The requests a second over the last ten seconds, of revisions that had any. Does not count as
   * an open console.
   */
  Map<RevisionId, Double> rates() {
    long second = second();
    var rates = new HashMap<RevisionId, Double>();
    revisions.all().forEach(revision -> {
      var minute = revision.peek(slot);
      int sum = minute == null ? 0 : minute.sum(second - STEP, second - 1);
      if (sum > 0) {
        rates.put(revision.id(), (double) sum / STEP);
      }
    });
    return rates;
  }

  private synchronized void viewed(long second) {
    viewedAt = second;
    if (!isViewed) {
      isViewed = true;
      observers.add(this);
    }
  }

  /**
   * Removes revisions without requests, at most once a second: each first request of an idle
   * revision is reported, and there may be thousands of revisions.
   */
  private synchronized void cleanUp(long second) {
    if (second == cleanedSecond) {
      return;
    }
    cleanedSecond = second;
    revisions.all().forEach(revision -> {
      var minute = revision.peek(slot);
      if (minute != null && minute.isOver(second)) {
        revision.clear(slot);
      }
    });
    if (isViewed && second - viewedAt > SECONDS) {
      isViewed = false;
      observers.remove(this);
      revisions.all(slot).forEach(Minute::forgetDurations);
    }
  }

  private long second() {
    return Math.floorDiv(nanoTime.getAsLong(), NANOS_A_SECOND);
  }

  private static final class Minute {
    /** The durations of ten seconds. */
    private record Measured(long step, Durations durations) {}

    private static final int STEPS = SECONDS / STEP + 1;

    /** The last minute and the current second. */
    private final Ring requests = new Ring(SECONDS + 1);
    private final Ring queue = new Ring(SECONDS + 1);
    private long reported = Long.MIN_VALUE / 2;
    /** The newest first. A change replaces the array, so that requests need no lock. */
    private volatile Measured[] measured = {};

    synchronized void add(long second, int more, int depth) {
      if (second - reported == 2) {
        // The last report came a little late.
        queue.set(second - 1, queue.get(second - 2));
      }
      reported = second;
      requests.add(second, more);
      queue.set(second, depth);
    }

    void took(long step, long nanos) {
      var known = measured;
      var now = known.length > 0 && known[0].step >= step ? known[0] : begin(step);
      now.durations.add(nanos);
    }

    private synchronized Measured begin(long step) {
      var known = measured;
      if (known.length == 0 || known[0].step < step) {
        measured = Stream.concat(Stream.of(new Measured(step, new Durations())),
            Stream.of(known).filter(one -> step - one.step < STEPS)).toArray(Measured[]::new);
      }
      return measured[0];
    }

    /** Whether the last minute had no request, counted for the autoscaler or not. */
    synchronized boolean isOver(long second) {
      return second - reported > SECONDS
          && Stream.of(measured).noneMatch(one -> second / STEP - one.step < STEPS);
    }

    synchronized void forgetDurations() {
      measured = new Measured[0];
    }

    synchronized int sum(long from, long to) {
      return Arrays.stream(requests.until(to, (int) (to - from + 1))).sum();
    }

    synchronized LastMinute until(long second) {
      var depths = queue.until(second, SECONDS);
      if (reported == second - 1) {
        // The next report is a little late.
        depths[SECONDS - 1] = depths[SECONDS - 2];
      }
      var durations = new Durations();
      Stream.of(measured).filter(one -> second / STEP - one.step < STEPS)
          .forEach(one -> durations.add(one.durations));
      return new LastMinute(requests.until(second, SECONDS), depths, durations);
    }
  }
}
