package dev.activator.testing;

import java.util.stream.LongStream;

/** Seeds of simulations; the one that failed is in the test's name and replays alone. */
public final class Seeds {
  /** Ten times as many with {@code mvn -Plong}; fewer where each test runs again for each of many mutants. */
  private static final long TIMES = Long.getLong("seeds.times", 1);
  private static final long MOST = Long.getLong("seeds.most", Long.MAX_VALUE);

  private Seeds() {}

  public static LongStream first300() {
    return first(300);
  }

  /** For simulations that take a few milliseconds a seed. */
  public static LongStream first1000() {
    return first(1_000);
  }

  private static LongStream first(long usual) {
    return LongStream.range(0, Math.min(usual * TIMES, MOST));
  }
}
