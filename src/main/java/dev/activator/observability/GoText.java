package dev.activator.observability;

import java.math.BigDecimal;
import java.util.Locale;

/**
 * Texts as Go writes them.
 *
 * <p>
 * <b>Source.</b> {@code JSEscape} of Go's {@code text/template}, and the verb {@code %v} of its
 * {@code fmt}.
 */
public final class GoText {
  private GoText() {}

  /** A text that can stand in a string of JavaScript or JSON. */
  public static String js(String text) {
    int at = 0;
    while (at < text.length() && isPlain(text.charAt(at))) {
      at++;
    }
    if (at == text.length()) {
      return text;
    }
    var escaped = new StringBuilder(text.length() + 16).append(text, 0, at);
    text.codePoints().skip(text.codePointCount(0, at)).forEach(point -> escape(escaped, point));
    return escaped.toString();
  }

  private static boolean isPlain(char c) {
    return c >= ' ' && c < 0x7f && "\\'\"<>&=".indexOf(c) < 0;
  }

  private static void escape(StringBuilder to, int point) {
    switch (point) {
      case '\\', '\'', '"' -> to.append('\\').append((char) point);
      case '<', '>', '&', '=' -> hex(to, point);
      default -> {
        if (isPrintable(point)) {
          to.appendCodePoint(point);
        } else {
          hex(to, point);
        }
      }
    }
  }

  private static void hex(StringBuilder to, int point) {
    to.append("\\u").append(String.format(Locale.ROOT, "%04X", point));
  }

  /** Letters, marks, numbers, punctuation and symbols are; of blanks only the usual one. */
  private static boolean isPrintable(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE -> false;
      case Character.UNASSIGNED, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
      case Character.SPACE_SEPARATOR -> point == ' ';
      default -> true;
    };
  }

  /** The shortest decimals that mean this number; with an exponent where it is very small or large. */
  public static String number(double value) {
    if (value == 0) {
      return "0";
    }
    var exact = new BigDecimal(Double.toString(value)).stripTrailingZeros();
    int exponent = exact.precision() - exact.scale() - 1;
    return exponent < -4 || exponent >= 21
        ? scientific(exact, exponent)
        : exact.toPlainString();
  }

  private static String scientific(BigDecimal exact, int exponent) {
    String digits = exact.unscaledValue().abs().toString();
    String mantissa = digits.length() == 1
        ? digits
        : digits.charAt(0) + "." + digits.substring(1);
    return (exact.signum() < 0 ? "-" : "") + mantissa
        + String.format(Locale.ROOT, exponent < 0 ? "e-%02d" : "e+%02d", Math.abs(exponent));
  }
}
