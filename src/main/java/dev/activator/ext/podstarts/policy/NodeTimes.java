package dev.activator.ext.podstarts.policy;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * How long the last pods waited for a node that was added for them.
 *
 * @param recent oldest first
 */
public record NodeTimes(List<Duration> recent) {
  /** As long as cluster autoscalers need in most clouds. */
  private static final Duration GUESS = Duration.ofMinutes(1);
  private static final int REMEMBERED = 8;
  public static final NodeTimes UNKNOWN = new NodeTimes(List.of());

  public NodeTimes {
    recent = List.copyOf(recent);
  }

  public NodeTimes with(Duration now) {
    return new NodeTimes(Stream.concat(recent.stream().skip(recent.size() / REMEMBERED),
        Stream.of(now)).toList());
  }

  /** The median; a minute if nothing is known. */
  public Duration usual() {
    return recent.isEmpty() ? GUESS : recent.stream().sorted().toList().get(recent.size() / 2);
  }
}
