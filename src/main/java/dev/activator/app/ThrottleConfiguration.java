package dev.activator.app;

import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.ServingProperties;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.cluster.Cluster;
import dev.activator.loop.LoopGroup;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.RevisionOptions;
import dev.activator.tls.PodTls;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Which request runs when and where; and the stages joined, as the picture has them. */
@Configuration(proxyBeanMethods = false)
class ThrottleConfiguration {
  @Bean
  Throttler throttler(LoopGroup loops, Cluster cluster, RevisionBackendsManager backends,
      IdentityProperties identity, ServingProperties serving, RandomGenerator random, PodTls tls) {
    var throttler = new Throttler(loops::loopFor, cluster, identity.podIp(),
        RevisionOptions.of(serving.queueCapacity()), random);
    // Before the throttler sends anything there.
    backends.onChange(tls::healthy);
    cluster.onRevisionGone(tls::gone);
    join(cluster, backends, throttler);
    return throttler;
  }

  private static void join(Cluster cluster, RevisionBackendsManager backends,
      Throttler throttler) {
    cluster.onRevision(throttler::revision);
    cluster.onRevision(backends::revision);
    cluster.onRevisionGone(backends::revisionGone);
    cluster.onRevisionGone(throttler::revisionGone);
    cluster.onPods(backends::listed);
    cluster.onPodsGone(backends::podsGone);
    cluster.onClusterIp(backends::clusterIp);
    cluster.onPublicAddresses(throttler::publicAddresses);
    backends.onChange(throttler::destinations);
    throttler.onUnreachable(backends::suspected);
    throttler.onStarved(cluster::waitedFor);
    cluster.onStartTrouble(throttler::startTrouble);
  }
}
