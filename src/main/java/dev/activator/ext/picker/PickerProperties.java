package dev.activator.ext.picker;

import dev.activator.config.SettingPreconditions;
import dev.activator.settings.ListeningPort;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the endpoint picker.
 *
 * @param enabled whether the port is open; a client that reaches it can start workloads
 * @param port the port for questions of gateways: which pod a request may run on
 * @param fallbacks how many other pods an answer names after the chosen one, for requests to a
 *     revision without a concurrency limit
 * @param service the Service in the activators' namespace that leads to the port. InferencePools of that
 *     namespace whose endpoint picker it is get a Service for their pods; if empty, none is read
 */
@ConfigurationProperties("activator.picker")
public record PickerProperties(@DefaultValue("false") boolean enabled,
    @DefaultValue("9002") int port, @DefaultValue("2") int fallbacks,
    @DefaultValue("") String service)
    implements ListeningPort.Source {

  public PickerProperties {
    SettingPreconditions.port("activator.picker.port", port);
    SettingPreconditions.check(fallbacks >= 0, "activator.picker.fallbacks", fallbacks,
        "must be at least 0");
    if (!service.isEmpty()) {
      SettingPreconditions.name("activator.picker.service", service, "Service");
    }
  }

  @Override
  public List<ListeningPort> ports(ListeningPort.Others others) {
    return enabled
        ? List.of(new ListeningPort("activator.picker.port", others.requestAddress(), port))
        : List.of();
  }
}
