package dev.activator.app;

import dev.activator.app.properties.IdentityProperties;
import dev.activator.lifecycle.HealthState;
import dev.activator.loop.LoopGroup;
import dev.activator.observability.meter.Meters;
import dev.activator.observability.request.RequestMeters;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the autoscaler is told, once a second. */
@Configuration(proxyBeanMethods = false)
class StatsConfiguration {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  @Bean
  AutoscalerLink autoscalerLink(Surroundings surroundings, IdentityProperties identity,
      LoopGroup loops, HealthState health, Meters meters, RandomGenerator random) {
    var link = AutoscalerLink.to(surroundings::autoscaler, loops.loopFor("autoscaler"),
        identity.podName(), AutoscalerLink.Timings.DEFAULT, random);
    link.onChange(new AutoscalerLink.Listener() {
      @Override
      public void connected() {
        health.link(true);
      }

      @Override
      public void lost() {
        health.link(false);
      }
    });
    link.onChange(new LinkMeters(meters));
    return link;
  }

  @Bean
  ConcurrencyReporter concurrencyReporter(LoopGroup loops, AutoscalerLink link,
      RequestMeters meters) {
    return new ConcurrencyReporter(loops.loopFor("statistics"), PERIOD,
        new MeasuredStats(link, meters));
  }
}
