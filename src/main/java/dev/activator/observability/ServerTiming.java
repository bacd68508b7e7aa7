package dev.activator.observability;

import dev.activator.observability.request.Phases;
import dev.activator.observability.request.RequestRecord;
import dev.activator.revision.Revision;
import java.util.Locale;

/**
 * The header that tells a caller what its request waited for. The phases add up to the total.
 *
 * <p>
 * <b>Source.</b> W3C's Server Timing: durations in milliseconds.
 */
public final class ServerTiming {
  public static final String HEADER = "Server-Timing";
  static final String ANNOTATION = "activator.dev/server-timing";

  private ServerTiming() {}

  /** Whether a revision's responses are to have it. */
  public static boolean isWanted(Revision revision) {
    return "enabled".equalsIgnoreCase(revision.annotations().get(ANNOTATION));
  }

  /** The header of a response that begins now. */
  public static String of(RequestRecord request) {
    var phases = request.phases();
    var text = new StringBuilder(96);
    for (var phase : Phases.Phase.values()) {
      if (phases.of(phase) > 0 || phase.isOfEveryRequest()) {
        add(text, phase.toString(), phases.of(phase));
      }
    }
    add(text, "total", phases.totalNanos());
    return text.toString();
  }

  private static void add(StringBuilder to, String name, long nanos) {
    to.append(to.isEmpty() ? "" : ", ").append(name).append(";dur=")
        .append(String.format(Locale.ROOT, "%.3f", nanos / 1e6));
  }
}
