package dev.activator.app;

import dev.activator.revision.LiveRevisions;
import dev.activator.autoscaler.ScalingView;
import dev.activator.console.Alerts;
import dev.activator.console.RevisionHourHistory;
import dev.activator.console.RevisionInspector;
import dev.activator.console.RevisionCardData;
import dev.activator.console.RevisionStateSampler;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.LoopGroup;
import dev.activator.meters.ProcessSaturation;
import dev.activator.platform.Platform;
import dev.activator.throttle.Throttler;
import java.time.Clock;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Beans for the history that the console shows, and for alerts. */
@Configuration(proxyBeanMethods = false)
class ConsoleHistoryConfiguration {
  private static final String CLOCK = "clock";

  @Bean
  RevisionHourHistory hourHistory(LiveRevisions live, LoopGroup loops, Throttler throttler) {
    return new RevisionHourHistory(live, loops.loopFor(CLOCK)::nanoTime, Clock.systemUTC(), id -> {
      var view = throttler.view(id);
      return view == null ? 0 : view.queued();
    });
  }

  @Bean
  Alerts alerts(LoopGroup loops) {
    return new Alerts(loops.loopFor(CLOCK)::nanoTime);
  }

  @Bean
  LifecyclePart states(LoopGroup loops, RevisionInspector inspector, RevisionCardData.Source cards,
      RevisionHourHistory hours,
      Alerts alerts, Throttler throttler, ProcessSaturation saturation, Platform platform) {
    var sampler = new RevisionStateSampler(loops.loopFor(CLOCK), inspector, cards, hours,
        () -> inspector.alertInputs(throttler.views(), hours, saturation.getAsDouble(),
            unscalable(platform)).thenAccept(alerts::now));
    return new LifecyclePart("console's history", sampler::start, sampler::stop);
  }

  private static Map<String, Integer> unscalable(Platform platform) {
    var reasons = new TreeMap<String, Integer>();
    platform.scaled().stream().map(ScalingView::trouble).forEach(trouble -> {
      if (trouble != null) {
        reasons.merge(trouble.reason(), 1, Integer::sum);
      }
    });
    return reasons;
  }
}
