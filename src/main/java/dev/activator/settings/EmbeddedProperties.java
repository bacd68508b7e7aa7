package dev.activator.settings;

import dev.activator.config.SettingPreconditions;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of embedded mode.
 *
 * @param apiPort the port of the Kubernetes API; 0 for any free one
 * @param autoscalerPort the port of the autoscaler's WebSocket; 0 for any free one
 * @param maxPods the maximum number of pods of a revision that sets no maximum
 * @param logOutput whether lines that processes print are logged
 * @param stableWindow the time over which the load of a revision that sets no window is averaged
 */
@ConfigurationProperties("activator.embedded")
public record EmbeddedProperties(@DefaultValue("8001") int apiPort,
    @DefaultValue("0") int autoscalerPort, @DefaultValue("10") int maxPods,
    @DefaultValue("true") boolean logOutput, @DefaultValue("6s") Duration stableWindow) {

  public EmbeddedProperties {
    SettingPreconditions.port("activator.embedded.api-port", apiPort);
    SettingPreconditions.port("activator.embedded.autoscaler-port", autoscalerPort);
    SettingPreconditions.check(maxPods >= 1, "activator.embedded.max-pods", maxPods,
        "must be at least 1");
    SettingPreconditions.check(
        stableWindow.compareTo(Duration.ofSeconds(6)) >= 0
            && stableWindow.compareTo(Duration.ofHours(1)) <= 0 && stableWindow.toNanosPart() == 0,
        "activator.embedded.stable-window", stableWindow,
        "must be whole seconds from 6s to 1h");
  }
}
