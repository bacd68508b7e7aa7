package dev.activator.console;

import java.time.Duration;
import java.util.Locale;

/** Text and numbers as HTML that is also well-formed XML. */
final class Html {
  private Html() {}

  static String text(String text) {
    var safe = new StringBuilder(text.length() + 16);
    text.codePoints().forEach(each -> {
      switch (each) {
        case '&' -> safe.append("&amp;");
        case '<' -> safe.append("&lt;");
        case '>' -> safe.append("&gt;");
        case '"' -> safe.append("&quot;");
        case '\'' -> safe.append("&#39;");
        case '\n', '\t' -> safe.appendCodePoint(each);
        default -> safe.appendCodePoint(Character.isISOControl(each) ? '\ufffd' : each);
      }
    });
    return safe.toString();
  }

  /** Such as {@code 340 ms}, {@code 2.1 s}, {@code 3 min}, {@code 5 h}. */
  static String length(Duration length) {
    long millis = length.toMillis();
    if (millis < 1000) {
      return millis + " ms";
    }
    if (millis < 120_000) {
      return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
    }
    return millis < 7_200_000 ? length.toMinutes() + " min" : length.toHours() + " h";
  }

  static String count(int number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
