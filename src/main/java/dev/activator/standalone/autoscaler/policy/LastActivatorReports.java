package dev.activator.standalone.autoscaler.policy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The last report of each activator on one workload. The report is counted again for each second in
 * which the activator is silent but may still run, since it may still have its requests.
 *
 * <p><b>Units.</b> Nanoseconds since any origin; a second begins at the origin.
 */
final class LastActivatorReports {
  /** Batches come once a second. After this time without one, a batch is missing. */
  static final Duration MISSED = Duration.ofMillis(1_500);
  /**
   * A report that comes this soon after another one is a late one, not that of the current second.
   */
  private static final Duration LATE = Duration.ofMillis(500);
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final Map<String, Last> all = new HashMap<>();

  private static final class Last {
    private LoadSample sample;
    private long at;
    /** The last second for which the report was counted. */
    private long second;
    /** The number of reports that are missing and may still come. */
    private long late;

    Last(long now, LoadSample sample) {
      this.at = now;
      this.sample = sample;
    }
  }

  /** A report that is counted for a second in which none came. */
  record Repeated(long second, LoadSample sample) {}

  /**
   * Adds a report. Returns whether it is counted for this second. A late report is not; many of
   * them arrive at once after a process was stopped for some time.
   */
  boolean add(long now, LoadSample sample) {
    var last = all.computeIfAbsent(sample.reporter(), _ -> new Last(now, sample));
    long silent = now - last.at;
    boolean isLate = last.late > 0 && silent < LATE.toNanos();
    if (isLate) {
      last.late--;
    } else if (silent < MISSED.toNanos()) {
      last.late = 0;
    } else {
      last.late = Math.max(last.late, silent / NANOS_PER_SECOND - 1);
    }
    last.sample = sample;
    last.at = now;
    last.second = Math.floorDiv(now, NANOS_PER_SECOND);
    return !isLate;
  }

  /**
   * The last reports of silent activators, once for each second before this one that has not been
   * counted.
   *
   * @param bound how long the reports of a silent activator are counted
   */
  List<Repeated> repeated(long now, ReportCompleteness activators, Duration bound) {
    var repeated = new ArrayList<Repeated>();
    long second = Math.floorDiv(now, NANOS_PER_SECOND);
    all.values().removeIf(last -> {
      var batch = activators.lastBatch(last.sample.reporter());
      if (batch.isEmpty() || batch.getAsLong() > last.at) {
        // The activator has ended, or has sent batches since that do not name this workload, so it
        // has no requests for it.
        return true;
      }
      long silent = now - last.at;
      while (silent >= MISSED.toNanos() && silent <= bound.toNanos() && last.second + 1 < second) {
        last.second++;
        last.late++;
        repeated.add(new Repeated(last.second, last.sample));
      }
      return false;
    });
    return repeated;
  }
}
