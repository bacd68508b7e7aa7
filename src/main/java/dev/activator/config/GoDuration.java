package dev.activator.config;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Durations in Go's form: {@code 300ms}, {@code 1m30s}, {@code 1.5h}, {@code 0}.
 *
 * <p>
 * <b>Source.</b> {@code time.ParseDuration}. Fractions of a nanosecond are dropped.
 */
public final class GoDuration {
  private static final Pattern PART = Pattern
      .compile("(\\d+(?:\\.\\d*)?|\\.\\d+)(ns|us|µs|μs|ms|s|m|h)");

  private GoDuration() {}

  /** @throws IllegalArgumentException naming the text */
  public static Duration parse(String text) {
    boolean negative = text.startsWith("-");
    String digits = negative || text.startsWith("+") ? text.substring(1) : text;
    if (digits.equals("0")) {
      return Duration.ZERO;
    }
    long nanos = nanos(text, digits);
    return Duration.ofNanos(negative ? -nanos : nanos);
  }

  /** In the largest whole unit. */
  public static String print(Duration length) {
    long nanos = length.toNanos();
    for (var name : List.of("h", "m", "s", "ms", "µs")) {
      long unit = unit(name).longValue();
      if (nanos % unit == 0 && (nanos != 0 || name.equals("s"))) {
        return nanos / unit + name;
      }
    }
    return nanos + "ns";
  }

  private static long nanos(String text, String digits) {
    var parts = PART.matcher(digits);
    var sum = BigDecimal.ZERO;
    int end = 0;
    while (end < digits.length() && parts.find(end) && parts.start() == end) {
      sum = sum.add(new BigDecimal(parts.group(1)).multiply(unit(parts.group(2))));
      end = parts.end();
    }
    if (end == 0 || end < digits.length()) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a duration; one looks like 300ms or 1m30s");
    }
    return inRange(text, sum.setScale(0, RoundingMode.DOWN));
  }

  private static BigDecimal unit(String name) {
    return BigDecimal.valueOf(switch (name) {
      case "ns" -> 1L;
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      case "h" -> 3_600_000_000_000L;
      default -> 1_000L; // microseconds: us, or with either mu
    });
  }

  private static long inRange(String text, BigDecimal nanos) {
    if (nanos.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
      throw new IllegalArgumentException("'" + text + "' is too long for a duration");
    }
    return nanos.longValue();
  }
}
