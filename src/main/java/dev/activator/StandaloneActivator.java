package dev.activator;

import dev.activator.app.ActivatorConfiguration;
import dev.activator.standalone.StandalonePlatform;
import dev.activator.standalone.ScaledServices;
import dev.activator.standalone.policy.TcpPortTable;
import dev.activator.revision.RevisionId;
import dev.activator.settings.ClusterProperties;
import dev.activator.settings.OutboundProxyProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.StandaloneProperties;
import dev.activator.kube.ClusterAccess;
import java.util.random.RandomGenerator;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import reactor.netty.resources.LoopResources;

/** The activator in a cluster without Knative. It scales on an event loop that runs no requests. */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import(ActivatorConfiguration.class)
public class StandaloneActivator {
  @Bean(destroyMethod = "dispose")
  LoopResources platformResources() {
    return LoopResources.create("autoscaler", 1, true);
  }

  /** Not a bean, because a dry run has none. */
  static ScaledServices services(IdentityProperties identity, StandaloneProperties properties) {
    return new ScaledServices(new ScaledServices.Scope(identity.clusterDomain(),
        properties.rules(), properties.namespaces(), properties.maxTimeout(),
        new TcpPortTable.Allowed(properties.tcpRange(), properties.sniPort() > 0,
            properties.rules()))
        .sharedBy(new RevisionId(identity.systemNamespace(), properties.service())));
  }

  @Bean
  StandalonePlatform platform(ClusterProperties cluster, IdentityProperties identity,
      OutboundProxyProperties outboundProxy, StandaloneProperties properties,
      @Qualifier("platformResources") LoopResources resources, RandomGenerator random) {
    return new StandalonePlatform(
        new ClusterAccess.Through(cluster.access(), outboundProxy.proxies()),
        new StandalonePlatform.Identity(identity.podName(), identity.podIp(),
            identity.systemNamespace(), properties.lease(), properties.service(),
            properties.statsPort()),
        services(identity, properties), resources.onServer(LoopResources.DEFAULT_NATIVE), random,
        cluster.writeLimit());
  }
}
