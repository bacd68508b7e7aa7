package dev.activator.app;

import dev.activator.proxy.exchange.Seams;
import dev.activator.proxy.exchange.Seams.WaitReasons;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.ProxyServerProperties.PortProperties;
import dev.activator.settings.ProxyServerProperties.ReadinessProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.settings.CallerTlsProperties;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.loop.LoopGroup;
import dev.activator.meters.ActivatorMeters;
import dev.activator.observability.ColdStarts;
import dev.activator.observability.RequestMeters;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.exchange.Seams.CountPolicy;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.RevisionStarts;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.exchange.Seams.TunnelWatcher;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.RequestPorts;
import dev.activator.revision.ChildName;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import dev.activator.tls.SystemInternalTls;
import dev.activator.upstream.ConnectionPoolsByLoop;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/** Beans of the request path, and of its statistics for the autoscaler. */
@Configuration(proxyBeanMethods = false)
class RequestConfiguration {
  private static final Logger log = LoggerFactory.getLogger(RequestConfiguration.class);
  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration STATS_PERIOD = Duration.ofSeconds(1);
  private static final String AUTOSCALER = "autoscaler";

  @Bean
  ActivatorHealth healthState(ReadinessProperties readiness) {
    return new ActivatorHealth(readiness.autoscaler());
  }

  @Bean
  AutoscalerLink autoscalerLink(Platform platform, IdentityProperties identity, LoopGroup loops,
      RandomGenerator random) {
    return AutoscalerLink.to(platform::autoscalerUri, loops.loopFor(AUTOSCALER), identity.podName(),
        AutoscalerLink.Timings.DEFAULT, random);
  }

  @Bean
  ConcurrencyReporter concurrencyReporter(LiveRevisions revisions, LoopGroup loops,
      AutoscalerLink link, RequestMeters meters) {
    return new ConcurrencyReporter(revisions, loops.loopFor(AUTOSCALER), STATS_PERIOD,
        ActivatorMeters.stats(link, meters));
  }

  @Bean
  HeldRequestBytes heldBytes(ProxyServerProperties serving) {
    return new HeldRequestBytes(new HeldMemoryLimit(serving.heldLimit()));
  }

  @Bean
  UnreadResponseBytes unreadBytes(ProxyServerProperties serving) {
    if (!PlatformDependent.useDirectBufferNoCleaner()) {
      log.warn("Netty does not count direct memory itself, and may call the collector on an event"
          + " loop: start java with {}",
          missingFlags(PlatformDependent.hasUnsafe(),
              ByteBuffer.class.getModule().isOpen("java.nio",
                  PlatformDependent.class.getModule())));
    }
    return new UnreadResponseBytes(new UnreadResponseBudget(serving.unreadLimit()));
  }

  /** The missing flags without which Netty does not count direct memory. */
  static String missingFlags(boolean hasUnsafe, boolean isNioOpen) {
    var flags = new ArrayList<String>();
    if (!hasUnsafe) {
      flags.add("--sun-misc-unsafe-memory-access=allow");
    }
    if (!isNioOpen) {
      flags.add("--add-opens=java.base/java.nio=ALL-UNNAMED");
    }
    return flags.isEmpty()
        ? "-Dio.netty.tryReflectionSetAccessible=true"
        : String.join(" and ", flags);
  }

  @Bean
  Router router(LiveRevisions revisions, ActivatorHealth health, Platform platform,
      IdentityProperties identity, ConfigMapSettings<NetworkConfig> network,
      ObjectProvider<Arrival> arrivals) {
    return new Router(
        platform.names(identity.clusterDomain()),
        revision -> network.get().passthrough()
            ? ChildName.ofPrivateService(revision.name()) + "." + revision.namespace()
            : null,
        revisions, health::readiness, Arrival.first(Extensions.sorted(arrivals.stream())));
  }

  @Bean
  RevisionStarts revisionStarts(LiveRevisions revisions, Platform platform,
      ObjectProvider<WaitReasons> known, Throttler throttler, ColdStarts starts) {
    var reasons = known.getIfAvailable(() -> _ -> "");
    return new RevisionStarts(revisions, platform.showsStartMessages(),
        id -> status(id, platform, reasons, throttler, starts), starts::answeredEarly);
  }

  private static StartStatus status(RevisionId id, Platform platform, WaitReasons reasons,
      Throttler throttler, ColdStarts starts) {
    var view = throttler.view(id);
    var start = throttler.start(id);
    if (view == null || start == null) {
      return StartStatus.UNKNOWN;
    }
    var failure = start.failure();
    var shown = failure != null && platform.showsStartMessages() ? failure.message() : "";
    if (shown.isEmpty()) {
      // Callers do not learn the other one's name.
      shown = platform.scaleState(id).equals(ScaleState.WAITING.text())
          ? "another service has to stop first"
          : reasons.of(id);
    }
    return new StartStatus(view.capacity() > 0, shown,
        failure != null, start.requested(), starts.listedFor(id), start.usual());
  }

  @Bean(destroyMethod = "close")
  ProxyServer proxyServer(LoopResources resources, LoopGroup loops, Router router,
      Throttler throttler, ConnectionPoolsByLoop upstreams, ConcurrencyReporter reporter,
      RequestObservers observers, HeldRequestBytes held, UnreadResponseBytes unread,
      ActivatorMeters meters, RevisionStarts starts, ObjectProvider<WaitPolicy> waitPolicies,
      ObjectProvider<TunnelWatcher.Maker> tunnels, ObjectProvider<CountPolicy> counting) {
    var waitPolicy = WaitPolicy.first(Extensions.sorted(waitPolicies.stream()));
    var watchers = tunnels.getIfAvailable(() -> _ -> TunnelWatcher.NONE);
    var counts = counting.getIfAvailable(() -> CountPolicy.EACH);
    var server = new ProxyServer(resources.onServerSelect(LoopResources.DEFAULT_NATIVE),
        resources.onServer(LoopResources.DEFAULT_NATIVE), loops, HEAD_TIMEOUT,
        loop -> new RequestDispatcher(loop, router, throttler::admit, upstreams.of(loop),
            reporter.onLoop(loop),
            new RequestDispatcher.Memory(held.share(), unread.share(loop)),
            new Seams(observers, starts, waitPolicy, watchers.of(loop), counts,
                null)));
    meters.ended(server.endedConnections());
    return server;
  }

  @Bean
  RequestPorts requestPorts(ProxyServer server, PortProperties ports, CallerTlsProperties tls,
      SystemInternalTls system, ProxyServerProperties serving, ActivatorHealth health,
      LoopGroup loops, Throttler throttler) {
    return new RequestPorts(server,
        new RequestPorts.Settings(serving.bindAddress(), ports.http1(), ports.h2c(), ports.https(),
            tls.certificate() == null ? null : tls::read, serving.propagationDelay(),
            serving.drainTimeout()),
        system::certificate, health, loops.loopFor("drain"), throttler);
  }
}
