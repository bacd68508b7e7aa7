package dev.activator.app;

import dev.activator.app.properties.UpstreamProperties;
import dev.activator.app.properties.UpstreamProperties.ProbeProperties;
import dev.activator.backend.BackendSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.backend.policy.ProbeTraits.MeshAddressing;
import dev.activator.config.LiveSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.meter.Meters;
import dev.activator.tls.PodTls;
import dev.activator.upstream.Upstreams.IdleLimits;
import dev.activator.upstream.Upstreams;
import dev.activator.upstream.HttpProbeClient;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Which pods answer, over connections that requests use afterwards. */
@Configuration(proxyBeanMethods = false)
class BackendConfiguration {
  @Bean(destroyMethod = "close")
  Upstreams upstreams(LoopGroup loops, UpstreamProperties properties, RandomGenerator random,
      PodTls tls, Surroundings surroundings) {
    var limits = new IdleLimits(properties.maxIdle(), properties.maxIdlePerHost(),
        surroundings.idleTimeout());
    return new Upstreams(loops, limits, random, tls);
  }

  @Bean(destroyMethod = "stop")
  RevisionBackendsManager backends(LoopGroup loops, Upstreams upstreams, Meters meters,
      ProbeProperties probes,
      LiveSettings<NetworkConfig> network, RandomGenerator random) {
    var settings = new BackendSettings(() -> addressing(network.get()), probes.timeoutDuration(),
        probes.frequencyDuration(), probes.repeatsPerSecond());
    var backends = new RevisionBackendsManager(loops::loopFor, loops.loopFor("probes"),
        new MeasuredProbes(new HttpProbeClient(upstreams), meters), settings, random);
    network.onChange((before, now) -> {
      if (!addressing(before).equals(addressing(now))) {
        backends.readdressed();
      }
    });
    return backends;
  }

  private static MeshAddressing addressing(NetworkConfig network) {
    return new MeshAddressing(network.mesh(), network.passthrough());
  }
}
