package dev.activator.observability;

import java.util.Locale;

/**
 * The time that a request spent in each phase, until its response began or it ended without one.
 * The phases leave no gaps.
 *
 * <p><b>Units.</b> Nanoseconds, not negative.
 *
 * @param pod the time without a listed pod
 * @param probe the time in which pods were listed but none had answered a probe
 * @param queue the time until the last permit, including failed attempts
 * @param dial the time until there was a connection
 * @param firstByte the time until the pod began to respond
 */
public record RequestPhases(long pod, long probe, long queue, long dial, long firstByte) {

  public enum Phase {
    POD,
    PROBE,
    QUEUE,
    DIAL,
    FIRST_BYTE;

    private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** Whether warm requests have this phase, too. */
    private boolean isOfEveryRequest() {
      return !isSplit();
    }

    /** Whether a {@link ColdStarts.ColdStart} has more detail. */
    public boolean isSplit() {
      return this == POD || this == PROBE;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * The start of a revision from zero until its first pod answers.
   *
   * @param number the number of the revision's start, from 1
   * @param unlistedNanos how long no pod was listed while the request waited
   * @param publishedNanos when the first pod answered, by the loops' clock; {@link Long#MAX_VALUE}
   *     if none has answered yet
   */
  public record PodStart(long number, long unlistedNanos, long publishedNanos) {

    public RequestPhases until(long arrivedNanos, long grantedNanos) {
      long waited = grantedNanos - arrivedNanos;
      // Uses differences, because the clock may overflow.
      long published = publishedNanos == Long.MAX_VALUE
          ? waited
          : Math.clamp(publishedNanos - arrivedNanos, 0, waited);
      long pod = Math.clamp(unlistedNanos, 0, published);
      return new RequestPhases(pod, published - pod, waited - published, 0, 0);
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

  /**
   * The value of the header {@code Server-Timing}. The phases add up to the total.
   *
   * <p><b>Source.</b> W3C's Server Timing: milliseconds.
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
