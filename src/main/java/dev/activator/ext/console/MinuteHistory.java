package dev.activator.ext.console;

import dev.activator.observability.MetricDefinition;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.stats.RevisionStat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the last minute of each revision. It uses the statistics that the autoscaler gets once
 * a second, so it costs requests nothing. Durations are counted only while the console is open, or
 * if metrics are exported.
 *
 * <p><b>Threads.</b> Any.
 */
public final class MinuteHistory {
  static final int SECONDS = 60;
  private static final long NANOS_A_SECOND = 1_000_000_000L;
  /** The seconds between two snapshots of the histogram. */
  private static final int STEP = 10;

  private final LongSupplier nanoTime;
  private final ToIntFunction<RevisionId> queued;
  private final Durations durations;
  private final LiveRevisions revisions;
  private final Slot<Minute> slot;
  private volatile boolean isViewed;
  private long viewedAt;
  private long cleanedSecond = Long.MIN_VALUE;

  /** The source of the durations of requests. */
  public interface Durations {
    /** Starts to count. Idempotent. */
    void start();

    void stop();

    /** The counts of a revision's histogram; null if no request was counted. */
    long @Nullable [] of(RevisionId id);

    /** The durations of the last minute, the shortest first; null if there were too many. */
    long @Nullable [] recent(RevisionId id);
  }

  public MinuteHistory(LiveRevisions revisions, LongSupplier nanoTime,
      ToIntFunction<RevisionId> queued, Durations durations) {
    this.revisions = revisions;
    this.slot = revisions.slot("last minute", _ -> new Minute());
    this.nanoTime = nanoTime;
    this.queued = queued;
    this.durations = durations;
  }

