package dev.activator.app;

import dev.activator.app.properties.AddressProperties;
import dev.activator.app.properties.ClusterProperties;
import dev.activator.app.properties.IdentityProperties;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.endpoints.AddressSource;
import dev.activator.cluster.policy.KubernetesVersion;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Informers in, our records out. */
@Configuration(proxyBeanMethods = false)
class ClusterConfiguration {
  @Bean(destroyMethod = "close")
  Cluster cluster(Surroundings surroundings, ClusterProperties properties,
      AddressProperties addresses, IdentityProperties identity, RandomGenerator random) {
    var cluster = new Cluster(surroundings::api, KubernetesVersion.parse(properties.minVersion()),
        properties.apiTimeout(), properties.reflectorSettings(), random,
        AddressSource.of(addresses.endpointsSource(), identity.podIp()));
    cluster.waitOutUnschedulable(properties.unschedulablePatience());
    return cluster;
  }
}
