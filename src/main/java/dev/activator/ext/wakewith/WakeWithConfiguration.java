package dev.activator.ext.wakewith;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.WakingExplanations;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import io.prometheus.metrics.model.snapshots.Labels;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Starts of the revisions that {@code wakeWith} names, together with the revision that names them. */
@Configuration(proxyBeanMethods = false)
public class WakeWithConfiguration {
  private static final String NAME = "wakewith";
  private static final String SOURCE = "wake-with";

  @Bean
  PrewarmStarts prewarmStarts(LoopGroup loops, ConcurrencyReporter reporter,
      Throttler throttler, LiveRevisions revisions, Platform platform) {
    var loop = loops.loopFor("waking");
    return new PrewarmStarts(loop, reporter.onLoop(loop), throttler, revisions, id -> {
      var workload = platform.workload(id);
      return workload == null || workload.canStart();
    });
  }

  @Bean
  StartOutcomes startOutcomes(LoopGroup loops, Throttler throttler, LiveRevisions revisions,
      RequestObservers observers) {
    return new StartOutcomes(loops.loopFor("waking"), throttler, revisions, observers);
  }

  @Bean
  WakeWithStarter wakeWithStarter(LiveRevisions revisions, PrewarmStarts starts,
      StartOutcomes outcomes, ClusterWatcher cluster) {
    return new WakeWithStarter(revisions, starts, cluster::named,
        id -> outcomes.onStarted(id, starts.timeout(id)));
  }

  @Bean
  WakingExplanations wakingExplanations(PrewarmStarts starts, WakeWithStarter wakeWith) {
    return id -> {
      var cause = starts.cause(id);
      var names = wakeWith.names(id);
      return cause == null && names.isEmpty() ? null : new WakingExplanations.Waking(cause, names);
    };
  }

  @Bean
  Extension wakeWith(WakeWithStarter wakeWith, StartOutcomes outcomes,
      ClusterWatcher cluster, Throttler throttler, Meters meters) {
    return Extension.of(NAME, () -> {
      cluster.revisions().subscribe(NAME, wakeWith::onRevision);
      throttler.starts().subscribe(NAME, wakeWith::onStart);
      meters.number(MetricDefinition.PREWARM, outcome("used"), outcomes::used);
      meters.number(MetricDefinition.PREWARM, outcome("late"), outcomes::late);
      meters.number(MetricDefinition.PREWARM, outcome("unused"), outcomes::unused);
      meters.number(MetricDefinition.PREWARM_SAVED, Labels.of("source", SOURCE),
          outcomes::savedSeconds);
    });
  }

  private static Labels outcome(String name) {
    return Labels.of("outcome", name, "source", SOURCE);
  }
}
