package dev.activator.observability.meter;

/** One series of a meter at one moment. */
public sealed interface Point {
  Tags tags();

  /** A number. */
  record Value(Tags tags, double value) implements Point {}

  /** A distribution, which is added up while it is read. */
  final class Spread implements Point {
    private final Tags tags;
    private final Buckets buckets;
    private final long[] counts;
    private double sum;

    Spread(Tags tags, Buckets buckets) {
      this.tags = tags;
      this.buckets = buckets;
      this.counts = new long[buckets.count()];
    }

    @Override
    public Tags tags() {
      return tags;
    }

    public Buckets buckets() {
      return buckets;
    }

    /** How many are in each bucket, not counting those below it. */
    public long[] counts() {
      return counts;
    }

    /** Of all values. */
    public double sum() {
      return sum;
    }

    void addSum(double more) {
      sum += more;
    }

    public long count() {
      long all = 0;
      for (long each : counts) {
        all += each;
      }
      return all;
    }
  }
}
