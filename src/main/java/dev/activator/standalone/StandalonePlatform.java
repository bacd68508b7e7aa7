package dev.activator.standalone;

import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.kube.LeaderElection;
import dev.activator.kube.LeadershipStatus;
import dev.activator.kube.policy.LeaderElectionState.Times;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.KubernetesLeaseClient;
import dev.activator.kube.ScalingApiClients;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.stats.AutoscalerLink;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;

/**
 * The platform of stand-alone mode: a cluster without Knative. Every activator has an autoscaler
 * for ScaledServices, but only that of the elected activator runs. All activators, including the
 * leader, report to the holder of the lease.
 */
public final class StandalonePlatform implements ScaledServicePlatform {
  private static final Duration MEMBERS_PERIOD = Duration.ofSeconds(2);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
  /**
   * The limit is short, because the next leader waits for the release of the lease, and then writes
   * the remaining statuses itself.
   */
  private static final Duration STATUSES_TIMEOUT = Duration.ofSeconds(1);

  private final ClusterAccess access;
  private final Identity identity;
  private final ScaledServices services;
  private final ScalingApiClients clients;
  private final Duration statusesTimeout;
  private final RandomGenerator random;
  private final KubernetesLeaseClient lease;
  private final Loop loop;
  private final ScaledServiceAutoscalerAdapter adapter;
  /** When the newest read of the activators began, in the loop's time. Used on the loop. */
  private long membersReadAt = Long.MIN_VALUE / 2;
  private final Autoscaler autoscaler;
  private final StatsServer server;
  private final LeaderElection election;
  private final ResettableTimer members;
  private CompletableFuture<Void> lastEvent = CompletableFuture.completedFuture(null);
  private final Map<String, LongAdder> writes = new ConcurrentHashMap<>();
  private volatile Runnable onMove = () -> {
  };

  /**
   * The identity of this activator.
   *
   * @param lease the name of the Lease for the election, in the pod's namespace
   * @param service the Service whose endpoints are the activators
   * @param port the port for reports, which is the same for all activators
   */
  public record Identity(String pod, String podIp, String namespace, String lease, String service,
      int port) {
    String holder() {
      return pod + "_" + podIp;
    }
  }

  /**
   * @param loops must not serve requests
   * @param limit the limit of writes to the API
   */
  public StandalonePlatform(ClusterAccess access, Identity identity, ScaledServices services,
      EventLoopGroup loops, RandomGenerator random, KubernetesWriteRateLimiter.Limit limit) {
    this(access, identity, services, loops, random,
        new ScalingApiClients(access, () -> limit.rate(new NettyLoop(loops.next()))),
        STATUSES_TIMEOUT);
  }

  StandalonePlatform(ClusterAccess access, Identity identity, ScaledServices services,
      EventLoopGroup loops, RandomGenerator random, ScalingApiClients clients,
      Duration statusesTimeout) {
    this.access = access;
    this.identity = identity;
    this.services = services;
    this.clients = clients;
    this.statusesTimeout = statusesTimeout;
    this.random = random;
    this.lease = clients.lease(identity.namespace, identity.lease);
    this.loop = new NettyLoop(loops.next());
    this.election = new LeaderElection(identity.holder(), loop, lease, new Terms(),
        Clock.systemUTC(), random, Times.DEFAULT);
    this.adapter = new ScaledServiceAutoscalerAdapter(services, clients.scales(), this::written);
    this.autoscaler = new Autoscaler(loop, adapter.scales(), election, adapter, random);
    this.server = new StatsServer(loops,
        new InetSocketAddress(identity.podIp, identity.port), autoscaler::received,
        () -> election.view().leads());
    this.members = new ResettableTimer(loop, this::readMembers);
  }

  @Override
  public ScaledServiceAutoscalerAdapter adapter() {
    return adapter;
  }

  @Override
  public ClusterAccess api() {
    return access;
  }

  @Override
  public URI autoscalerUri() {
    return autoscalerOf(election.view().holder(), identity);
  }

  /**
   * The URI of the leader's autoscaler, or of this activator's while no leader is known: the lease has
   * no holder, or one that another tool wrote.
   */
  static URI autoscalerOf(String holder, Identity own) {
    String ip = holder.substring(holder.lastIndexOf('_') + 1);
    try {
      return uri(ip.isEmpty() ? own.podIp : ip, own.port);
    } catch (IllegalArgumentException e) {
      return uri(own.podIp, own.port);
    }
  }

  private static URI uri(String ip, int port) {
    return URI.create("ws://" + (ip.contains(":") ? "[" + ip + "]" : ip) + ":" + port);
  }

