package dev.activator.testing;

import java.util.stream.LongStream;

/** Seeds of simulations; the one that failed is in the test's name and replays alone. */
public final class Seeds {
  private Seeds() {}

  public static LongStream first300() {
    return LongStream.range(0, 300);
  }
}
