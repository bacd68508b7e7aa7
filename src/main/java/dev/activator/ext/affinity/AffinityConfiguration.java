package dev.activator.ext.affinity;

import dev.activator.knative.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.RequestObservers;
import dev.activator.revision.LiveRevisions;
import dev.activator.throttle.Throttler;
import io.prometheus.metrics.model.snapshots.Labels;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Requests that go to the pod that their header, cookie or parameter belongs to. */
@Configuration(proxyBeanMethods = false)
public class AffinityConfiguration {
  private static final String NAME = "affinity";

  @Bean
  Extension affinity(LiveRevisions revisions, Throttler throttler, ClusterWatcher cluster,
      RequestObservers observers, Meters meters) {
    var counts = new AffinityCounts();
    var affinities = new Affinities(revisions, throttler, counts);
    return new Extension() {
      @Override
      public String name() {
        return NAME;
      }

      @Override
      public void attach() {
        cluster.revisions().subscribe(NAME, affinities::onRevision);
        observers.add(affinities);
        counts.register(meters);
        meters.number(MetricDefinition.AFFINITY_KEYS, Labels.EMPTY, affinities::keys);
      }
    };
  }
}
