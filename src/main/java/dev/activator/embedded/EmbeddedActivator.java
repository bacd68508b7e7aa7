package dev.activator.embedded;

import dev.activator.app.ActivatorConfiguration;
import dev.activator.management.ManagementPages;
import dev.activator.management.OriginCheck;
import dev.activator.settings.EmbeddedProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.StandaloneProperties;
import dev.activator.standalone.ScaledServices;
import dev.activator.standalone.policy.TcpPortTable;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.throttle.Throttler;
import java.util.random.RandomGenerator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import reactor.netty.resources.LoopResources;

/** The activator with a platform in its own process, on event loops that run no requests. */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import(ActivatorConfiguration.class)
public class EmbeddedActivator {
  private static final int LOOPS = 2;

  @Bean(destroyMethod = "dispose")
  LoopResources platformResources() {
    return LoopResources.create("platform", LOOPS, true);
  }

  @Bean
  EmbeddedPlatform platform(EmbeddedProperties properties, IdentityProperties identity,
      StandaloneProperties standalone,
      @Qualifier("platformResources") LoopResources resources, RandomGenerator random,
      ObjectProvider<Throttler> throttler) {
    var settings = new EmbeddedPlatform.Settings(properties.apiPort(), properties.autoscalerPort(),
        properties.stableWindow(), properties.maxPods(), properties.logOutput());
    var scope = new ScaledServices.Scope(identity.clusterDomain(), standalone.rules(),
        standalone.namespaces(), standalone.maxTimeout(),
        new TcpPortTable.Allowed(standalone.tcpRange(), standalone.sniPort() > 0,
            standalone.rules()));
    return new EmbeddedPlatform(settings, scope,
        resources.onServer(LoopResources.DEFAULT_NATIVE), random, throttler::getObject);
  }

  /** Refuses requests to the console that come from web pages of other sites. */
  @Bean
  OriginCheck originCheck(MetricsServerProperties properties, Environment environment) {
    return new OriginCheck(environment.getProperty("server.address", properties.host()));
  }

  /** Runs last, so that its hint is the last line of the log. */
  @Bean
  ApplicationRunner startupHint(EmbeddedPlatform platform,
      ObjectProvider<ManagementPages> console) {
    return _ -> platform.greet(console.getIfAvailable(() -> ManagementPages.NONE).port());
  }
}
