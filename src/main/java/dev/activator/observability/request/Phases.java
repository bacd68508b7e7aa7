package dev.activator.observability.request;

import java.util.Locale;

/**
 * What the time of a request went by with until its response began, or until it was given up. The
 * phases follow one another and leave no gap.
 *
 * <p>
 * <b>Units.</b> Nanoseconds; none is negative.
 *
 * @param pod until a pod was listed, if there was none
 * @param probe from then until it answered a probe
 * @param queue from then until it was the request's turn; attempts that failed are in here
 * @param dial until there was a connection
 * @param firstByte until the pod began to respond
 */
public record Phases(long pod, long probe, long queue, long dial, long firstByte) {

  /** A part of the time. */
  public enum Phase {
    POD, PROBE, QUEUE, DIAL, FIRST_BYTE;

    private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** Whether there is one in a request that finds a pod ready, too. */
    public boolean isOfEveryRequest() {
      return this != POD && this != PROBE;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** The length of one of them. */
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
}
