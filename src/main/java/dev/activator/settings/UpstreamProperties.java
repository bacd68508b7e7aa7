package dev.activator.settings;

import dev.activator.config.GoDuration;
import dev.activator.config.SettingPreconditions;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings for idle connections to pods.
 *
 * @param maxIdle the maximum number of idle connections to all pods; 0 for no limit
 * @param maxIdlePerHost the maximum number of idle connections to one pod; with 0, each connection
 *     serves one request
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
   * The settings for probing pods. Durations are in Go's form.
   *
   * @param timeout the maximum timeout of a probe
   * @param frequency the maximum pause between two probes of a starting pod
   * @param repeatsPerSecond the maximum number of probes a second, over all revisions, of addresses
   *     that failed before or for which no request waits; ten times higher for addresses that
   *     refuse connections while a request waits
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
