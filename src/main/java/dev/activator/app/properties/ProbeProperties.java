package dev.activator.app.properties;

import dev.activator.config.GoDuration;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How pods are probed. Durations are written as Go writes them.
 *
 * @param timeout the longest wait for an answer; {@code PROBE_TIMEOUT}
 * @param frequency the longest pause between two probes of a pod that starts; {@code
 *     PROBE_FREQUENCY}
 * @param repeatsPerSecond the most probes of addresses that failed their last one, all revisions
 *     together
 */
@ConfigurationProperties("activator.probe")
public record ProbeProperties(@DefaultValue("300ms") String timeout,
    @DefaultValue("200ms") String frequency, @DefaultValue("500") int repeatsPerSecond) {

  public ProbeProperties {
    positive("PROBE_TIMEOUT", timeout);
    positive("PROBE_FREQUENCY", frequency);
    if (repeatsPerSecond < 1) {
      throw new IllegalArgumentException("activator.probe.repeats-per-second is "
          + repeatsPerSecond + ", but must be positive");
    }
  }

  public Duration timeoutDuration() {
    return GoDuration.parse(timeout);
  }

  public Duration frequencyDuration() {
    return GoDuration.parse(frequency);
  }

  private static void positive(String variable, String text) {
    if (!isPositive(text)) {
      throw new IllegalArgumentException(
          variable + " is '" + text + "', but must be a duration such as 300ms, more than 0");
    }
  }

  private static boolean isPositive(String text) {
    try {
      return GoDuration.parse(text).isPositive();
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }
}
