package dev.activator.ext.actuators;

import dev.activator.config.SettingPreconditions;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What {@code spec.wake} of ScaledServices may start and stop.
 *
 * @param patch the resources whose objects may be patched, separated by commas, such as
 *     {@code sandboxes.agents.x-k8s.io}; none if it is empty
 */
@ConfigurationProperties("activator.actuators")
public record ActuatorsProperties(@DefaultValue Set<String> patch) {
  public ActuatorsProperties {
    patch = Set.copyOf(patch);
    for (var resource : patch) {
      SettingPreconditions.check(resource.matches("[a-z0-9-]+([.][a-z0-9-]+)*"),
          "activator.actuators.patch", "'" + resource + "'",
          "must be a resource and its group, such as sandboxes.agents.x-k8s.io");
    }
  }
}
