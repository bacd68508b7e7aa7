package dev.activator.testing;

import java.util.stream.LongStream;

/** Seeds of simulations; the one that failed is in the test's name and replays alone. */
public final class Seeds {
  private Seeds() {}

  public static LongStream first300() {
    return LongStream.range(0, 300);
  }

  /** For simulations that take a few milliseconds a seed. */
  public static LongStream first2000() {
    return LongStream.range(0, 2_000);
  }
}
