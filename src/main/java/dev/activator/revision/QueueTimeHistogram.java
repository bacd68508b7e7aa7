package dev.activator.revision;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * A histogram of the times that requests waited in a queue. The first bucket ends at one
 * millisecond, each further one at 1.4 times the end of the one before. The last bucket begins at
 * about nine minutes and has no end.
 *
 * @param counts the number of requests in each bucket, without zeros at the end
 */
public record QueueTimeHistogram(List<Integer> counts) {
  public static final QueueTimeHistogram NONE = new QueueTimeHistogram(List.of());
  public static final int BUCKETS = 40;
  private static final double NANOS_PER_MILLISECOND = 1e6;
  private static final double BUCKETS_PER_DOUBLING = 2;

  /** The maximum number of requests in one second. */
  private static final long MAX_TOTAL = 100_000_000;

  public QueueTimeHistogram {
    if (counts.size() > BUCKETS || counts.stream().anyMatch(count -> count < 0)
        || counts.stream().mapToLong(Integer::longValue).sum() > MAX_TOTAL) {
      throw new IllegalArgumentException("no counts of times in a queue: " + counts);
    }
    counts = List.copyOf(counts);
  }

  /** A histogram of these counts, without zeros at the end. */
  public static QueueTimeHistogram of(int[] counts) {
    int length = Math.min(counts.length, BUCKETS);
    while (length > 0 && counts[length - 1] == 0) {
      length--;
    }
    return length == 0
        ? NONE
        : new QueueTimeHistogram(Arrays.stream(counts, 0, length).boxed().toList());
  }

  public static int bucket(Duration time) {
    double millis = time.toNanos() / NANOS_PER_MILLISECOND;
    double doublings = Math.log(Math.max(1, millis)) / Math.log(2);
    return (int) Math.min(BUCKETS - 1, Math.ceil(doublings * BUCKETS_PER_DOUBLING));
  }

  /** The end of a bucket, in milliseconds. */
  public static double millis(int bucket) {
    return Math.pow(2, bucket / BUCKETS_PER_DOUBLING);
  }

  public int total() {
    return counts.stream().mapToInt(Integer::intValue).sum();
  }

  /** Adds the count of each bucket to {@code sum}. */
  public void addTo(int[] sum) {
    for (int bucket = 0; bucket < counts.size(); bucket++) {
      sum[bucket] += counts.get(bucket);
    }
  }
}