  @Override
  public RevisionResolver names(String clusterDomain) {
    return new RevisionResolver.Hosts(services);
  }

  /** An activator that is not known yet may have read the ScaledServices before the state was there. */
  private List<String> unacknowledged(RevisionId id, IdleState state, long written) {
    return membersReadAt - written > 0
        ? autoscaler.unacknowledged(id, state)
        : List.of("the endpoints of our own Service");
  }

  @Override
  public void join(ClusterWatcher cluster, AutoscalerLink link) {
    link.sendUptime();
    onMove = link::moved;
    link.onChange(new AutoscalerLink.Listener() {
      @Override
      public void lost() {
        election.readSoon();
      }

      @Override
      public void failed() {
        election.readSoon();
      }
    });
    cluster.leaveOutKnative();
    cluster.setSource(services);
    adapter.openClients(loop, clients::scaling, election, this::unacknowledged);
    adapter.follow(autoscaler,
        new ScaledServiceStatusWriter(loop, clients::records, Clock.systemUTC(),
            election::holdsLease, random),
        new ActivatorEndpointSliceWriter(loop, clients::records, election::holdsLease,
            adapter::notCaught, random));
    adapter.follow(cluster.podStarts(), loop);
  }

  @Override
  public Autoscaler scalingViews() {
    return autoscaler;
  }

  @Override
  public LeadershipStatus leadership() {
    var view = election.view();
    var age = Duration.ofNanos(loop.nanoTime() - view.renewedAt());
    boolean ended = view.holder().isEmpty() || age.compareTo(Times.DEFAULT.lease()) > 0;
    var counts = new TreeMap<String, Long>();
    writes.forEach((result, count) -> counts.put(result, count.sum()));
    return new LeadershipStatus(ended ? "" : podOf(view.holder()), view.leads(), view.term(), age,
        view.failures(), view.problem(), counts);
  }

  private static String podOf(String holder) {
    int end = holder.lastIndexOf('_');
    return end < 0 ? holder : holder.substring(0, end);
  }

  @Override
  public List<LifecyclePart> beforePorts() {
    // The writer of statuses stops last, because the autoscaler's stop writes the statuses once
    // more before it releases the lease.
    return List.of(
        new LifecyclePart("statuses of ScaledServices", () -> adapter.statusWriter().start(),
            () -> adapter.statusWriter().stop()),
        new LifecyclePart("requests to Services at zero", () -> adapter.sliceWriter().start(),
            () -> adapter.sliceWriter().stop()),
        new LifecyclePart("elected autoscaler", this::start, this::stop));
  }

  private void start() {
    clients.open();
    server.start();
    election.start();
  }

  private void stop() {
    // If the release takes too long, the lease expires by itself.
    election.stop().thenComposeAsync(_ -> lastEvent, loop)
        .completeOnTimeout(null, STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).join();
    server.stop();
    clients.close();
  }

  /**
   * Reads the activators from the API itself. A watch may be late, and requests of an unknown
   * activator would not be counted.
   */
  private void readMembers() {
    if (!election.view().leads()) {
      return;
    }
    members.within(MEMBERS_PERIOD);
    long now = loop.nanoTime();
    var _ = clients.members(identity.namespace, identity.service).thenAcceptAsync(read -> {
      membersReadAt = now;
      autoscaler.members(read.orElse(null));
    }, loop);
  }

  private final class Terms implements LeaderElection.Listener {
    @Override
    public void elected(int term) {
      writeEvent("LeaderElected", "became leader");
      autoscaler.members(null);
      adapter.elected();
      autoscaler.start();
      readMembers();
    }

    @Override
    public CompletableFuture<Void> deposed() {
      members.cancel();
      server.disconnect();
      writeEvent("LeaderLost", "stopped leading");
      return autoscaler.stop()
          .thenCompose(_ -> adapter.statusWriter().finish().completeOnTimeout(null,
              statusesTimeout.toMillis(), TimeUnit.MILLISECONDS));
    }

    private void writeEvent(String reason, String what) {
      lastEvent = clients.events().write(lease.regarding(), false, reason,
          identity.holder() + " " + what);
    }

    @Override
    public void onHolder(String now) {
      onMove.run();
    }
  }

  private void written(ScaleApiResult answer) {
    var result = answer instanceof ScaleApiResult.Refused(var reason, _, _)
        ? reason.name().toLowerCase(Locale.ROOT).replace('_', '-')
        : "written";
    writes.computeIfAbsent(result, _ -> new LongAdder()).increment();
  }
}
