package dev.activator.ext.console;

import static dev.activator.ext.console.Html.time;

import dev.activator.ext.console.RevisionHourHistory.Kind;
import dev.activator.ext.console.RevisionHourHistory.LastHour;
import dev.activator.ext.console.RevisionHourHistory.Mark;
import dev.activator.observability.ColdStarts.ColdStart;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Draws the last hour of a revision as lanes on one time axis, each with its own scale. */
final class RevisionTimeline {
  private static final int MINUTES = RevisionHourHistory.MINUTES;
  private static final int QUARTER = 15;
  private static final int HEIGHT = 40;
  private static final int LOW = 14;
  /** The width of a minute in units of the picture. */
  private static final int MINUTE = 10;

  private RevisionTimeline() {}

  static String of(LastHour hour, List<ColdStart> starts, Instant now) {
    var html = new StringBuilder("<div class=\"timeline\">");
    lane(html, "requests a minute", hour.peak(Kind.REQUESTS),
        area("requests", hour.of(Kind.REQUESTS), hour.peak(Kind.REQUESTS))
            + bars("errors", hour.of(Kind.ERRORS), hour.peak(Kind.REQUESTS)),
        "at most " + hour.peak(Kind.REQUESTS) + " a minute, " + hour.sum(Kind.ERRORS) + " failed",
        HEIGHT);
    lane(html, "queued", hour.peak(Kind.QUEUED),
        area("queued", hour.of(Kind.QUEUED), hour.peak(Kind.QUEUED)),
        "at most " + hour.peak(Kind.QUEUED), HEIGHT);
    lane(html, "pods", hour.peak(Kind.PODS), area("pods", hour.of(Kind.PODS), hour.peak(Kind.PODS)),
        "at most " + hour.peak(Kind.PODS), HEIGHT);
    var begun = new StringBuilder();
    for (var start : starts) {
      double width = Math.max(3.0, start.phases().totalNanos() / 6e10 * MINUTE);
      rect(begun, "start", at(start.when(), now), width, LOW);
    }
    lane(html, "cold starts", 0, begun.toString(), Html.count(starts.size(), "cold start"), LOW);
    var changes = new StringBuilder();
    hour.marks().forEach(mark -> rect(changes, mark.bad() ? "bad" : "change", at(mark.at(), now),
        4, LOW));
    lane(html, "changes", 0, changes.toString(), label(hour.marks()), LOW);
    html.append("<span></span><span></span><p class=\"axis\">");
    for (int minute = MINUTES; minute >= 0; minute -= QUARTER) {
      html.append(minute == 0
          ? "<span>now</span>"
          : "<span>" + minutes(now.minus(Duration.ofMinutes(minute))) + "</span>");
    }
    return html.append("</p></div>").toString();
  }

  /** A time without seconds, so that the page changes only once a minute. */
  private static String minutes(Instant at) {
    return time(Instant.ofEpochSecond(at.getEpochSecond() / 60 * 60)).replace("<time ",
        "<time data-minutes=\"1\" ");
  }

  private static String label(List<Mark> marks) {
    return marks.isEmpty() ? "none" : Html.count(marks.size(), "change");
  }

  /** The horizontal position of a time. The current minute is the last one in the picture. */
  private static double at(Instant when, Instant now) {
    double minutesAgo = Duration.between(when, now).toMillis() / 60_000.0;
    return (MINUTES - minutesAgo) * MINUTE;
  }

  /** @param max the maximum of the scale; 0 for no scale */
  private static void lane(StringBuilder to, String name, int max, String picture, String label,
      int height) {
    to.append("<span class=\"lane\">").append(name).append("</span><span class=\"scale\">");
    if (max > 0) {
      to.append("<b>").append(max).append("</b><b>0</b>");
    }
    to.append("</span><svg viewBox=\"0 0 ").append(MINUTES * MINUTE).append(' ').append(height)
        .append("\" class=\"").append(height == LOW ? "low" : "high")
        .append("\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"").append(name)
        .append(": ").append(label).append("\"><title>").append(name).append(": ").append(label)
        .append("</title>");
    for (int minute = QUARTER; minute < MINUTES; minute += QUARTER) {
      to.append("<path class=\"grid\" d=\"M").append(minute * MINUTE).append(" 0v").append(height)
          .append("\"/>");
    }
    to.append(picture).append("</svg>");
  }

  private static String area(String kind, int[] points, int peak) {
    if (peak == 0) {
      return "";
    }
    var path = new StringBuilder("<path class=\"").append(kind).append("\" d=\"M0 ").append(HEIGHT);
    for (int i = 0; i < points.length; i++) {
      path.append('V').append(y(points[i], peak)).append('h').append(MINUTE);
    }
    return path.append('V').append(HEIGHT).append("z\"/>").toString();
  }

  private static String bars(String kind, int[] points, int peak) {
    var path = new StringBuilder();
    for (int i = 0; i < points.length; i++) {
      if (points[i] > 0) {
        path.append('M').append(i * MINUTE).append(' ').append(HEIGHT).append('V')
            .append(Math.min(y(points[i], peak), HEIGHT - 2)).append('h').append(MINUTE)
            .append('V').append(HEIGHT).append('z');
      }
    }
    return path.isEmpty() ? "" : "<path class=\"" + kind + "\" d=\"" + path + "\"/>";
  }

  private static int y(int value, int peak) {
    return value == 0
        ? HEIGHT
        : Math.clamp(Math.round(HEIGHT - (HEIGHT - 2.0f) * value / Math.max(1, peak)), 1,
            HEIGHT - 1);
  }

  private static void rect(StringBuilder to, String kind, double x, double width, int height) {
    if (x + width > 0) {
      to.append("<rect class=\"").append(kind).append("\" x=\"").append(Math.round(x))
          .append("\" y=\"2\" width=\"").append(Math.round(width)).append("\" height=\"")
          .append(height - 4).append("\"/>");
    }
  }

  /**
   * The picture in a row of the list, with requests as an area, failed ones in red, and the queue
   * as a line.
   */
  static String row(int[] requests, int[] errors, int[] queued) {
    int peak = max(requests);
    int deepest = max(queued);
    if (peak == 0 && deepest == 0) {
      // Short, because most rows of a long list have no requests.
      return "<span class=\"spark\"><span></span><svg role=\"img\" aria-label=\"no requests\"/>"
          + "</span>";
    }
    var label = "at most " + Html.count(peak, "request") + " a minute in the last hour, and "
        + deepest + " queued";
    var line = new StringBuilder();
    if (deepest > 0) {
      line.append("<path class=\"queue\" d=\"M0 ").append(y(queued[0], deepest));
      for (int i = 1; i < queued.length; i++) {
        line.append('L').append(i * MINUTE + MINUTE / 2).append(' ').append(y(queued[i], deepest));
      }
      line.append("\"/>");
    }
    return "<span class=\"spark\"><span class=\"scale\">"
        + (peak == 0 ? "" : "<b>" + peak + "</b><b>0</b>") + "</span>"
        + "<svg viewBox=\"0 0 " + MINUTES * MINUTE + " " + HEIGHT
        + "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" + label + "\"><title>"
        + label
        + "</title>" + area("requests", requests, peak) + bars("errors", errors, peak) + line
        + "</svg></span>";
  }

  private static int max(int[] points) {
    int max = 0;
    for (int point : points) {
      max = Math.max(max, point);
    }
    return max;
  }
}
