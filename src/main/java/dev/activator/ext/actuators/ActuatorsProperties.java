package dev.activator.ext.actuators;

import dev.activator.config.SettingPreconditions;
import java.util.List;
import java.util.Set;
import okhttp3.HttpUrl;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What {@code spec.wake} of ScaledServices may start and stop.
 *
 * @param patch the resources whose objects may be patched, separated by commas, such as
 *     {@code sandboxes.agents.x-k8s.io}; none if it is empty
 * @param http the prefixes of URLs that may be called, separated by commas, such as
 *     {@code https://machines.example.com/v1}; none if it is empty
 */
@ConfigurationProperties("activator.actuators")
public record ActuatorsProperties(@DefaultValue Set<String> patch,
    @DefaultValue Set<String> http) {
  public ActuatorsProperties {
    patch = Set.copyOf(patch);
    http = Set.copyOf(http);
    http.forEach(ActuatorsProperties::prefix);
    for (var resource : patch) {
      SettingPreconditions.check(resource.matches("[a-z0-9-]+([.][a-z0-9-]+)*"),
          "activator.actuators.patch", "'" + resource + "'",
          "must be a resource and its group, such as sandboxes.agents.x-k8s.io");
    }
  }

  /** Parses the prefixes of URLs. */
  List<HttpUrl> prefixes() {
    return http.stream().map(ActuatorsProperties::prefix).toList();
  }

  private static HttpUrl prefix(String text) {
    try {
      return WakeUrl.parsePrefix("it", text);
    } catch (IllegalArgumentException e) {
      SettingPreconditions.check(false, "activator.actuators.http", "'" + text + "'",
          String.valueOf(e.getMessage()).substring("it ".length()));
      throw e;
    }
  }
}
