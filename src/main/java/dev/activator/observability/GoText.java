package dev.activator.observability;

import java.math.BigDecimal;
import java.util.Locale;

/**
 * <b>Source.</b> {@code JSEscape} of Go's {@code text/template}, and {@code %v} of its {@code fmt}.
 */
final class GoText {
  private static final int PLAIN_DIGITS = 6;

  private GoText() {}

  /** For a JavaScript or JSON string. */
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

  /** As Go: letters, marks, numbers, punctuation, symbols and the ASCII space. */
  private static boolean isPrintable(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE -> false;
      case Character.UNASSIGNED, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
      case Character.SPACE_SEPARATOR -> point == ' ';
      default -> true;
    };
  }

  static String html(String text) {
    return text.replace("&", "&amp;").replace("'", "&#39;").replace("\"", "&#34;")
        .replace("<", "&lt;").replace(">", "&gt;").replace('\0', '\ufffd');
  }

  static String quoted(String text, char quote, boolean ascii) {
    var to = new StringBuilder(text.length() + 2).append(quote);
    text.codePoints().forEach(point -> {
      int named = "\u0007\b\f\n\r\t\u000b".indexOf(point);
      if (point == quote || point == '\\') {
        to.append('\\').appendCodePoint(point);
      } else if (named >= 0) {
        to.append('\\').append("abfnrtv".charAt(named));
      } else if (isPrintable(point) && (!ascii || point < 0x80)) {
        to.appendCodePoint(point);
      } else {
        to.append(String.format(Locale.ROOT,
            point < 0x80 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x", point));
      }
    });
    return to.append(quote).toString();
  }

  /** Shortest; with an exponent if very small or large. */
  public static String number(double value) {
    if (value == 0) {
      return "0";
    }
    var exact = new BigDecimal(Double.toString(value)).stripTrailingZeros();
    int exponent = exact.precision() - exact.scale() - 1;
    return exponent < -4 || exponent >= PLAIN_DIGITS
        ? scientific(exact, exact.precision() - 1)
        : exact.toPlainString();
  }

  static String scientific(BigDecimal value, int fraction) {
    String digits = value.unscaledValue().abs().toString();
    int exponent = value.signum() == 0 ? 0 : value.precision() - value.scale() - 1;
    String behind = digits.substring(1) + "0".repeat(Math.max(0, fraction - digits.length() + 1));
    return (value.signum() < 0 ? "-" : "") + digits.charAt(0)
        + (fraction == 0 ? "" : "." + behind.substring(0, fraction))
        + String.format(Locale.ROOT, exponent < 0 ? "e-%02d" : "e+%02d", Math.abs(exponent));
  }
}
