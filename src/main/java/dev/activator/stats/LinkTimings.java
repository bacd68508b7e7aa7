package dev.activator.stats;

import java.time.Duration;

/**
 * How an {@link AutoscalerLink} finds out that nobody is there.
 *
 * @param handshake from the start of an attempt to an open connection
 * @param ping from one ping to the next
 * @param pong from the opening, or the last pong, to the next; some pings long
 */
public record LinkTimings(Duration handshake, Duration ping, Duration pong) {
  /** Those of Knative's {@code pkg/websocket/connection.go}. */
  public static final LinkTimings DEFAULT = new LinkTimings(Duration.ofSeconds(3),
      Duration.ofSeconds(10).dividedBy(3), Duration.ofSeconds(10));
}
