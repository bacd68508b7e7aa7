package dev.activator.ext.autoscalerfallback;

import dev.activator.settings.ClusterProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.kube.LeaderElection;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.policy.LeaderElectionState.Times;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.EventWriter.Regarding;
import dev.activator.kube.ScalingApiClients;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.LoopGroup;
import dev.activator.platform.Platform;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.Throttler;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The beans of the autoscaler fallback, which starts a revision's first pod while Knative's
 * autoscaler cannot be reached. Disabled by default; the setting is {@code activator.rescue}.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(AutoscalerFallbackProperties.class)
public class AutoscalerFallbackConfiguration {
  private static final String NAME = "autoscalerfallback";
  private static final String LEASE = "activator-rescue";
  private static final long STOP_SECONDS = 5;

  @Bean
  Extension autoscalerFallback(AutoscalerFallbackProperties properties, Platform platform,
      IdentityProperties identity,
      AutoscalerLink link, Throttler throttler, LoopGroup loops, RandomGenerator random,
      ClusterWatcher cluster, ClusterProperties api) {
    if (!properties.enabled() || platform.scalingViews() != null) {
      return Extension.of(NAME);
    }
    var loop = loops.loopFor("rescue");
    var clients = new ScalingApiClients(platform.api(), () -> api.writeLimit().rate(loop));
    var lease = clients.lease(identity.systemNamespace(), LEASE);
    var fallback = new AutoscalerFallback(cluster.live(), loop, clients.scales(),
        listener -> new LeaderElection(
            identity.podName() + "_" + identity.podIp(), loop,
            lease, listener, Clock.systemUTC(), random, Times.DEFAULT),
        events(clients, cluster));
    return Extension.of(NAME, () -> {
      throttler.requestWaits().subscribe(NAME, now -> fallback.onRequestWaits(now.revision()));
      link.onChange(new AutoscalerLink.Listener() {
        @Override
        public void connected() {
          fallback.linked(true);
        }

        @Override
        public void lost() {
          fallback.linked(false);
        }
      });
    }).with(StartOrder.BEFORE_REQUESTS, new LifecyclePart("autoscaler fallback", () -> {
      clients.open();
      fallback.start();
    }, () -> {
      fallback.stop().completeOnTimeout(null, STOP_SECONDS, TimeUnit.SECONDS).join();
      clients.close();
    }));
  }

  private static ScalingListener events(ScalingApiClients clients,
      ClusterWatcher cluster) {
    return new ScalingListener() {
      @Override
      public void happened(RevisionId id, boolean warning, String reason, String message) {
        var revision = cluster.live().spec(id);
        var _ = clients.events().write(new Regarding("serving.knative.dev/v1", "Revision",
            id.namespace(), id.name(), revision == null ? "" : revision.uid()), warning, reason,
            message);
      }
    };
  }
}
