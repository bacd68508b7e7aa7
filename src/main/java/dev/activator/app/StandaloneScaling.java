package dev.activator.app;

import dev.activator.app.ElectedAutoscaler.Leadership;
import dev.activator.autoscaler.ScalingView;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.Cluster.Sources;
import dev.activator.cluster.ClusterAccess;
import dev.activator.lifecycle.Part;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.proxy.policy.RevisionNames;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import io.netty.channel.EventLoopGroup;
import java.net.URI;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** A cluster without Knative: the activators scale ScaledServices, one of them at a time. */
public final class StandaloneScaling implements Surroundings {
  private final ClusterAccess access;
  private final RevisionId ownService;
  private final Loop loop;
  private final ScaledServiceController controller = new ScaledServiceController();
  private final ElectedAutoscaler elected;

  /** @param loops must not serve requests */
  public StandaloneScaling(ClusterAccess access, ElectedAutoscaler.Identity identity,
      EventLoopGroup loops, RandomGenerator random) {
    this.access = access;
    this.ownService = new RevisionId(identity.namespace(), identity.service());
    this.loop = new NettyLoop(loops.next());
    this.elected = new ElectedAutoscaler(identity, () -> access, loop, loops, controller, random,
        controller::finish);
  }

  @Override
  public ClusterAccess api() {
    return access;
  }

  @Override
  public URI autoscaler() {
    return elected.address();
  }

  @Override
  public Sources sources() {
    return Sources.SCALED_SERVICES;
  }

  @Override
  public RevisionNames names(RevisionNames.Knative knative) {
    return new RevisionNames.Hosts(knative.others());
  }

  @Override
  public void join(Cluster cluster, AutoscalerLink link) {
    elected.follow(link);
    cluster.activatorsAre(ownService);
    controller.follow(cluster, elected.autoscaler(),
        elected.session().writer(loop, Clock.systemUTC(), elected.election()::holdsLease));
  }

  @Override
  public @Nullable ScalingView scaling(RevisionId id) {
    return elected.autoscaler().view(id);
  }

  @Override
  public Collection<ScalingView> scaled() {
    return elected.autoscaler().views().values();
  }

  @Override
  public Leadership leadership() {
    return elected.leadership();
  }

  @Override
  public List<Part> beforePorts() {
    // The statuses stop last: they are written once more before the lease is released.
    return List.of(new Part("statuses of ScaledServices", controller::start, controller::stop),
        elected.part());
  }
}
