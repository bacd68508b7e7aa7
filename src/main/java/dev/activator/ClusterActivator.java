package dev.activator;

import dev.activator.app.ActivatorConfiguration;
import dev.activator.platform.Platform;
import dev.activator.settings.ClusterProperties;
import dev.activator.settings.OutboundProxyProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.kube.ClusterAccess;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** The activator in a cluster, or next to one. */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import(ActivatorConfiguration.class)
public class ClusterActivator {
  @Bean
  public Platform platform(ClusterProperties cluster, IdentityProperties identity,
      OutboundProxyProperties outboundProxy) {
    return new Platform.InCluster(
        new ClusterAccess.Through(cluster.access(), outboundProxy.proxies()),
        cluster.autoscaler(identity));
  }
}
