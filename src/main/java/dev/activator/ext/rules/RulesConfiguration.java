package dev.activator.ext.rules;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.proxy.exchange.Seams.TunnelWatcher;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.LiveRevisions;
import dev.activator.settings.ProxyServerProperties;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The beans of revisions' rules, which ScaledServices and annotations contain. */
@Configuration(proxyBeanMethods = false)
public class RulesConfiguration {
  private static final String NAME = "rules";

  @Bean
  DoNotWakeArrival doNotWake(ProxyServerProperties serving) {
    return new DoNotWakeArrival(
        serving.answerKnownProbes() ? DoNotWakeRule.knownProbes() : List.of());
  }

  @Bean
  FallbackPolicy fallback(ClusterWatcher cluster, LiveRevisions revisions) {
    return new FallbackPolicy(cluster::named, revisions);
  }

  @Bean
  TunnelWatcher.Maker tunnels(Meters meters) {
    var ofLoops = new CopyOnWriteArrayList<TunnelActivityTracker>();
    meters.number(MetricDefinition.SILENT_CONNECTIONS, Labels.EMPTY,
        () -> ofLoops.stream().mapToInt(TunnelActivityTracker::silent).sum());
    return loop -> {
      var tracker = new TunnelActivityTracker(loop);
      ofLoops.add(tracker);
      return tracker;
    };
  }

  @Bean
  Extension rules() {
    return Extension.of(NAME);
  }
}
