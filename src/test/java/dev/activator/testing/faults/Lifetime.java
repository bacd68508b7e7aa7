package dev.activator.testing.faults;

import java.time.Duration;

/** How long a rule holds, unless it is removed before. */
public sealed interface Lifetime {
  /** Until it is removed. */
  Lifetime UNTIL_REMOVED = new Times(Long.MAX_VALUE);

  /** Until it has hit this many requests. */
  record Times(long hits) implements Lifetime {}

  /** For so long, by the clock of the server's loop. */
  record During(Duration duration) implements Lifetime {}

  /** For one hit. */
  static Lifetime once() {
    return new Times(1);
  }
}
