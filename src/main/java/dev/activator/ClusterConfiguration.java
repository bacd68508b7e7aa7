package dev.activator;

import dev.activator.cluster.Cluster;
import dev.activator.cluster.address.AddressSource;
import dev.activator.cluster.connection.ClusterAccess;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.lifecycle.Part;
import dev.activator.properties.AddressProperties;
import dev.activator.properties.ClusterProperties;
import dev.activator.properties.EgressProperties;
import dev.activator.properties.IdentityProperties;
import dev.activator.proxy.policy.HostRule;
import java.net.URI;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

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

  @Bean
  @Profile("cluster")
  Surroundings surroundings(ClusterProperties cluster, IdentityProperties identity,
      EgressProperties egress) {
    return new InCluster(new ClusterAccess.Through(cluster.access(), egress.proxies()),
        cluster.autoscaler(identity));
  }

  /** A cluster starts and stops without us. */
  private record InCluster(ClusterAccess api, URI autoscaler) implements Surroundings {
    @Override
    public HostRule hosts() {
      return HostRule.NONE;
    }

    @Override
    public boolean areTheCallers() {
      return false;
    }

    @Override
    public List<Part> below() {
      return List.of();
    }

    @Override
    public List<Part> above(IntSupplier requestPort) {
      return List.of();
    }
  }
}
