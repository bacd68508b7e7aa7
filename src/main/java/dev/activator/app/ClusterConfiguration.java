package dev.activator.app;

import dev.activator.app.properties.ClusterProperties;
import dev.activator.app.properties.ClusterProperties.AddressProperties;
import dev.activator.app.properties.IdentityProperties;
import dev.activator.cluster.Cluster;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Informers in, our records out. */
@Configuration(proxyBeanMethods = false)
class ClusterConfiguration {
  @Bean(destroyMethod = "close")
  Cluster cluster(Surroundings surroundings, ClusterProperties properties,
      AddressProperties addresses, IdentityProperties identity, RandomGenerator random) {
    return properties.cluster(surroundings::api, properties.apiTimeout(), random, addresses,
        identity);
  }
}
