package dev.activator.console.policy;

import java.time.Duration;
import java.util.Locale;

/** Lengths and counts, as people read them. */
final class Words {
  private Words() {}

  /** Such as {@code 340 ms}, {@code 2.1 s}, {@code 3 min}. */
  static String of(Duration length) {
    if (length.compareTo(Duration.ofSeconds(1)) < 0) {
      return length.toMillis() + " ms";
    }
    return length.compareTo(Duration.ofMinutes(2)) < 0
        ? String.format(Locale.ROOT, "%.1f s", length.toMillis() / 1000.0)
        : length.toMinutes() + " min";
  }

  /** Such as {@code 1 pod}, {@code 2 pods}. */
  static String count(int number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
