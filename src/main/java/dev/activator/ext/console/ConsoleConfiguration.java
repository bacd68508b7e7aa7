package dev.activator.ext.console;

import dev.activator.config.RevisionAnnotations;
import dev.activator.observability.ColdStarts.OngoingColdStart;
import dev.activator.platform.ScalingReport;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.throttle.policy.WaitLimits;
import dev.activator.revision.ScalingView;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.ext.console.WaitingOverview.LeaderReport;
import dev.activator.lifecycle.ActivatorHealth;
import dev.activator.lifecycle.Extension;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.management.LazyHandler;
import dev.activator.management.MetricsServer;
import dev.activator.meters.ProcessSaturation;
import dev.activator.observability.ColdStarts;
import dev.activator.observability.RequestObservers;
import dev.activator.platform.Platform;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.WakingExplanations;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.Throttler;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;

/** The console, which shows each revision live, and the explanation why requests wait. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ConsoleProperties.class)
@Import({ConsoleConfiguration.ConsoleParts.class, ConsoleConfiguration.Kernel.class})
public class ConsoleConfiguration {
  private static final String NAME = "console";
  private static final Duration REFRESH = Duration.ofSeconds(1);
  private static final String CLOCK = "clock";

  /** The parts that have state. */
  record ConsoleParts(ConsoleServer server, LiveConsole live, RevisionStateSampler sampler,
      WaitReasonCache reasons, LongWaitLog waits, MinuteHistory minutes, RevisionHourHistory hours,
      ApiSilence silence) {}

  /** What the console is attached to. */
  record Kernel(Throttler throttler, ConcurrencyReporter reporter,
      RequestObservers observers, ColdStarts starts, LazyHandler pages) {}

  @Bean
  Extension console(ConsoleParts parts, Kernel kernel) {
    return Extension.of(NAME, () -> {
      kernel.throttler.starved().subscribe(NAME, id -> {
        parts.silence.requestsWait();
        parts.reasons.onStarved(id);
      });
      kernel.throttler.requestWaits().subscribe(NAME,
          now -> parts.waits.onRequestWaits(now.revision()));
      kernel.reporter.reports().subscribe(NAME, parts.minutes::reported);
      kernel.reporter.reports().subscribe(NAME, parts.hours::reported);
      kernel.observers.add(parts.hours);
      kernel.starts.onStart(parts.hours::started);
    })
        // Available while the start waits for the cluster, and during a drain. Its streams are
        // closed after all other parts have stopped, but before its port waits for their end.
        .with(StartOrder.FIRST,
            new LifecyclePart("console port", () -> parts.server.open(kernel.pages::handle),
                parts.server::close))
        .with(StartOrder.FIRST, LifecyclePart.stopped("console", parts.live::close))
        .with(StartOrder.AFTER_REQUESTS, new LifecyclePart("console's history",
            parts.sampler::start, parts.sampler::stop));
  }

  @Bean
  RevisionHourHistory hourHistory(LiveRevisions live, LoopGroup loops, Throttler throttler) {
    return new RevisionHourHistory(live, loops.loopFor(CLOCK)::nanoTime, Clock.systemUTC(),
        id -> queued(throttler, id));
  }

  @Bean
  ApiSilence apiSilence(ClusterWatcher cluster, LoopGroup loops) {
    var loop = loops.loopFor(CLOCK);
    // Requests wait only after the start, so there is a client.
    return new ApiSilence(loop,
        () -> Objects.requireNonNull(cluster.api()).fetch("version", ApiSilence.TIMEOUT),
        () -> ApiState.sinceAddressEvent(cluster, loop.nanoTime()));
  }

  @Bean
  Alerts alerts(LoopGroup loops) {
    return new Alerts(loops.loopFor(CLOCK)::nanoTime);
  }

  private static Map<String, Integer> unscalable(Platform platform) {
    var reasons = new TreeMap<String, Integer>();
    platform.scaled().stream().map(ScalingView::trouble).forEach(trouble -> {
      if (trouble != null) {
        reasons.merge(trouble.reason(), 1, Integer::sum);
      }
    });
    return reasons;
  }

  @Bean
  RevisionStateSampler stateSampler(LoopGroup loops, RevisionInspector inspector,
      RevisionCardData.Source cards, RevisionHourHistory hours, Alerts alerts, Throttler throttler,
      ProcessSaturation saturation, Platform platform) {
    return new RevisionStateSampler(loops.loopFor(CLOCK), inspector, cards, hours,
        () -> inspector.alertInputs(throttler.views(), hours, saturation.getAsDouble(),
            unscalable(platform)).thenAccept(alerts::now));
  }

  @Bean
  ConsoleServer consoleServer(ConsoleProperties properties, MetricsServer metrics,
      Environment environment, ClusterWatcher cluster, LoopGroup loops) {
    return new ConsoleServer(properties, metrics, environment,
        () -> new TokenReviewAuthorizer(cluster::api, ConsoleTokenFilter.URL,
            loops.loopFor(CLOCK)::nanoTime, TokenReviewAuthorizer.TIMEOUT));
  }

  /** Not a bean, because Spring would inspect it and load the types of its methods. */
  private static ScalingExplanationBuilder scaling(Platform platform) {
    return new ScalingExplanationBuilder(platform::scaling, platform::leadership);
  }

  @Bean
  RevisionInspector inspector(RevisionBackendsManager backends, Throttler throttler,
      AutoscalerLink link, ClusterWatcher cluster, LoopGroup loops, Platform platform,
      ObjectProvider<WakingExplanations> waking, ColdStarts coldStarts,
      ObjectProvider<PeerSnapshot.Source> peers, ApiSilence silence) {
    var reports = scaling(platform);
    var explanations = waking.getIfAvailable(() -> WakingExplanations.NONE);
    var others = peers.getIfAvailable(() -> PeerSnapshot.Source.NONE);
    return new RevisionInspector(backends, throttler, new RevisionInspector.Sources() {
      @Override
      public CompletableFuture<AutoscalerLink.View> link() {
        return link.view();
      }

      @Override
      public ApiState api() {
        return ApiState.of(cluster, silence.now(), loops.loopFor(CLOCK).nanoTime());
      }

      @Override
      public Loop loop(RevisionId id) {
        return loops.loopFor(id);
      }

      @Override
      public Collection<RevisionId> revisionsOf(RevisionId service) {
        return cluster.revisionsOf(service);
      }

      @Override
      public @Nullable RevisionId named(RevisionId id) {
        return cluster.named(id);
      }

      @Override
      public boolean isScaledService(RevisionId id) {
        return platform.workload(id) != null;
      }

      @Override
      public String hiddenPods(RevisionId id) {
        var revision = cluster.live().find(id);
        return revision == null
            ? ""
            : revision.spec().annotations().getOrDefault(RevisionAnnotations.PODS_HIDDEN, "");
      }

      @Override
      public LocalProcessProblems processes(RevisionId id) {
        return platform.processes(id);
      }

      @Override
      public @Nullable ScalingReport scaling(RevisionId id) {
        return reports.report(id, platform.workload(id));
      }

      @Override
      public @Nullable LeaderReport leader() {
        var leader = platform.leadership();
        return leader == null ? null : LeaderReport.of(leader);
      }

      @Override
      public WakingExplanations waking() {
        return explanations;
      }

      @Override
      public List<PeerSnapshot> peers() {
        return others.views();
      }

      @Override
      public @Nullable OngoingColdStart start(RevisionId id) {
        return coldStarts.view(id);
      }
    });
  }

  @Bean
  WaitReasonCache waitReasonCache(LiveRevisions live, RevisionInspector inspector,
      Throttler throttler, LoopGroup loops) {
    return new WaitReasonCache(live, inspector, throttler, loops.loopFor(CLOCK));
  }

  @Bean
  LongWaitLog longWaitLog(RevisionInspector inspector, Throttler throttler, LoopGroup loops) {
    return new LongWaitLog(inspector, throttler, loops.loopFor(CLOCK));
  }

  @Bean
  ActivatorActuatorEndpoint activatorEndpoint(RevisionInspector inspector, ColdStarts coldStarts) {
    return new ActivatorActuatorEndpoint(inspector, coldStarts::latest);
  }

  @Bean
  MinuteHistory requestHistory(LiveRevisions live, LoopGroup loops, Throttler throttler,
      RequestObservers observers) {
    return new MinuteHistory(live, loops.loopFor(CLOCK)::nanoTime, id -> queued(throttler, id),
        observers);
  }

  private static int queued(Throttler throttler, RevisionId id) {
    var view = throttler.view(id);
    return view == null ? 0 : view.queued();
  }

  @Bean
  RevisionCardData.Source revisionCards(Platform platform, ClusterWatcher cluster,
      IdentityProperties identity, ProxyServerProperties serving, MinuteHistory requestHistory,
      RevisionHourHistory hours, LoopGroup loops, ObjectProvider<WakingExplanations> waking) {
    var clock = loops.loopFor(CLOCK);
    var scalingDefaults = platform.scalingDefaults();
    var own = scalingDefaults == null ? null : KnativeAutoscalerDefaults.of(scalingDefaults);
    var details = new ClusterRevisionDetails(cluster,
        new ClusterRevisionDetails.Defaults(identity.clusterDomain(), serving.queueCapacity(),
            new WaitLimits(serving.queueTimeout(), serving.startTimeout()),
            serving.waitingPage().toString().toLowerCase(Locale.ROOT)),
        new EventFetcher(cluster::api, clock::nanoTime, EventFetcher.TIMEOUT),
        platform::workload, scaling(platform),
        own == null
            ? KnativeAutoscalerDefaults.following(cluster, identity.systemNamespace())
            : () -> own,
        waking.getIfAvailable(() -> WakingExplanations.NONE));
    return new RevisionCardData.Source(platform.details(details), requestHistory, hours,
        clock::nanoTime);
  }

  @Bean
  LiveConsole liveConsole(RevisionInspector inspector, RevisionCardData.Source cards,
      ColdStarts coldStarts,
      ActivatorHealth health, Platform platform, ObjectProvider<PeerSnapshot.Source> peers,
      Alerts alerts, ConsoleProperties properties) {
    var sources = new LiveConsole.Sources(cards, coldStarts::latest,
        () -> switch (health.readiness()) {
          case Readiness.Ready() -> "";
          case Readiness.NotReady _ when health.isDraining() ->
            "This activator drains: it finishes its requests and ends.";
          case Readiness.NotReady(var why) when why.equals(ActivatorHealth.NO_LINK) ->
            "This activator is not ready: it has not been connected yet to what scales.";
          case Readiness.NotReady(var why) -> "This activator is not ready: " + why + ".";
        }, peers.getIfAvailable(() -> PeerSnapshot.Source.NONE), alerts);
    return new LiveConsole(inspector, sources, properties.links(), platform.actions(),
        Flux.interval(Duration.ZERO, REFRESH));
  }

  @Bean
  RouterFunction<ServerResponse> consoleRoutes(LiveConsole console) {
    return console.routes();
  }
}
