package dev.activator.observability;

import dev.activator.revision.Revision;
import java.util.Locale;

/**
 * How a request's time was spent until its response began, or it ended without one. Phases leave no
 * gaps.
 *
 * <p>
 * <b>Units.</b> Nanoseconds, not negative.
 *
 * @param pod until a pod was listed
 * @param probe until that pod answered a probe
 * @param queue until the last permit, failed attempts included
 * @param dial until there was a connection
 * @param firstByte until the pod began to respond
 */
public record Phases(long pod, long probe, long queue, long dial, long firstByte) {
  public static final String SERVER_TIMING = "Server-Timing";
  private static final String ANNOTATION = "activator.dev/server-timing";

  public enum Phase {
    POD, PROBE, QUEUE, DIAL, FIRST_BYTE;

    private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** Whether warm requests have this phase, too. */
    private boolean isOfEveryRequest() {
      return this != POD && this != PROBE;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * When a revision got its first pod that answers, on the loops' clock.
   *
   * @param number of the revision's start, from 1
   */
  public record PodStart(long number, long listedNanos, long publishedNanos) {

    Phases until(long arrivedNanos, long grantedNanos) {
      long listed = Math.clamp(listedNanos, arrivedNanos, grantedNanos);
      long published = Math.clamp(publishedNanos, listed, grantedNanos);
      return new Phases(listed - arrivedNanos, published - listed, grantedNanos - published, 0, 0);
    }
  }

  public long of(Phase phase) {
    return switch (phase) {
      case POD -> pod;
      case PROBE -> probe;
      case QUEUE -> queue;
      case DIAL -> dial;
      case FIRST_BYTE -> firstByte;
    };
  }

  public long totalNanos() {
    return pod + probe + queue + dial + firstByte;
  }

  public static boolean areShown(Revision revision) {
    return "enabled".equalsIgnoreCase(revision.annotations().get(ANNOTATION));
  }

  /**
   * The phases add up to the total.
   *
   * <p>
   * <b>Source.</b> W3C's Server Timing: milliseconds.
   */
  public String serverTiming() {
    var text = new StringBuilder(96);
    for (var phase : Phase.values()) {
      if (of(phase) > 0 || phase.isOfEveryRequest()) {
        add(text, phase.toString(), of(phase));
      }
    }
    add(text, "total", totalNanos());
    return text.toString();
  }

  private static void add(StringBuilder to, String name, long nanos) {
    to.append(to.isEmpty() ? "" : ", ").append(name).append(";dur=")
        .append(String.format(Locale.ROOT, "%.3f", nanos / 1e6));
  }
}
