package dev.activator.app;

import dev.activator.loop.LoopGroup;
import dev.activator.loop.Transport;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import reactor.netty.resources.LoopResources;

/** The event loops on which everything runs that must not wait. */
@Configuration(proxyBeanMethods = false)
class LoopConfiguration {
  private static final Logger log = LoggerFactory.getLogger(LoopConfiguration.class);

  /** One loop accepts connections; one a core serves them and has the revisions' state. */
  @Bean(destroyMethod = "dispose")
  @Primary
  LoopResources loopResources() {
    return LoopResources.create("activator", 1, Runtime.getRuntime().availableProcessors(), true);
  }

  @Bean
  LoopGroup loops(LoopResources resources) {
    Transport.whyNotNative().ifPresent(why -> log.info(
        "Connections use Java's own transport, which costs a little more: {}", why));
    return new LoopGroup(resources.onServer(LoopResources.DEFAULT_NATIVE));
  }

  @Bean
  RandomGenerator random() {
    return LoopGroup.random();
  }
}
