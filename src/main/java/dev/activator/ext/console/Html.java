package dev.activator.ext.console;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.regex.Pattern;

/** Renders text and numbers as HTML that is also well-formed XML. */
final class Html {
  private static final long KIB = 1024;

  private static final Pattern CONTROL_CHARACTERS = Pattern
      .compile("[\\x00-\\x1f\\x7f-\\x9f&&[^\\n\\t]]");

  private Html() {}

  static String text(String text) {
    var safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        .replace("\"", "&quot;").replace("'", "&#39;");
    return CONTROL_CHARACTERS.matcher(safe).replaceAll("\ufffd");
  }

  /** A duration such as {@code 340 ms}, {@code 2.1 s}, {@code 3 min}, {@code 5 h}. */
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

  /** A size such as {@code 340 bytes}, {@code 61 KiB}, {@code 3 MiB}. */
  static String size(long bytes) {
    return bytes < KIB
        ? count(bytes, "byte")
        : bytes < KIB * KIB ? bytes / KIB + " KiB" : bytes / KIB / KIB + " MiB";
  }

  static String count(long number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }

  static String section(String id, String width, String title, String content) {
    return "<section id=\"" + id + "\" class=\"" + width + "\"><h2>" + title + "</h2>" + content
        + "</section>";
  }

  /**
   * A table that can be focused and scrolled by keyboard. Its id keeps the focus when the table is
   * replaced.
   *
   * @param section the section that contains it
   * @param kind a CSS class; may be empty
   * @param columns titles, optionally with a CSS class behind a bar; none for a table without a
   *     head
   */
  static String table(String section, String kind, String rows, String... columns) {
    var html = new StringBuilder("<div class=\"scroll\" id=\"").append(section)
        .append(".table\" tabindex=\"0\" role=\"region\" aria-label=\"").append(section)
        .append("\"><table").append(kind.isEmpty() ? "" : " class=\"" + kind + "\"").append('>');
    if (columns.length > 0) {
      html.append("<thead><tr>");
      for (var column : columns) {
        int bar = column.indexOf('|');
        html.append("<th scope=\"col\"")
            .append(bar < 0 ? "" : " class=\"" + column.substring(bar + 1) + "\"").append('>')
            .append(bar < 0 ? column : column.substring(0, bar)).append("</th>");
      }
      html.append("</tr></thead>");
    }
    return html.append("<tbody>").append(rows).append("</tbody></table></div>").toString();
  }

  /** A time of day. The script shows it in the time zone of the viewer. */
  static String time(Instant at) {
    var text = at.truncatedTo(ChronoUnit.SECONDS).toString();
    return "<time datetime=\"" + text + "\">" + text.substring(11, 19) + " UTC</time>";
  }
}
