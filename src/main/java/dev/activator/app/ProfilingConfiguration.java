package dev.activator.app;

import dev.activator.app.properties.ClusterProperties.ConfigMapProperties;
import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.MetricsServerProperties.ProfilingProperties;
import dev.activator.cluster.Cluster;
import dev.activator.config.ObservabilityConfig.Profiling;
import dev.activator.config.Parsed;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Profiles of the running process, for those who may switch them on. */
@Configuration(proxyBeanMethods = false)
class ProfilingConfiguration {
  @Bean(destroyMethod = "stop")
  ProfilingServer profilingServer(ProfilingProperties properties, Cluster cluster,
      IdentityProperties identity, ConfigMapProperties names) {
    var server = new ProfilingServer(properties.bindAddress(), properties.port());
    // On its own: what is wrong elsewhere in the map does not keep it from being switched.
    cluster.onConfigMap(identity.systemNamespace(), names.observability(), data -> {
      if (Profiling.parse(data) instanceof Parsed.Valid<Profiling>(var now)) {
        server.use(now);
      }
    });
    return server;
  }
}
