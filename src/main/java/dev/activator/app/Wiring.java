package dev.activator.app;

import dev.activator.backend.RevisionBackendsManager;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Shutdown;
import dev.activator.meters.ActivatorMeters;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.proxy.ProxyServer;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import dev.activator.tls.PodTls;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Joins the activator's parts: each subscription, observer and attachment whose order matters is one
 * line here, in the order in which subscribers are called. The ends of revisions have no lines: those
 * who call {@link dev.activator.revision.LiveRevisions#declare} notice them.
 *
 * <p><b>Threads.</b> The thread of the start, when all objects are made and none has started.
 */
@Configuration(proxyBeanMethods = false)
@Import({Wiring.Events.class, Wiring.Requests.class})
class Wiring {
  /** The path of an event: from the cluster to the permits. */
  record Events(ClusterWatcher cluster, RevisionBackendsManager backends, Throttler throttler,
      PodTls tls, ConfigMapSettings<NetworkConfig> network) {
    void join() {
      // The throttler admits requests of a revision as soon as it knows it.
      cluster.revisions().subscribe("throttler", throttler::onRevision);
      cluster.revisions().subscribe("backends", backends::revision);
      cluster.pods().subscribe("backends", backends::listed);
      cluster.podsGone().subscribe("backends", last -> backends.podsGone(last.revision()));
      cluster.endpointsWatch().subscribe("backends", backends::watchChanged);
      cluster.clusterIps().subscribe("backends", backends::clusterIp);
      cluster.publicAddresses().subscribe("throttler", throttler::onPublicAddresses);
      cluster.podStarts().failures().subscribe("throttler", throttler::onContainerFailure);
      cluster.podStarts().progress().subscribe("throttler", throttler::onStartProgress);
      cluster.podStarts().progressEnded().subscribe("throttler", throttler::onStartProgressEnded);
      // Before the throttler, which may send requests as soon as it has the destinations.
      backends.healthy().subscribe("pod TLS", tls::healthy);
      backends.healthy().subscribe("throttler", throttler::onDestinations);
      throttler.unreachable().subscribe("backends",
          pod -> backends.onUnreachable(pod.revision(), pod.destination()));
      throttler.requestWaits().subscribe("backends",
          now -> backends.onRequestWaits(now.revision(), now.on()));
      network.onChange((before, now) -> {
        var addressing = ThrottlerConfiguration.addressing(now);
        if (!addressing.equals(ThrottlerConfiguration.addressing(before))) {
          backends.addressingChanged();
        }
      });
    }
  }

  /** Statistics for the autoscaler, and the ends of the process. */
  record Requests(AutoscalerLink link, ConcurrencyReporter reporter, ActivatorHealth health,
      ActivatorMeters meters, ProxyServer server, ObjectProvider<Shutdown> shutdown) {
    void join() {
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
      link.onChange(meters.link());
      link.onChange(reporter);
      meters.readiness(health);
      server.onLost(what -> shutdown.ifAvailable(end -> end.failed(what)));
    }
  }

  @Bean
  SmartInitializingSingleton join(Events events, Requests requests, RequestObservers observers,
      List<Extension> extensions, Platform platform) {
    return () -> {
      events.join();
      requests.join();
      Extensions.inOrder(extensions).forEach(Extension::attach);
      platform.extensions(
          extensions.stream().map(Extension::name).collect(Collectors.toUnmodifiableSet()));
      platform.join(events.cluster, requests.link);
      if (platform.scalingViews() != null) {
        // After the cold starts, which determine how long there was no pod.
        observers.add(requests.reporter.queueTimes());
      }
    };
  }
}
