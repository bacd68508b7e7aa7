package dev.activator.app;

import dev.activator.app.properties.EmbeddedProperties;
import dev.activator.autoscaler.Autoscaler;
import dev.activator.autoscaler.AutoscalerServer;
import dev.activator.autoscaler.ScalingView;
import dev.activator.autoscaler.WriteGuard;
import dev.activator.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.Cluster.Sources;
import dev.activator.cluster.ClusterAccess;
import dev.activator.embedded.api.ApiServer;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.runtime.LocalRuntime;
import dev.activator.embedded.runtime.RevisionScaling;
import dev.activator.embedded.runtime.RuntimeSettings;
import dev.activator.embedded.runtime.ScaledServiceKind;
import dev.activator.embedded.runtime.SystemConfigMaps;
import dev.activator.lifecycle.Part;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.proxy.policy.HostRule;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.IntSupplier;
import java.util.function.ToIntBiFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A cluster in this process, with an autoscaler. */
public final class EmbeddedPlatform implements Surroundings {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedPlatform.class);
  /** As application-embedded.yaml names it. */
  private static final String ACTIVATOR = "activator";
  private static final String LOOPBACK = "127.0.0.1";
  /**
   * Short: a program that serves one connection at a time cannot accept another while an idle one
   * is open.
   */
  private static final Duration IDLE_TIMEOUT = Duration.ofMillis(50);

  private final ApiServer api;
  private final LocalRuntime runtime;
  private final RevisionScaling scaling;
  private final ScaledServiceController controller = new ScaledServiceController();
  private final Autoscaler autoscaler;
  private final Loop autoscalerLoop;
  private final AutoscalerServer autoscalerServer;
  /** The uid of each revision that requests can be routed to. */
  private final Map<RevisionId, String> heard = new ConcurrentHashMap<>();
  private final AtomicBoolean greeted = new AtomicBoolean();
  private volatile IntSupplier requestPort = () -> 0;

  /** @param loops must not serve the activator's requests */
  public EmbeddedPlatform(EmbeddedProperties properties, EventLoopGroup loops,
      RandomGenerator random, ToIntBiFunction<RevisionId, Destination> inFlight) {
    var store = new ApiStore(Clock.systemUTC());
    SystemConfigMaps.createIn(store);
    ScaledServiceKind.createIn(store);
    this.api = new ApiServer(store, loop(loops), at(properties.apiPort()));
    this.runtime = new LocalRuntime(store, loop(loops),
        new RuntimeSettings(Clock.systemUTC(), random, properties.logOutput(),
            (id, uid) -> uid.equals(heard.get(id)), inFlight));
    this.scaling = new RevisionScaling(store, loop(loops),
        new Defaults(properties.stableWindow(), properties.maxPods()));
    this.autoscalerLoop = loop(loops);
    this.autoscaler = new Autoscaler(autoscalerLoop, scaling, WriteGuard.ALONE,
        controller);
    this.autoscalerServer = new AutoscalerServer(loops, at(properties.autoscalerPort()),
        autoscaler::received);
  }

  @Override
  public ClusterAccess api() {
    return new ClusterAccess.At(URI.create("http://" + LOOPBACK + ":" + api.port()));
  }

  @Override
  public URI autoscaler() {
    return URI.create("ws://" + LOOPBACK + ":" + autoscalerServer.port());
  }

  @Override
  public Sources sources() {
    return Sources.BOTH;
  }

  @Override
  public HostRule hosts() {
    return new LocalHosts(this::named);
  }

  /** A Service's latest revision, or else what a ScaledService of this name would be. */
  private RevisionId named(String namespace, String name) {
    var latest = runtime.latestRevision(namespace, name);
    return latest == null ? new RevisionId(namespace, name) : latest;
  }

  @Override
  public boolean showsStartMessages() {
    return true;
  }

  @Override
  public Duration idleTimeout() {
    return IDLE_TIMEOUT;
  }

  @Override
  public void join(Cluster cluster, AutoscalerLink link) {
    link.tellUptime();
    controller.follow(cluster, autoscaler,
        cluster.writer(autoscalerLoop, Clock.systemUTC(), () -> true));
  }

  @Override
  public @Nullable ScalingView scaling(RevisionId id) {
    return autoscaler.views().get(id);
  }

  @Override
  public List<Part> beforePorts() {
    return List.of(new Part("embedded Kubernetes API", api::start, api::stop),
        new Part("embedded autoscaler", autoscalerServer::start, autoscalerServer::stop),
        // Started by afterPorts(), once the port for the Services' URLs is known. Stopped here:
        // requests to local processes end first.
        Part.stopped("local processes", runtime::stop));
  }

  @Override
  public List<Part> afterPorts(IntSupplier requestPort) {
    this.requestPort = requestPort;
    return List.of(
        Part.started("local Services", () -> runtime.start(requestPort.getAsInt())),
        new Part("embedded autoscaler's decisions", this::startScaling, this::stopScaling));
  }

  private void startScaling() {
    autoscaler.members(Map.of(ACTIVATOR, true));
    autoscaler.start();
    controller.start();
    scaling.start(autoscaler);
  }

  private void stopScaling() {
    controller.stop();
    scaling.stop();
    autoscaler.stop().join();
  }

  /** The first revision is the sample's. */
  public void heardOf(Revision first) {
    heard.put(first.id(), first.uid());
    runtime.routable(first.id());
    if (!greeted.getAndSet(true)) {
      log.info("Look: kubectl -s http://{}:{} get endpoints", LOOPBACK, api.port());
      log.info("Try: curl http://hello.default.localhost:{}/", requestPort.getAsInt());
    }
  }

  private static Loop loop(EventLoopGroup loops) {
    return new NettyLoop(loops.next());
  }

  private static InetSocketAddress at(int port) {
    return new InetSocketAddress(LOOPBACK, port);
  }

  /** {@code <service>.<namespace>.localhost}, with any port, names a Service's latest revision. */
  record LocalHosts(BiFunction<String, String, @Nullable RevisionId> latest) implements HostRule {
    private static final String SUFFIX = ".localhost";

    @Override
    public @Nullable RevisionId revision(String host) {
      int colon = host.indexOf(':');
      String name = colon < 0 ? host : host.substring(0, colon);
      if (!name.endsWith(SUFFIX)) {
        return null;
      }
      String[] parts = name.substring(0, name.length() - SUFFIX.length()).split("\\.", -1);
      boolean named = parts.length == 2 && !parts[0].isEmpty() && !parts[1].isEmpty();
      return named ? latest.apply(parts[1], parts[0]) : null;
    }
  }
}
