package dev.activator.ext.admit;

import dev.activator.config.SettingPreconditions;
import dev.activator.settings.ListeningPort;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the port for the questions of gateways that send requests themselves.
 *
 * @param enabled whether the port is open; a client that reaches it can start workloads
 * @param port the port
 * @param requestDuration for how long a request that the gateway sends itself is counted for the
 *     autoscaler
 * @param endpointsDelay the time after which a gateway knows of the first ready pod
 */
@ConfigurationProperties("activator.admit")
public record GatewayAdmitProperties(@DefaultValue("false") boolean enabled,
    @DefaultValue("8016") int port, @DefaultValue("1s") Duration requestDuration,
    @DefaultValue("1s") Duration endpointsDelay) implements ListeningPort.Source {

  public GatewayAdmitProperties {
    SettingPreconditions.port("activator.admit.port", port);
    requestDuration = SettingPreconditions.positive("activator.admit.request-duration",
        requestDuration);
    endpointsDelay = SettingPreconditions.notNegative("activator.admit.endpoints-delay",
        endpointsDelay);
  }

  @Override
  public List<ListeningPort> ports(ListeningPort.Others others) {
    return enabled
        ? List.of(new ListeningPort("activator.admit.port", others.requestAddress(), port))
        : List.of();
  }
}
