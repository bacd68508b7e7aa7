package dev.activator.ext.coldstarts;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.revision.LiveRevisions;
import java.time.Clock;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Records of cold starts, for the console, metrics, traces and the phases of requests. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ColdStartProperties.class)
public class ColdStartsConfiguration {
  private static final String NAME = "coldstarts";

  @Bean
  ColdStartRecorder coldStarts(LiveRevisions live, LoopGroup loops, Meters meters,
      RevisionBackendsManager backends, ColdStartProperties settings, Platform platform) {
    var starts = new ColdStartRecorder(live, loops.loopFor("clock")::nanoTime, meters,
        Clock.systemUTC(), settings.coldStartLabels());
    starts.timings(platform::scaledFromZero, backends::accepts);
    return starts;
  }

  @Bean
  Extension recordsOfColdStarts(ColdStartRecorder starts, ClusterWatcher cluster,
      RevisionBackendsManager backends, RequestObservers observers) {
    return Extension.of(NAME, () -> {
      cluster.pods().subscribe(NAME, starts::listed);
      cluster.podsGone().subscribe(NAME, last -> starts.podsGone(last.revision()));
      cluster.podStarts().progress().subscribe(NAME, starts::progress);
      cluster.podStarts().progressEnded().subscribe(NAME,
          last -> starts.progressEnded(last.revision()));
      backends.healthy().subscribe(NAME, starts::published);
      observers.add(starts);
      observers.add(new ServerTimingHeader());
    });
  }
}
