package dev.activator;

import dev.activator.loop.LoopGroup;
import dev.activator.throttle.SharedRandom;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import reactor.netty.resources.LoopResources;

/** The event loops on which everything runs that must not wait. */
@Configuration(proxyBeanMethods = false)
class LoopConfiguration {
  /** One loop accepts connections; one a core serves them and has the revisions' state. */
  @Bean(destroyMethod = "dispose")
  @Primary
  LoopResources loopResources() {
    return LoopResources.create("activator", 1, Runtime.getRuntime().availableProcessors(), true);
  }

  @Bean
  LoopGroup loops(LoopResources resources) {
    return new LoopGroup(resources.onServer(LoopResources.DEFAULT_NATIVE));
  }

  @Bean
  RandomGenerator random() {
    return new SharedRandom(new SecureRandom().nextLong());
  }
}
