package dev.activator.embedded.api.policy;

import java.time.Duration;

/**
 * Formats the age of an object, as kubectl shows it.
 *
 * <p><b>Source.</b> {@code util/duration/duration.go} in Kubernetes' apimachinery.
 */
public final class ObjectAge {
  private ObjectAge() {}

  public static String of(Duration age) {
    long seconds = Math.max(0, age.toSeconds());
    long minutes = age.toMinutes();
    long hours = age.toHours();
    long days = age.toDays();
    if (seconds < 120) {
      return seconds + "s";
    }
    if (minutes < 10) {
      return both(minutes, "m", seconds % 60, "s");
    }
    if (minutes < 180) {
      return minutes + "m";
    }
    if (hours < 8) {
      return both(hours, "h", minutes % 60, "m");
    }
    if (hours < 48) {
      return hours + "h";
    }
    if (days < 8) {
      return both(days, "d", hours % 24, "h");
    }
    return days < 730 ? days + "d" : both(days / 365, "y", days % 365, "d");
  }

  private static String both(long large, String largeUnit, long small, String smallUnit) {
    return large + largeUnit + (small == 0 ? "" : small + smallUnit);
  }
}
