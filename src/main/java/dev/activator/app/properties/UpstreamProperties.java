package dev.activator.app.properties;

import dev.activator.config.GoDuration;
import dev.activator.config.SettingPreconditions;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Connections to pods that are kept open.
 *
 * @param maxIdle the most idle connections, to all pods; 0 for no limit
 * @param maxIdlePerHost the most idle connections to one pod; with 0, each connection has one request
 */
@ConfigurationProperties("activator.upstream")
public record UpstreamProperties(@DefaultValue("1000") int maxIdle,
    @DefaultValue("100") int maxIdlePerHost) {

  public UpstreamProperties {
    SettingPreconditions.variable(maxIdle >= 0, "MAX_IDLE_PROXY_CONNS", maxIdle,
        "must be a whole number, 0 or more");
    SettingPreconditions.variable(maxIdlePerHost >= 0, "MAX_IDLE_PROXY_CONNS_PER_HOST",
        maxIdlePerHost,
        "must be a whole number, 0 or more");
  }

  /**
   * How pods are probed. Durations are written as Go writes them.
   *
   * @param timeout the longest wait for an answer
   * @param frequency the longest pause between two probes of a pod that starts
   * @param repeatsPerSecond the most probes a second, over all revisions, of addresses that failed before, and of new ones that no request waits for; ten times as many where a host refuses connections and a request waits
   */
  @ConfigurationProperties("activator.probe")
  public record ProbeProperties(@DefaultValue("300ms") String timeout,
      @DefaultValue("200ms") String frequency, @DefaultValue("500") int repeatsPerSecond) {

    public ProbeProperties {
      requirePositive("PROBE_TIMEOUT", timeout);
      requirePositive("PROBE_FREQUENCY", frequency);
      SettingPreconditions.check(repeatsPerSecond >= 1, "activator.probe.repeats-per-second",
          repeatsPerSecond, "must be positive");
    }

    public Duration timeoutDuration() {
      return GoDuration.parse(timeout);
    }

    public Duration frequencyDuration() {
      return GoDuration.parse(frequency);
    }

    private static void requirePositive(String variable, String text) {
      SettingPreconditions.variable(isPositive(text), variable, text,
          "must be a duration such as 300ms, more than 0");
    }

    private static boolean isPositive(String text) {
      try {
        return GoDuration.parse(text).isPositive();
      } catch (IllegalArgumentException e) {
        return false;
      }
    }
  }
}
