package dev.activator.ext.affinity;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.revision.LiveRevisions;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.Throttler;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Requests that go to the pod that their header, cookie or parameter belongs to. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(AffinityProperties.class)
public class AffinityConfiguration {
  private static final String NAME = "affinity";

  @Bean
  Affinities affinities(LiveRevisions revisions, Throttler throttler, AffinityProperties settings,
      ObjectProvider<KeyNotices> peers) {
    return new Affinities(revisions, throttler, new AffinityCookie(settings.cookieSecret()),
        peers.getIfAvailable(() -> KeyNotices.NONE), new AffinityCounts());
  }

  @Bean
  Extension affinity(Affinities affinities, AffinityProperties settings, ClusterWatcher cluster,
      Platform platform, RequestObservers observers, Meters meters) {
    return Extension.of(NAME, () -> {
      cluster.revisions().subscribe(NAME, affinities::onRevision);
      observers.add(affinities);
      affinities.register(meters);
      if (settings.podDeletionCost()) {
        var costs = new DeletionCostWriter(cluster::session, cluster::podSelector,
            Ticker.systemTicker());
        platform.beforeScaleDown(id -> affinities.prepareScaleDown(id, costs));
      }
    });
  }
}
