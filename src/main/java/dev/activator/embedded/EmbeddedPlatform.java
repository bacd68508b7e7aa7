package dev.activator.embedded;

import dev.activator.embedded.runtime.ServiceTraffic;
import dev.activator.embedded.runtime.policy.TrafficAssignment;
import dev.activator.standalone.ActivatorEndpointSliceWriter;
import dev.activator.standalone.ScaledServiceStatusWriter;
import dev.activator.platform.RevisionActions;
import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.kube.LeadershipCheck;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.standalone.policy.ActivatorSlicePlanner.Activators;
import dev.activator.platform.RevisionDetailsSource;
import dev.activator.embedded.api.EmbeddedApiServer;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.LocalRuntime;
import dev.activator.embedded.runtime.EmbeddedScaleClient;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.embedded.runtime.AwaitedRoutes;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.http.HeaderFieldList;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.PodFreezer;
import dev.activator.standalone.ScaledServiceAutoscalerAdapter;
import dev.activator.standalone.ScaledServicePlatform;
import dev.activator.standalone.ScaledServices;
import dev.activator.proxy.policy.RevisionResolver.HostRouter;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.Throttler;
import dev.activator.stats.AutoscalerLink;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.function.BiPredicate;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The platform of embedded mode: a Kubernetes API, local processes and an autoscaler, all in this
 * process.
 */
