package dev.activator.ext.picker;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.lifecycle.Readiness;
import dev.activator.observability.Meters;
import dev.activator.platform.Platform;
import dev.activator.proxy.ProxyServer;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.throttle.Throttler;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/**
 * The endpoint picker, and the InferencePools that name it. Disabled by default; the settings are
 * {@code activator.picker.enabled} and {@code activator.picker.service}.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PickerProperties.class)
public class PickerConfiguration {
  private static final String NAME = "picker";

  @Bean
  Extension picker(PickerProperties picker, ProxyServer proxy, LoopResources resources,
      ActivatorHealth health, Throttler throttler, ProxyServerProperties serving, Meters meters,
      InferencePools.Maker pools) {
    if (!picker.enabled()) {
      return Extension.of(NAME);
    }
    var counts = new PickerCounts();
    // gRPC's classes are loaded only where the picker is enabled.
    var server = new PickerServer(proxy,
        new PickerServer.Settings(serving.bindAddress(), picker.port(), picker.fallbacks(),
            serving.propagationDelay(), serving.drainTimeout(), picker.security()),
        resources, throttler, counts, () -> health.readiness() instanceof Readiness.Ready);
    var extension = Extension.of(NAME, () -> counts.register(meters))
        .with(StartOrder.BEFORE_REQUESTS,
            new LifecyclePart("port of the endpoint picker", server::start, server::stop))
        // Stops before the ports for requests, so that both drain at the same time.
        .with(StartOrder.AFTER_REQUESTS,
            LifecyclePart.stopped("drain of the endpoint picker", server::drain));
    return picker.service().isEmpty()
        ? extension
        : extension.with(StartOrder.AFTER_REQUESTS, part(pools));
  }

  private static LifecyclePart part(InferencePools.Maker pools) {
    var running = new AtomicReference<InferencePools>();
    return new LifecyclePart("InferencePools", () -> {
      var now = pools.of();
      running.set(now);
      now.start();
    }, () -> running.get().stop());
  }

  @Bean
  InferencePools.Maker inferencePools(PickerProperties picker, IdentityProperties identity,
      ClusterWatcher cluster, Platform platform, RandomGenerator random) {
    return () -> new InferencePools(Objects.requireNonNull(cluster.session()),
        identity.systemNamespace(), picker.service(), () -> {
          var election = platform.leadership();
          return election == null || election.here();
        }, InstantSource.system(), random);
  }
}
