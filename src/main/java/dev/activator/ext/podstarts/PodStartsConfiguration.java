package dev.activator.ext.podstarts;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.settings.IdentityProperties;
import dev.activator.throttle.Throttler;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Beans that watch the pods of revisions with waiting requests, and refuse those that wait in vain. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PodStartProperties.class)
public class PodStartsConfiguration {
  private static final String NAME = "podstarts";

  @Bean
  Extension podStarts(PodStartProperties settings, ClusterWatcher cluster, Throttler throttler,
      IdentityProperties identity) {
    var watch = new PodStartWatch(cluster, settings.unschedulableTimeout());
    return Extension.of(NAME, () -> {
      throttler.starved().subscribe(NAME, watch::onRequestWaits);
      cluster.podStarts().slow().subscribe(NAME, watch::onRequestWaits);
      cluster.onOptionalConfigMap(identity.systemNamespace(), PodStartWatch.CONFIG_MAP,
          watch::setDeploymentConfig);
    }).with(StartOrder.BEFORE_REQUESTS,
        new LifecyclePart("watches of pods", watch::start, watch::close));
  }
}
