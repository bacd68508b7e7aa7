package dev.activator.app.properties;

import dev.activator.config.SettingPreconditions;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The port for the questions of gateways that send requests themselves.
 *
 * @param enabled whether it is open; a client that reaches it can start workloads
 * @param port separate from those for requests, so that no host of a program leads to it
 * @param requestDuration for how long a request counts for the autoscaler once the gateway sends it, as
 *     its end is not seen
 * @param endpointsDelay how long after the first pod is ready a gateway knows of it
 */
@ConfigurationProperties("activator.admit")
public record GatewayAdmitProperties(@DefaultValue("false") boolean enabled,
    @DefaultValue("8016") int port, @DefaultValue("1s") Duration requestDuration,
    @DefaultValue("1s") Duration endpointsDelay) {

  public GatewayAdmitProperties {
    SettingPreconditions.port("activator.admit.port", port);
    requestDuration = SettingPreconditions.positive("activator.admit.request-duration",
        requestDuration);
    endpointsDelay = SettingPreconditions.notNegative("activator.admit.endpoints-delay",
        endpointsDelay);
  }
}
