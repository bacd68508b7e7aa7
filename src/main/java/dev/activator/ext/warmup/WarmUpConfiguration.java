package dev.activator.ext.warmup;

import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.LoopGroup;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/** Requests and cold starts of the process itself, before and after its ports open. */
@Configuration(proxyBeanMethods = false)
public class WarmUpConfiguration {
  private static final int REQUESTS = 400;
  private static final Duration TIME = Duration.ofMillis(300);
  /** The warm-up takes 0.3 s of two processors, but shares them with the rest of the start. */
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int COLD_STARTS = 200;
  private static final Duration COLD_STARTS_TIME = Duration.ofSeconds(20);

  /** Begins the warm-up, which runs while the other beans are created and the first lists are read. */
  @Bean(destroyMethod = "stop")
  JvmWarmUpThread warmUpThread(LoopResources resources, LoopGroup loops, RandomGenerator random) {
    var requests = new JvmWarmUp(resources.onServer(LoopResources.DEFAULT_NATIVE), loops, random,
        REQUESTS);
    var thread = new JvmWarmUpThread(() -> requests.run(LIMIT));
    thread.begin();
    return thread;
  }

  @Bean
  Extension warmUp(JvmWarmUpThread requests, LoopResources resources, LoopGroup loops,
      RandomGenerator random) {
    var coldStarts = new JvmWarmUpThread(
        () -> new ColdStartWarmUp(resources.onServer(LoopResources.DEFAULT_NATIVE), loops, random,
            COLD_STARTS).run(COLD_STARTS_TIME));
    return Extension.of("warmup")
        // So that the first callers do not wait for class loading.
        .with(StartOrder.BEFORE_REQUESTS,
            LifecyclePart.started("end of the warm-up", () -> requests.await(TIME)))
        // It would take most of the time of a start.
        .with(StartOrder.AFTER_REQUESTS, new LifecyclePart("warm-up of cold starts",
            coldStarts::begin, coldStarts::stop));
  }
}