  /**
   * @param requests the number in each second, the oldest first
   * @param queue the length at the end of each second
   * @param durations the counts of the last minute, by bucket; null if no request was counted
   * @param exact the durations of the last minute, the shortest first; null if there were too many
   */
  public record LastMinute(int[] requests, int[] queue, long @Nullable [] durations,
      long @Nullable [] exact) {
    /** A percentile of the durations in nanoseconds; NaN without a value. */
    double percentile(double share) {
      return exactOrEstimated(durations, exact, share);
    }

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
   * Called once a second with the statistics of the active revisions, and at once for a new
   * request.
   */
  public void reported(Collection<RevisionStat> stats) {
    long second = second();
    for (var stat : stats) {
      var id = stat.revision();
      var minute = revisions.slot(id, slot);
      if (minute != null) {
        minute.add(second, (int) Math.round(stat.requestCount()), queued.applyAsInt(id),
            () -> isViewed ? durations.of(id) : null);
      }
    }
    cleanUp(second);
  }

  public LastMinute of(RevisionId id) {
    long second = second();
    viewed(second);
    // Leaves out the current second, which is not over and perhaps not reported yet.
    var known = revisions.slot(id, slot);
    return (known == null ? new Minute() : known).until(second - 1, durations.of(id),
        durations.recent(id));
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
      durations.start();
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
      if (minute != null && second - minute.last > SECONDS) {
        revision.clear(slot);
      }
    });
    if (isViewed && second - viewedAt > SECONDS) {
      isViewed = false;
      durations.stop();
      revisions.all(slot).forEach(Minute::forgetDurations);
    }
  }

  private long second() {
    return Math.floorDiv(nanoTime.getAsLong(), NANOS_A_SECOND);
  }

  /** @param counts null before the first request */
  private record Snapshot(long second, long @Nullable [] counts) {}

  private static final class Minute {
    /** The last minute and the current second. */
    private static final int SLOTS = SECONDS + 1;

    private final int[] requests = new int[SLOTS];
    private final int[] queue = new int[SLOTS];
    private final List<Snapshot> snapshots = new ArrayList<>();
    private long last = Long.MIN_VALUE / 2;
    private long reported = last;

    synchronized void add(long second, int more, int depth,
        Supplier<long @Nullable []> durations) {
      boolean skipped = second - reported == 2;
      clearUntil(second);
      reported = second;
      if (skipped) {
        // The last report came a little late.
        queue[Math.floorMod(second - 1, SLOTS)] = queue[Math.floorMod(second - 2, SLOTS)];
      }
      int at = Math.floorMod(second, SLOTS);
      requests[at] += more;
      queue[at] = depth;
      // Copied only when a snapshot is due, because there may be thousands of revisions.
      var counts = snapshots.isEmpty() || second - snapshots.getLast().second >= STEP
          ? durations.get()
          : null;
      if (counts != null) {
        snapshots.add(new Snapshot(second, counts));
      }
      while (snapshots.size() > 1 && second - snapshots.get(1).second >= SECONDS) {
        snapshots.removeFirst();
      }
    }

    synchronized void forgetDurations() {
      snapshots.clear();
    }

    private void clearUntil(long second) {
      for (long each = Math.max(last + 1, second - SLOTS + 1); each <= second; each++) {
        requests[Math.floorMod(each, SLOTS)] = 0;
        queue[Math.floorMod(each, SLOTS)] = 0;
      }
      last = Math.max(last, second);
    }

    synchronized int sum(long from, long to) {
      clearUntil(to + 1);
      int sum = 0;
      for (long second = from; second <= to; second++) {
        sum += requests[Math.floorMod(second, SLOTS)];
      }
      return sum;
    }

    synchronized LastMinute until(long second, long @Nullable [] counts,
        long @Nullable [] exact) {
      clearUntil(second + 1);
      var depths = ordered(queue, second);
      if (reported == second - 1) {
        // The next report is a little late.
        depths[SECONDS - 1] = depths[SECONDS - 2];
      }
      return new LastMinute(ordered(requests, second), depths, since(second, counts),
          exact);
    }

    private static int[] ordered(int[] ring, long second) {
      int first = Math.floorMod(second - SECONDS + 1, SLOTS);
      int untilEnd = Math.min(SECONDS, SLOTS - first);
      var line = new int[SECONDS];
      System.arraycopy(ring, first, line, 0, untilEnd);
      System.arraycopy(ring, 0, line, untilEnd, SECONDS - untilEnd);
      return line;
    }

    private long @Nullable [] since(long second, long @Nullable [] counts) {
      if (snapshots.isEmpty()) {
        snapshots.add(new Snapshot(second, counts));
      }
      var before = snapshots.getFirst().counts;
      if (counts == null || before == null) {
        return counts;
      }
      var more = new long[counts.length];
      Arrays.setAll(more, i -> counts[i] - before[i]);
      return more;
    }
  }

  /**
   * A percentile. For few values it is exact: the smallest value that this share of the values does
   * not exceed. For many values it is interpolated in the histogram.
   *
   * @return NaN without a value
   */
  static double exactOrEstimated(long @Nullable [] counts, long @Nullable [] exact,
      double share) {
    if (exact != null && exact.length > 0) {
      return exact[Math.clamp((int) Math.ceil(share * exact.length) - 1, 0, exact.length - 1)];
    }
    return counts == null
        ? Double.NaN
        : percentile(counts, MetricDefinition.SERVER_DURATION.bounds(), share);
  }

  /**
   * A percentile that is interpolated inside its bucket.
   *
   * @param bounds the upper bounds of the buckets; the last bucket has none
   * @return NaN without a value
   */
  public static double percentile(long[] counts, long[] bounds, double share) {
    long all = Arrays.stream(counts).sum();
    if (all == 0) {
      return Double.NaN;
    }
    double rank = share * all;
    double below = 0;
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0 && below + counts[i] >= rank) {
        double from = i == 0 ? 0 : bounds[i - 1];
        return i == bounds.length
            ? from
            : from + (bounds[i] - from) * Math.max(0, rank - below) / counts[i];
      }
      below += counts[i];
    }
    return bounds[bounds.length - 1];
  }
}
