package dev.activator.app;

import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.TlsProperties;
import dev.activator.cluster.Cluster;
import dev.activator.config.LiveSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.tls.PodTls;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** TLS: who is believed, and what is shown. */
@Configuration(proxyBeanMethods = false)
public class TlsConfiguration {
  @Bean
  PodTls podTls() {
    return new PodTls();
  }

  @Bean
  InternalTls internalTls(Cluster cluster, IdentityProperties identity, PodTls pods,
      TlsProperties tls, LiveSettings<NetworkConfig> network) {
    return new InternalTls(cluster, identity.systemNamespace(),
        () -> network.get().systemInternalTls(), pods, tls.server());
  }
}
