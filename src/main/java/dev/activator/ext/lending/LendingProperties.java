package dev.activator.ext.lending;

import dev.activator.config.SettingPreconditions;
import dev.activator.settings.ListeningPort;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings for sharing the limits of pods among several activators.
 *
 * @param mode whether activators lend each other permits: {@code on}; {@code observe}, which only
 *     links them; or {@code off}
 * @param port the port for other activators, the same for all; it is not part of a Service
 */
@ConfigurationProperties("activator.lending")
public record LendingProperties(@DefaultValue("on") Mode mode, @DefaultValue("8014") int port)
    implements ListeningPort.Source {
  public enum Mode {
    ON,
    OBSERVE,
    OFF
  }

  public LendingProperties {
    SettingPreconditions.port("activator.lending.port", port);
  }

  @Override
  public List<ListeningPort> ports(ListeningPort.Others others) {
    return mode == Mode.OFF || others.isEmbedded()
        ? List.of()
        : List.of(new ListeningPort("activator.lending.port", others.requestAddress(), port));
  }
}
