package dev.activator.testing.faults;

import java.util.random.RandomGenerator;

/** Which of the requests that match are hit; they are counted from 1, for each rule on its own. */
public sealed interface Turn {
  /** All of them. */
  record Each() implements Turn {}

  /** One of them. */
  record Nth(long number) implements Turn {}

  /** Every so manieth. */
  record EveryKth(long step) implements Turn {}

  /** Each with this probability, by the seeded generator. */
  record Chance(double probability) implements Turn {}

  /** Whether it is the turn of this one. */
  default boolean hits(long number, RandomGenerator random) {
    return switch (this) {
      case Each _ -> true;
      case Nth(long wanted) -> number == wanted;
      case EveryKth(long step) -> number % step == 0;
      case Chance(double probability) -> random.nextDouble() < probability;
    };
  }
}
