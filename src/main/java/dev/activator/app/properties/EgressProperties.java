package dev.activator.app.properties;

import dev.activator.config.Proxies;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The proxy on the way out of the cluster: to the Kubernetes API, and to who collects metrics and
 * traces over HTTP. Pods and the autoscaler are always asked directly.
 *
 * @param httpProxy the one for {@code http} URLs; {@code HTTP_PROXY}. Empty for none
 * @param httpsProxy the one for {@code https} URLs; {@code HTTPS_PROXY}. Empty for none
 * @param noProxy who is asked directly: names, addresses and networks with commas between, or {@code
 *     *}; {@code NO_PROXY}
 */
@ConfigurationProperties("activator.egress")
public record EgressProperties(@DefaultValue("") String httpProxy,
    @DefaultValue("") String httpsProxy, @DefaultValue("") String noProxy) {

  public EgressProperties {
    var _ = Proxies.of(httpProxy, httpsProxy, noProxy);
  }

  public Proxies proxies() {
    return Proxies.of(httpProxy, httpsProxy, noProxy);
  }
}
