package dev.activator.app;

import dev.activator.app.properties.EmbeddedProperties;
import dev.activator.cluster.Cluster;
import dev.activator.embedded.Sockets;
import java.util.random.RandomGenerator;
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
      @Qualifier("platformResources") LoopResources resources, RandomGenerator random) {
    return new EmbeddedPlatform(properties, Sockets.of(resources), random);
  }

  /** Greets once the activator has heard of a revision: the sample's is the first. */
  @Bean
  Greeting greeting(EmbeddedPlatform platform, Cluster cluster) {
    var greeting = new Greeting(platform::greet);
    cluster.onRevision(greeting::heardOf);
    return greeting;
  }
}
