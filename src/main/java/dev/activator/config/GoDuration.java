package dev.activator.config;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses and prints durations in Go's form: {@code 300ms}, {@code 1m30s}, {@code 1.5h}, {@code 0}.
 *
 * <p><b>Source.</b> {@code time.ParseDuration}. Fractions of a nanosecond are dropped.
 * {@code BigDecimal} is not used, because initializing its class takes 2 % of the activator's
 * start.
 */
public final class GoDuration {
  private static final Pattern PART = Pattern
      .compile("(?=\\.?\\d)(\\d*)(?:\\.(\\d*))?(ns|us|µs|μs|ms|s|m|h)");

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

  /** Prints a duration in the largest unit that has no fraction. */
  public static String print(Duration length) {
    long nanos = length.toNanos();
    for (var name : List.of("h", "m", "s", "ms", "µs")) {
      long unit = unit(name);
      if (nanos % unit == 0 && (nanos != 0 || name.equals("s"))) {
        return nanos / unit + name;
      }
    }
    return nanos + "ns";
  }

  private static long nanos(String text, String digits) {
    var parts = PART.matcher(digits);
    long sum = 0;
    int end = 0;
    try {
      while (end < digits.length() && parts.find(end) && parts.start() == end) {
        long unit = unit(parts.group(3));
        sum = Math.addExact(sum, Math.multiplyExact(whole(parts.group(1)), unit));
        sum = Math.addExact(sum, fraction(parts.group(2), unit));
        end = parts.end();
      }
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "' is too long for a duration", e);
    }
    if (end == 0 || end < digits.length()) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a duration such as 300ms or 1m30s");
    }
    return sum;
  }

  private static long whole(String digits) {
    return digits.isEmpty() ? 0 : Long.parseLong(digits);
  }

  /**
   * Computes from the last digit on, so that the dropped remainders never add up to one nanosecond.
   */
  private static long fraction(@Nullable String digits, long unit) {
    if (digits == null) {
      return 0;
    }
    long nanos = 0;
    for (int i = digits.length(); i > 0; i--) {
      nanos = (nanos + Character.digit(digits.charAt(i - 1), 10) * unit) / 10;
    }
    return nanos;
  }

  private static long unit(String name) {
    return switch (name) {
      case "ns" -> 1L;
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      case "h" -> 3_600_000_000_000L;
      default -> 1_000L; // microseconds: us, or with either mu
    };
  }
}
