package dev.activator.app;

import dev.activator.app.properties.ClusterProperties;
import dev.activator.app.properties.EgressProperties;
import dev.activator.app.properties.IdentityProperties;
import dev.activator.cluster.ClusterAccess;
import dev.activator.lifecycle.Part;
import dev.activator.proxy.policy.HostRule;
import dev.activator.upstream.Upstreams.IdleLimits;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What a cluster has around the activator. */
@Configuration(proxyBeanMethods = false)
public class InClusterConfiguration {
  @Bean
  public Surroundings surroundings(ClusterProperties cluster, IdentityProperties identity,
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
    public Duration idleTimeout() {
      return IdleLimits.DEFAULT.timeout();
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
