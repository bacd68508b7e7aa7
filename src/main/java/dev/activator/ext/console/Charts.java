package dev.activator.ext.console;

import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.RequestPhases.Phase;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Draws charts as SVG. They have no style attributes, because the content security policy does not
 * allow them.
 */
final class Charts {
  private static final int WIDTH = 240;
  private static final int HEIGHT = 36;
  private static final int BAR = 400;
  private static final double NANOS_A_MILLI = 1e6;

  private Charts() {}

  /** The last minute: requests a second as an area, the queue as a line. */
  static String minute(MinuteHistory.LastMinute minute) {
    String label = Html.count(minute.requestsInAll(), "request") + " in the last minute, at most "
        + minute.peakRequests() + " a second; at most " + minute.peakQueued() + " queued";
    return "<svg class=\"minute\" viewBox=\"0 0 " + WIDTH + " " + HEIGHT
        + "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" + label + "\"><title>"
        + label + "</title><polygon class=\"requests\" points=\"0," + HEIGHT + " "
        + points(minute.requests(), minute.peakRequests()) + " " + WIDTH + "," + HEIGHT
        + "\"/><polyline class=\"queue\" points=\"" + points(minute.queue(), minute.peakQueued())
        + "\"/></svg>";
  }

  private static String points(int[] values, int max) {
    var points = new StringBuilder();
    for (int i = 0; i < values.length; i++) {
      points.append(points.isEmpty() ? "" : " ").append(i * WIDTH / (values.length - 1)).append(',')
          .append(number(HEIGHT - 1 - (HEIGHT - 3.0) * values[i] / Math.max(1, max)));
    }
    return points.toString();
  }

  /**
   * A start in progress, with a mark where a start usually ends.
   *
   * @param phases in nanoseconds, in order
   * @param usual zero if unknown
   */
  static String start(Duration requested, Map<StartPhase, Long> phases, Duration usual) {
    double scale = Math.max(3000, Math.max(requested.toMillis(), usual.toMillis()) * 1.15);
    var label = "requested " + Html.length(requested) + " ago: " + label(phases)
        + (usual.isZero() ? "" : "; a start usually takes " + Html.length(usual));
    var svg = bar(label);
    rect(svg, "track", 0, BAR);
    rects(svg, phases, scale * NANOS_A_MILLI);
    if (!usual.isZero()) {
      svg.append("<rect class=\"usual\" x=\"").append(number(BAR * usual.toMillis() / scale - 1))
          .append("\" y=\"0\" width=\"2\" height=\"18\"/>");
    }
    return svg.append("</svg>").toString();
  }

  /**
   * @param longestNanos the length of the common scale
   * @param medianNanos the median of the revision's starts, which gets a mark; 0 for none
   */
  static String finished(ColdStart start, long longestNanos, long medianNanos) {
    var phases = phases(start);
    var svg = bar(label(phases));
    rects(svg, phases, Math.max(1, longestNanos));
    if (medianNanos > 0) {
      svg.append("<rect class=\"median\" x=\"")
          .append(number((double) (BAR - 2) * medianNanos / Math.max(1, longestNanos)))
          .append("\" y=\"0\" width=\"2\" height=\"18\"/>");
    }
    return svg.append("</svg>").toString();
  }

  /** The phases, with pod and probe in more detail if that is known. */
  private static Map<Object, Long> phases(ColdStart start) {
    var phases = new LinkedHashMap<Object, Long>(start.start());
    for (var phase : Phase.values()) {
      if (start.start().isEmpty() || !phase.isSplit()) {
        phases.put(phase, start.phases().of(phase));
      }
    }
    return phases;
  }

  private static String label(Map<?, Long> phases) {
    return phases.entrySet().stream()
        .map(phase -> phase.getKey() + " " + Html.length(Duration.ofNanos(phase.getValue())))
        .collect(Collectors.joining(", "));
  }

  private static void rects(StringBuilder svg, Map<?, Long> phases, double scaleNanos) {
    double at = 0;
    for (var phase : phases.entrySet()) {
      double width = BAR * phase.getValue() / scaleNanos;
      if (width > 0) {
        rect(svg, phase.getKey().toString(), at, Math.max(1, width));
      }
      at += width;
    }
  }

  private static StringBuilder bar(String label) {
    return new StringBuilder("<svg class=\"start\" viewBox=\"0 0 ").append(BAR)
        .append(" 18\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"").append(label)
        .append("\"><title>").append(label).append("</title>");
  }

  private static void rect(StringBuilder to, String kind, double x, double width) {
    to.append("<rect class=\"").append(kind).append("\" x=\"").append(number(x))
        .append("\" y=\"3\" width=\"").append(number(width)).append("\" height=\"12\"/>");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