public final class EmbeddedPlatform implements ScaledServicePlatform {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedPlatform.class);
  /** The name of this activator's pod, as in application-embedded.yaml. */
  private static final String ACTIVATOR = "activator";
  private static final Duration SAMPLE_TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_HOSTS = 20;
  private static final String LOOPBACK = "127.0.0.1";
  /**
   * This is short, because a program that serves one connection at a time cannot accept another
   * while an idle one is open.
   */
  private static final Duration IDLE_TIMEOUT = Duration.ofMillis(50);

  /** The longest time for which the response to a write waits until requests can be routed. */
  private static final Duration ROUTE_TIMEOUT = Duration.ofSeconds(2);

  private final ApiStore store;
  private final Defaults defaults;
  private final ScaledServices services;
  private final EmbeddedApiServer api;
  private final LocalRuntime runtime;
  private final EmbeddedScaleClient scaling;
  private final ScaledServiceAutoscalerAdapter adapter;
  private final RandomGenerator random;
  private final Autoscaler autoscaler;
  private final Loop autoscalerLoop;
  private final StatsServer autoscalerServer;
  /** Whether requests can be routed to the revision with an id and a uid. */
  private volatile BiPredicate<RevisionId, String> isRoutable = (_, _) -> false;
  /** The responses to writes of ScaledServices that wait until requests can be routed to them. */
  private final AwaitedRoutes awaited;
  private final EmbeddedConsoleActions actions;
  private final DeletedHosts deletedHosts;
  private volatile IntSupplier requestPort = () -> 0;

  /**
   * @param apiPort 0 for any free port, as for {@code autoscalerPort}
   * @param stableWindow the window of revisions that set none; {@code maxPods} is such a default,
   *     too
   * @param logOutput whether the output of processes is logged
   */
  public record Settings(int apiPort, int autoscalerPort, Duration stableWindow, int maxPods,
      boolean logOutput) {}

  /** @param loops two, which must not serve the activator's requests */
  public EmbeddedPlatform(Settings settings, ScaledServices.Scope scope, EventLoopGroup loops,
      RandomGenerator random, Supplier<Throttler> throttler) {
    // What follows a decision would delay the start of a local process on the same thread.
    this.autoscalerLoop = loop(loops);
    var processes = loop(loops);
    this.store = new ApiStore(Clock.systemUTC());
    this.defaults = new Defaults(settings.stableWindow(), settings.maxPods());
    this.services = new ScaledServices(scope
        .alone(() -> new Activators(requestPort.getAsInt(), List.of(LOOPBACK))));
    DefaultConfigMapCreator.createIn(store);
    ScaledServiceCrd.createIn(store);
    store.onWritten(ScaledServiceCrd.of(store), this::awaitRoute);
    this.api = new EmbeddedApiServer(store, autoscalerLoop, at(settings.apiPort()));
    this.random = random;
    this.runtime = new LocalRuntime(store, processes,
        new LocalRuntime.Dependencies(Clock.systemUTC(), random, settings.logOutput(),
            (id, uid) -> isRoutable.test(id, uid),
            pod -> throttler.get().sends(pod),
            pod -> throttler.get().requestsInFlight(pod)));
    this.scaling = new EmbeddedScaleClient(store, processes, defaults);
    this.awaited = new AwaitedRoutes(autoscalerLoop, ROUTE_TIMEOUT);
    this.adapter = new ScaledServiceAutoscalerAdapter(services, scaling, _ -> {
    });
    this.autoscaler = new Autoscaler(autoscalerLoop, adapter.scales(), LeadershipCheck.ALONE,
        adapter,
        random);
    this.actions = new EmbeddedConsoleActions(store, autoscaler, () -> requestPort.getAsInt());
    this.deletedHosts = new DeletedHosts(store, autoscalerLoop);
    this.autoscalerServer = new StatsServer(loops, at(settings.autoscalerPort()),
        autoscaler::received);
  }

  @Override
  public ScaledServiceAutoscalerAdapter adapter() {
    return adapter;
  }

  @Override
  public ClusterAccess api() {
    return new ClusterAccess.At(URI.create("http://" + LOOPBACK + ":" + api.port()));
  }

  @Override
  public boolean hasApiElsewhere() {
    return false;
  }

  @Override
  public URI autoscalerUri() {
    return URI.create("ws://" + LOOPBACK + ":" + autoscalerServer.port());
  }

  @Override
  public RevisionResolver names(String clusterDomain) {
    return new RevisionResolver.Local(new LocalHosts(runtime::revision, services),
        new RevisionResolver.Knative(clusterDomain, services), this::hint);
  }

  private String hint(String unknownHost) {
    return LocalHosts.hint(deletedHosts.contains(unknownHost),
        LocalHosts.of(runtime.hosts(), store.list(ScaledServiceCrd.of(store), _ -> true)));
  }

  @Override
  public LocalProcessProblems processes(RevisionId revision) {
    return runtime.processes(revision);
  }

  @Override
  public boolean showsStartMessages() {
    return true;
  }

  @Override
  public boolean hasPeers() {
    return false;
  }

  @Override
  public Duration idleTimeout() {
    return IDLE_TIMEOUT;
  }

  @Override
  public RevisionDetailsSource details(RevisionDetailsSource ofCluster) {
    return new EmbeddedRevisionDetails(ofCluster, store, actions, () -> requestPort.getAsInt());
  }

  @Override
  public ScalingDefaults scalingDefaults() {
    return new ScalingDefaults(defaults.window(), defaults.maxPods());
  }

  @Override
  public RevisionActions actions() {
    return actions;
  }

  @Override
  public PodFreezer freezer() {
    return runtime;
  }

  @Override
  public void join(ClusterWatcher cluster, AutoscalerLink link) {
    link.sendUptime();
    var routable = cluster.live().declare("routable", LiveRevision::uid);
    isRoutable = (id, uid) -> uid.equals(cluster.live().peek(id, routable));
    // The last subscriber: the throttler and the watchers know the revision by then.
    cluster.revisions().subscribe("routable revisions", now -> {
      if (now.slot(routable) != null) {
        routable(now.id());
      }
    });
    cluster.setSource(services);
    adapter.openClients(autoscalerLoop, () -> Objects.requireNonNull(cluster.api(), "not open"),
        LeadershipCheck.ALONE, (id, state, _) -> autoscaler.unacknowledged(id, state));
    adapter.follow(autoscaler,
        new ScaledServiceStatusWriter(autoscalerLoop, cluster::api, Clock.systemUTC(), () -> true,
            random),
        new ActivatorEndpointSliceWriter(autoscalerLoop, cluster::api, () -> true,
            adapter::notCaught, random));
    adapter.follow(cluster.podStarts(), autoscalerLoop);
  }

  @Override
  public Autoscaler scalingViews() {
    return autoscaler;
  }

  @Override
  public List<LifecyclePart> beforePorts() {
    return List.of(new LifecyclePart("embedded Kubernetes API", api::start, api::stop),
        new LifecyclePart("embedded autoscaler", autoscalerServer::start, autoscalerServer::stop),
        // Processes are started by afterPorts(), once the port for the Services' URLs is known.
        // They are stopped here, after the requests to them have ended.
        LifecyclePart.stopped("local processes", runtime::stop));
  }

  @Override
  public List<LifecyclePart> afterPorts(IntSupplier requestPort) {
    this.requestPort = requestPort;
    return List.of(
        LifecyclePart.started("local Services", () -> runtime.start(requestPort.getAsInt())),
        new LifecyclePart("deleted hosts", deletedHosts::start, deletedHosts::stop),
        new LifecyclePart("embedded autoscaler's decisions", this::startScaling,
            this::stopScaling));
  }

  private void startScaling() {
    autoscaler.members(Map.of(ACTIVATOR, true));
    autoscaler.start();
    adapter.statusWriter().start();
    adapter.sliceWriter().start();
    scaling.start(autoscaler);
  }

  private void stopScaling() {
    adapter.statusWriter().stop();
    adapter.sliceWriter().stop();
    scaling.stop();
    autoscaler.stop().join();
  }

  /** Call when requests can be routed to a revision, because the activator knows it. */
  private void routable(RevisionId revision) {
    runtime.routable(revision);
    awaited.complete(revision);
  }

  /** Completes when requests can be routed to this ScaledService, which was just written. */
  private CompletableFuture<Void> awaitRoute(ObjectNode written) {
    var id = new RevisionId(ObjectMeta.namespace(written), ObjectMeta.name(written));
    if (store.find(ScaledServiceCrd.of(store), id.namespace(), id.name()) == null) {
      // The write was a dry run, or the object is already deleted.
      return CompletableFuture.completedFuture(null);
    }
    var answer = awaited.add(id);
    if (isRoutable.test(id, ObjectMeta.uid(written))) {
      awaited.complete(id);
    }
    return answer;
  }

  /**
   * Logs how to use embedded mode, once requests to the sample can be routed.
   *
   * @param consolePort the port of the console
   */
  public void greet(int consolePort) {
    runtime.sampleRouted().completeOnTimeout(null, SAMPLE_TIMEOUT.toSeconds(), TimeUnit.SECONDS)
        .join();
    // Otherwise, the classes of the first start of a process would cause this collection.
    System.gc();
    log.info("""
        Ready, with an embedded Kubernetes API:
            List: kubectl -s http://{}:{} get services.serving.knative.dev,pods
            Console: http://{}:{}/
            Try: curl http://hello.default.localhost:{}/
            Stop: Ctrl-C, or kill {}""", LOOPBACK, api.port(), LOOPBACK, consolePort,
        requestPort.getAsInt(), ProcessHandle.current().pid());
  }

  private static Loop loop(EventLoopGroup loops) {
    return new NettyLoop(loops.next());
  }

  private static InetSocketAddress at(int port) {
    return new InetSocketAddress(LOOPBACK, port);
  }

  /**
   * Finds the revision of a host {@code <service>.<namespace>.localhost} or
   * {@code <service>.<namespace>.svc.cluster.local}, or of a tag's host, which begins with
   * {@code <tag>-}. Letter case, a port and a trailing dot do not matter. A ScaledService can also
   * be named in this way, and a revision if the host ends in {@code .localhost}.
   */
  record LocalHosts(BiFunction<String, String, @Nullable RevisionId> services, HostRouter scaled)
      implements HostRouter {
    static final String SUFFIX = ".localhost";
    private static final Pattern NAME = Pattern
        .compile("([^.:]+)\\.([^.:]+)(\\.localhost|\\.svc\\.cluster\\.local)\\.?(:\\d*)?");

    /** The first hosts of Services and ScaledServices, sorted, and the number of those left out. */
    static List<String> of(Collection<RevisionId> services, Collection<ObjectNode> scaled) {
      var hosts = Stream.concat(
          services.stream().map(service -> host(service.namespace(), service.name())),
          scaled.stream().flatMap(LocalHosts::hostsOf)).sorted().distinct().toList();
      return hosts.size() <= MAX_HOSTS
          ? hosts
          : Stream.concat(hosts.stream().limit(MAX_HOSTS),
              Stream.of((hosts.size() - MAX_HOSTS) + " more")).toList();
    }

    /** The end of a sentence that says that a host is unknown. */
    static String hint(boolean deleted, List<String> known) {
      return (deleted ? ": it was deleted" : "")
          + (known.isEmpty() ? "" : "; there are " + String.join(", ", known));
    }

    /** The hosts of a Service or a ScaledService; none if it takes connections only. */
    static Stream<String> hostsOf(ObjectNode object) {
      if (!object.at("/spec/ports").isEmpty()
          && object.at("/spec/serviceRef/port").isMissingNode()) {
        return Stream.empty();
      }
      var others = Stream.concat(object.at("/spec/hosts").valueStream(),
          object.at("/spec/rules").valueStream()
              .flatMap(rule -> rule.path("hosts").valueStream()));
      var names = Stream.concat(Stream.of(ObjectMeta.name(object)),
          ServiceTraffic.targets(object).stream().filter(target -> !target.tag().isEmpty())
              .map(target -> TrafficAssignment.Target.host(target.tag(), ObjectMeta.name(object))));
      return Stream.concat(names.map(name -> host(ObjectMeta.namespace(object), name)),
          others.map(host -> host.asString("")));
    }

    private static String host(String namespace, String name) {
      return name + "." + namespace + SUFFIX;
    }

    @Override
    public @Nullable RevisionId revision(String host, String target, HeaderFieldList fields) {
      var named = NAME.matcher(host.toLowerCase(Locale.ROOT));
      if (!named.matches()) {
        return null;
      }
      var service = services.apply(named.group(2), named.group(1));
      // A rule of a ScaledService may choose another port.
      var found = service == null
          ? scaled.revision(named.group(1) + "." + named.group(2), target, fields)
          : service;
      return found == null && named.group(3).equals(SUFFIX)
          ? new RevisionId(named.group(2), named.group(1))
          : found;
    }
  }
}
