package dev.activator.console;

import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.request.Phases.Phase;
import dev.activator.observability.request.Phases;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One cold start, as JSON.
 *
 * @param when its request came, in UTC
 * @param totalMillis from there to the first byte of the response, or to its end without one
 * @param phaseMillis the same by what it went by with, in order
 * @param status what the caller was told
 */
record ColdStartReport(String revision, String when, double totalMillis,
    Map<String, Double> phaseMillis, String outcome, int status) {
  private static final double NANOS_A_MILLI = 1e6;

  static ColdStartReport of(ColdStart start) {
    return new ColdStartReport(start.revision().toString(), start.when().toString(),
        start.phases().totalNanos() / NANOS_A_MILLI, phases(start.phases()),
        start.outcome().toString(), start.status());
  }

  private static Map<String, Double> phases(Phases phases) {
    var millis = new LinkedHashMap<String, Double>();
    for (var phase : Phase.values()) {
      millis.put(phase.toString(), phases.of(phase) / NANOS_A_MILLI);
    }
    return millis;
  }
}
