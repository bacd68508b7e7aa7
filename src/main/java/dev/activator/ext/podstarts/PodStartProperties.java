package dev.activator.ext.podstarts;

import dev.activator.config.SettingPreconditions;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings for pods that do not start.
 *
 * @param unschedulableTimeout how long requests wait for pods that no node takes, or whose volumes
 *     or network do not get ready, before they are refused; should be longer than adding a node
 *     takes
 */
@ConfigurationProperties("activator.cluster")
public record PodStartProperties(@DefaultValue("60s") Duration unschedulableTimeout) {
  public PodStartProperties {
    unschedulableTimeout = SettingPreconditions.positive("activator.cluster.unschedulable-timeout",
        unschedulableTimeout);
  }
}
