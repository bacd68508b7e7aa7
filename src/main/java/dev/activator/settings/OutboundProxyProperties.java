package dev.activator.settings;

import dev.activator.config.OutboundProxies;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the proxy for outgoing connections: to the Kubernetes API, and to collectors of
 * metrics and traces over HTTP. Pods and the autoscaler are always reached directly.
 *
 * @param httpProxy the proxy for {@code http} URLs. Empty for none
 * @param httpsProxy the proxy for {@code https} URLs. Empty for none
 * @param noProxy hosts that are reached directly: names, addresses and networks, separated by
 *     commas, or {@code *}
 */
@ConfigurationProperties("activator.egress")
public record OutboundProxyProperties(@DefaultValue("") String httpProxy,
    @DefaultValue("") String httpsProxy, @DefaultValue("") String noProxy) {

  public OutboundProxyProperties {
    var _ = OutboundProxies.of(httpProxy, httpsProxy, noProxy);
  }

  public OutboundProxies proxies() {
    return OutboundProxies.of(httpProxy, httpsProxy, noProxy);
  }
}
