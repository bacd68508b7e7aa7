package dev.activator.ext.affinity;

import dev.activator.knative.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.RequestObservers;
import dev.activator.revision.LiveRevisions;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.Throttler;
import io.prometheus.metrics.model.snapshots.Labels;
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
  Extension affinity(LiveRevisions revisions, Throttler throttler, ClusterWatcher cluster,
      RequestObservers observers, Meters meters, AffinityProperties settings,
      ObjectProvider<KeyNotices> peers) {
    var counts = new AffinityCounts();
    var notices = peers.getIfAvailable(() -> KeyNotices.NONE);
    var affinities = new Affinities(revisions, throttler,
        new AffinityCookie(settings.cookieSecret()),
        notices, counts);
    return new Extension() {
      @Override
      public String name() {
        return NAME;
      }

      @Override
      public void attach() {
        cluster.revisions().subscribe(NAME, affinities::onRevision);
        notices.listen(affinities::onNotice);
        observers.add(affinities);
        counts.register(meters);
        meters.number(MetricDefinition.AFFINITY_KEYS, Labels.EMPTY, affinities::keys);
      }
    };
  }
}
