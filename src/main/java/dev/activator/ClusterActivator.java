package dev.activator;

import dev.activator.app.ActivatorConfiguration;
import dev.activator.app.CommandLine;
import dev.activator.app.Mode;
import dev.activator.app.Surroundings;
import dev.activator.app.properties.ClusterProperties;
import dev.activator.app.properties.EgressProperties;
import dev.activator.app.properties.IdentityProperties;
import dev.activator.cluster.ClusterAccess;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** The activator in a cluster, or next to one. */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import(ActivatorConfiguration.class)
public class ClusterActivator {
  /** For Boot's ahead-of-time processing only. */
  public static void main(String[] args) {
    ActivatorApplication.run(CommandLine.parse(args), Mode.CLUSTER);
  }

  @Bean
  public Surroundings surroundings(ClusterProperties cluster, IdentityProperties identity,
      EgressProperties egress) {
    return new Surroundings.InCluster(
        new ClusterAccess.Through(cluster.access(), egress.proxies()),
        cluster.autoscaler(identity));
  }
}
