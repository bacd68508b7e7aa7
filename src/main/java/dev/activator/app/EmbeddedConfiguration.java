package dev.activator.app;

import dev.activator.app.properties.EmbeddedProperties;
import dev.activator.cluster.Cluster;
import dev.activator.revision.Destination;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.Throttler;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/** A platform in the process, on event loops that no request of the activator's runs on. */
@Configuration(proxyBeanMethods = false)
public class EmbeddedConfiguration {
  private static final int LOOPS = 2;

  @Bean(destroyMethod = "dispose")
  LoopResources platformResources() {
    return LoopResources.create("platform", LOOPS, true);
  }

  @Bean
  EmbeddedPlatform surroundings(EmbeddedProperties properties,
      @Qualifier("platformResources") LoopResources resources, RandomGenerator random,
      ObjectProvider<Throttler> throttler) {
    return new EmbeddedPlatform(properties, resources.onServer(LoopResources.DEFAULT_NATIVE),
        random, (revision, pod) -> inFlight(throttler.getObject().view(revision), pod));
  }

  private static int inFlight(@Nullable ThrottleView view, Destination pod) {
    return view == null
        ? 0
        : view.pods().stream().filter(one -> one.destination().equals(pod))
            .mapToInt(ThrottleView.PodView::inFlight).sum();
  }

  /** Greets once the activator has heard of a revision: the sample's is the first. */
  @Bean
  Greeting greeting(EmbeddedPlatform platform, Cluster cluster) {
    var greeting = new Greeting(platform::greet);
    cluster.onRevision(greeting::heardOf);
    return greeting;
  }
}
