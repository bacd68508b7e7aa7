package dev.activator.app;

import dev.activator.settings.GatewayAdmitProperties;
import dev.activator.settings.ClusterProperties.ConfigMapProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.ProxyServerProperties.PortProperties;
import dev.activator.settings.ProxyServerProperties.ReadinessProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.settings.CallerTlsProperties;
import dev.activator.settings.CallChainProperties;
import dev.activator.cluster.ClusterWatcher;
import dev.activator.config.ConfigMapSettings;
import dev.activator.config.NetworkConfig;
import dev.activator.console.RevisionHourHistory;
import dev.activator.console.MinuteHistory;
import dev.activator.console.WaitReasonCache;
import dev.activator.http.HeaderMap;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.lifecycle.Readiness;
import dev.activator.lifecycle.Shutdown;
import dev.activator.loop.LoopGroup;
import dev.activator.meters.ActivatorMeters;
import dev.activator.observability.ColdStartRecorder;
import dev.activator.observability.RequestMeters;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.proxy.exchange.ErrorResponseOptions;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RevisionReadySince;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.exchange.TunnelActivityTracker;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.proxy.exchange.WaitingPages;
import dev.activator.proxy.exchange.WaitingPageTemplate;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.HostRouter;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.proxy.policy.WaitingPageStatus;
import dev.activator.proxy.GatewayAdmitServer;
import dev.activator.proxy.ProxyServer;
import dev.activator.proxy.RequestPorts;
import dev.activator.revision.ChildName;
import dev.activator.revision.DoNotWakeRule;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.Throttler;
import dev.activator.tls.SystemInternalTls;
import dev.activator.upstream.ConnectionPoolsByLoop;
import dev.activator.waking.CallerDetector;
import dev.activator.waking.CallChains;
import dev.activator.waking.PrewarmCounts;
import dev.activator.waking.SpeculativeStarts;
import dev.activator.waking.WakeWithStarter;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
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
  private static final String WAITING_PAGE_KEY = "page.html";
  private static final String AUTOSCALER = "autoscaler";

  @Bean
  ActivatorHealth healthState(ReadinessProperties readiness, ActivatorMeters meters) {
    var health = new ActivatorHealth(readiness.autoscaler());
    meters.readiness(health);
    return health;
  }

  @Bean
  AutoscalerLink autoscalerLink(Platform platform, IdentityProperties identity, LoopGroup loops,
      RandomGenerator random) {
    return AutoscalerLink.to(platform::autoscaler, loops.loopFor(AUTOSCALER), identity.podName(),
        AutoscalerLink.Timings.DEFAULT, random);
  }

  @Bean
  ConcurrencyReporter concurrencyReporter(LoopGroup loops, AutoscalerLink link,
      RequestMeters meters, MinuteHistory requestHistory, RevisionHourHistory hours) {
    return new ConcurrencyReporter(loops.loopFor(AUTOSCALER), STATS_PERIOD,
        ActivatorMeters.stats(link, meters, stats -> {
          requestHistory.reported(stats);
          hours.reported(stats);
        }));
  }

  @Bean
  SpeculativeStarts speculativeStarts(LoopGroup loops, ConcurrencyReporter reporter,
      Throttler throttler, ClusterWatcher cluster) {
    var loop = loops.loopFor("waking");
    return new SpeculativeStarts(loop, reporter.onLoop(loop), throttler, cluster, id -> {
      var scaled = cluster.scaledService(id);
      return scaled == null || scaled.canStart();
    });
  }

  @Bean
  CallChains chains(CallChainProperties callChain, SpeculativeStarts starts, Throttler throttler,
      ClusterWatcher cluster, RequestObservers observers, Platform platform,
      ActivatorMeters meters) {
    var counts = new PrewarmCounts();
    var chains = new CallChains(callChain.chains(), starts, throttler, cluster::pods, counts);
    var observer = new CallerDetector(chains, throttler, callChain.hops(), platform::podPort);
    // Added only when needed, so that requests have its cost only in the seconds after a start from
    // zero.
    chains.onWatching(watching -> {
      if (watching) {
        observers.add(observer);
      } else {
        observers.remove(observer);
      }
    });
    meters.prewarmed(counts);
    return chains;
  }

  @Bean
  WakeWithStarter wakeWith(SpeculativeStarts starts, CallChains chains, ClusterWatcher cluster) {
    return new WakeWithStarter(starts, cluster::named, chains::startedByName);
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
  Router router(ClusterWatcher cluster, ActivatorHealth health, Platform platform,
      IdentityProperties identity, ConfigMapSettings<NetworkConfig> network,
      ProxyServerProperties serving) {
    return new Router(
        platform.names(new RevisionResolver.Knative(identity.clusterDomain(), hosts(cluster))),
        revision -> network.get().passthrough()
            ? ChildName.ofPrivateService(revision.name()) + "." + revision.namespace()
            : null,
        cluster, health::readiness,
        serving.answerKnownProbes() ? DoNotWakeRule.knownProbes() : List.of(), cluster::named);
  }

  private static HostRouter hosts(ClusterWatcher cluster) {
    return new HostRouter() {
      @Override
      public @Nullable RevisionId revision(String host, String target, HeaderMap fields) {
        return cluster.ofHost(host, target, fields);
      }

      @Override
      public boolean isKnown(String host) {
        return cluster.hasHost(host);
      }
    };
  }

  @Bean
  ErrorResponseOptions errorResponses(Platform platform, WaitReasonCache reasons,
      Throttler throttler,
      ColdStartRecorder starts, ProxyServerProperties serving, ClusterWatcher cluster,
      IdentityProperties identity,
      ConfigMapProperties names) {
    var template = new AtomicReference<>(WaitingPageTemplate.DEFAULT);
    cluster.onOptionalConfigMap(identity.systemNamespace(), names.waitingPage(), data -> {
      try {
        var own = data.get(WAITING_PAGE_KEY);
        template.set(own == null ? WaitingPageTemplate.DEFAULT : WaitingPageTemplate.of(own));
      } catch (IllegalArgumentException e) {
        log.warn("The ConfigMap {}: {} {}; the previous page stays in use", names.waitingPage(),
            WAITING_PAGE_KEY, e.getMessage());
      }
    });
    return new ErrorResponseOptions(platform.showsStartMessages(),
        new WaitingPages(serving.waitingPage(), template::get,
            id -> status(id, reasons, throttler, starts), starts::answeredEarly));
  }

  private static WaitingPageStatus status(RevisionId id, WaitReasonCache reasons,
      Throttler throttler,
      ColdStartRecorder starts) {
    var view = throttler.view(id);
    var start = throttler.start(id);
    return view == null || start == null
        ? WaitingPageStatus.UNKNOWN
        : new WaitingPageStatus(view.capacity() > 0, reasons.of(id), start.requested(),
            starts.listedFor(id),
            start.usual());
  }

  @Bean(destroyMethod = "close")
  ProxyServer proxyServer(LoopResources resources, LoopGroup loops, Router router,
      Throttler throttler, ConnectionPoolsByLoop upstreams, ConcurrencyReporter reporter,
      RequestObservers observers, HeldRequestBytes held, UnreadResponseBytes unread,
      ActivatorMeters meters, ErrorResponseOptions responses) {
    var silent = new CopyOnWriteArrayList<TunnelActivityTracker>();
    var server = new ProxyServer(resources.onServerSelect(LoopResources.DEFAULT_NATIVE),
        resources.onServer(LoopResources.DEFAULT_NATIVE), loops, HEAD_TIMEOUT,
        loop -> {
          var counter = reporter.onLoop(loop);
          var connections = new TunnelActivityTracker(loop, counter);
          silent.add(connections);
          return new RequestDispatcher(loop, router, throttler::admit, upstreams.of(loop), counter,
              observers, held.share(), unread.share(loop), responses, connections);
        });
    meters.silent(silent);
    meters.ended(server.endedConnections());
    return server;
  }

  @Bean
  RequestPorts requestPorts(ProxyServer server, PortProperties ports, CallerTlsProperties tls,
      SystemInternalTls system, ProxyServerProperties serving, ActivatorHealth health,
      LoopGroup loops,
      Throttler throttler, ObjectProvider<Shutdown> shutdown) {
    server.onLost(what -> shutdown.ifAvailable(end -> end.failed(what)));
    return new RequestPorts(server,
        new RequestPorts.Settings(serving.bindAddress(), ports.http1(), ports.h2c(), ports.https(),
            tls.certificate() == null ? null : tls::read, serving.propagationDelay(),
            serving.drainTimeout()),
        system::certificate, health, loops.loopFor("drain"), throttler);
  }

  /** The port for gateways that send requests themselves; absent unless it is enabled. */
  @Bean
  Extension admit(GatewayAdmitProperties admit, ProxyServer proxy, LoopResources resources,
      LoopGroup loops, ActivatorHealth health, Throttler throttler, ClusterWatcher cluster,
      ProxyServerProperties serving) {
    var pods = new RevisionReadySince(admit.endpointsDelay(), loops.loopFor("admit")::nanoTime);
    var server = new GatewayAdmitServer(proxy,
        new GatewayAdmitServer.Settings(serving.bindAddress(), admit.port(),
            admit.requestDuration(),
            HEAD_TIMEOUT),
        pods, resources, () -> health.readiness() instanceof Readiness.Ready,
        throttler::rejectQueued);
    return new Extension() {
      @Override
      public String name() {
        return "admit";
      }

      @Override
      public void attach() {
        if (admit.enabled()) {
          cluster.pods().subscribe(name(), pods::listed);
          cluster.podsGone().subscribe(name(), last -> pods.podsGone(last.revision()));
          cluster.revisionsGone().subscribe(name(), last -> pods.revisionGone(last.id()));
        }
      }

      @Override
      public List<LifecyclePart> parts(StartOrder when) {
        return admit.enabled() && when == StartOrder.BEFORE_REQUESTS
            ? List.of(new LifecyclePart("port for gateways", server::start, server::stop))
            : List.of();
      }
    };
  }
}
