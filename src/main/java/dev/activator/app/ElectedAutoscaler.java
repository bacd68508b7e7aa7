package dev.activator.app;

import dev.activator.autoscaler.Autoscaler;
import dev.activator.autoscaler.AutoscalerServer;
import dev.activator.autoscaler.LeaderElection;
import dev.activator.autoscaler.LeaseClient;
import dev.activator.autoscaler.ScaleClient;
import dev.activator.autoscaler.ScalingListener;
import dev.activator.autoscaler.policy.Election.Times;
import dev.activator.cluster.ClusterAccess;
import dev.activator.cluster.ScalingSession;
import dev.activator.lifecycle.Part;
import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.LeaseAnswer;
import dev.activator.revision.LeaseRecord;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleAnswer;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.stats.AutoscalerLink;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The autoscaler of a cluster without Knative: every activator has one, and the elected one's works.
 * All activators, the leader too, report to the holder of the lease.
 */
public final class ElectedAutoscaler {
  private static final Duration MEMBERS_PERIOD = Duration.ofSeconds(2);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

  private final Identity identity;
  private final Supplier<ClusterAccess> access;
  private final Loop loop;
  private final Autoscaler autoscaler;
  private final AutoscalerServer server;
  private final LeaderElection election;
  private final DeadlineTimer members;
  private volatile @Nullable ScalingSession session;
  private volatile boolean leads;
  private volatile String holder = "";
  private volatile Runnable onMove = () -> {
  };

  /**
   * Who this activator is.
   *
   * @param lease the name of the election's lease, in the pod's namespace
   * @param service whose endpoints are the activators
   * @param port for reports; the same for all activators
   */
  public record Identity(String pod, String podIp, String namespace, String lease, String service,
      int port) {
    String holder() {
      return pod + "_" + podIp;
    }
  }

  /** @param access asked at the start */
  public ElectedAutoscaler(Identity identity, Supplier<ClusterAccess> access, Loop loop,
      EventLoopGroup connections, ScalingListener listener, RandomGenerator random) {
    this.identity = identity;
    this.access = access;
    this.loop = loop;
    this.election = new LeaderElection(identity.holder(), loop, new Leases(), new Terms(),
        Clock.systemUTC(), random, Times.DEFAULT);
    this.autoscaler = new Autoscaler(loop, new Scales(), election, listener);
    this.server = new AutoscalerServer(connections,
        new InetSocketAddress(identity.podIp, identity.port), autoscaler::received, () -> leads);
    this.members = new DeadlineTimer(loop, this::readMembers);
  }

  /** To be told what is scaled, and its pods. */
  public Autoscaler autoscaler() {
    return autoscaler;
  }

  public LeaderElection.View election() {
    return election.view();
  }

  /** Where reports go; nowhere useful while there is no leader. */
  public URI address() {
    String last = holder;
    String ip = last.isEmpty() ? identity.podIp : last.substring(last.lastIndexOf('_') + 1);
    return URI.create("ws://" + (ip.contains(":") ? "[" + ip + "]" : ip) + ":" + identity.port);
  }

  /** Keeps this link connected to the current leader; call before it is opened. */
  public void follow(AutoscalerLink link) {
    link.tellUptime();
    onMove = link::moved;
    link.onChange(new AutoscalerLink.Listener() {
      @Override
      public void lost() {
        election.lookSoon();
      }

      @Override
      public void failed() {
        election.lookSoon();
      }
    });
  }

  /** Before the link opens. */
  public Part part() {
    return new Part("elected autoscaler", this::start, this::stop);
  }

  private void start() {
    session = ScalingSession.of(access.get());
    server.start();
    election.start();
  }

  private void stop() {
    // Without a release the lease ends by itself.
    election.stop().completeOnTimeout(null, STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).join();
    leads = false;
    server.stop();
    var open = session;
    if (open != null) {
      open.close();
    }
  }

  private ScalingSession session() {
    return Objects.requireNonNull(session, "not started");
  }

  /** Asked of the API itself: a watch could be late, and a member that is missed is a request lost. */
  private void readMembers() {
    if (!leads) {
      return;
    }
    members.within(MEMBERS_PERIOD);
    var _ = session().members(identity.namespace, identity.service).read()
        .thenAcceptAsync(read -> autoscaler.members(read.orElse(null)), loop);
  }

  private final class Terms implements LeaderElection.Listener {
    @Override
    public void elected(int term) {
      leads = true;
      autoscaler.members(null);
      autoscaler.start();
      readMembers();
    }

    @Override
    public CompletableFuture<Void> deposed() {
      leads = false;
      members.cancel();
      server.disconnect();
      return autoscaler.stop();
    }

    @Override
    public void holds(String now) {
      holder = now;
      onMove.run();
    }
  }

  private final class Leases implements LeaseClient {
    @Override
    public CompletableFuture<LeaseAnswer> read() {
      return session().lease(identity.namespace, identity.lease).read();
    }

    @Override
    public CompletableFuture<LeaseAnswer> write(LeaseRecord lease) {
      return session().lease(identity.namespace, identity.lease).write(lease);
    }
  }

  private final class Scales implements ScaleClient {
    @Override
    public CompletableFuture<ScaleAnswer> read(RevisionId id, ScaleTargetRef workload) {
      return session().scales().read(id, workload);
    }

    @Override
    public CompletableFuture<ScaleAnswer> write(RevisionId id, ScaleTargetRef workload,
        ScaleAnswer.Found read, int replicas) {
      return session().scales().write(id, workload, read, replicas);
    }
  }
}
