package dev.activator.app;

import dev.activator.app.properties.IdentityProperties;
import dev.activator.app.properties.RescueProperties;
import dev.activator.autoscaler.LeaderElection;
import dev.activator.autoscaler.LeaseClient;
import dev.activator.autoscaler.Rescue;
import dev.activator.autoscaler.ScaleClient;
import dev.activator.autoscaler.ScalingListener;
import dev.activator.autoscaler.policy.Election.Times;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.Cluster.Sources;
import dev.activator.cluster.EventWriter.Regarding;
import dev.activator.cluster.LeaseApi;
import dev.activator.cluster.ScaleApi;
import dev.activator.cluster.ScalingSession;
import dev.activator.lifecycle.Part;
import dev.activator.loop.LoopGroup;
import dev.activator.revision.LeaseAnswer;
import dev.activator.revision.LeaseRecord;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleAnswer;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.Throttler;
import java.time.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Starts the first pod of a revision when Knative's autoscaler cannot be reached, if wanted. */
@Configuration(proxyBeanMethods = false)
class RescueConfiguration {
  private static final String LEASE = "activator-rescue";
  private static final long STOP_SECONDS = 5;

  @Bean
  Part rescue(RescueProperties properties, Surroundings surroundings, IdentityProperties identity,
      AutoscalerLink link, Throttler throttler, LoopGroup loops, RandomGenerator random,
      Cluster cluster) {
    if (!properties.enabled() || surroundings.sources() != Sources.KNATIVE) {
      return Part.started("no rescue", () -> {
      });
    }
    var session = new AtomicReference<ScalingSession>();
    var loop = loops.loopFor("rescue");
    var rescue = new Rescue(loop, scales(session), listener -> new LeaderElection(
        identity.podName() + "_" + identity.podIp(), loop,
        leases(session.get().lease(identity.systemNamespace(), LEASE)), listener,
        Clock.systemUTC(), random, Times.DEFAULT), events(session, cluster));
    throttler.onWaiting(rescue::waits);
    link.onChange(new AutoscalerLink.Listener() {
      @Override
      public void connected() {
        rescue.linked(true);
      }

      @Override
      public void lost() {
        rescue.linked(false);
      }
    });
    return new Part("rescue", () -> {
      session.set(ScalingSession.of(surroundings.api()));
      rescue.start();
    }, () -> {
      rescue.stop().completeOnTimeout(null, STOP_SECONDS, TimeUnit.SECONDS).join();
      session.get().close();
    });
  }

  private static ScalingListener events(AtomicReference<ScalingSession> session,
      Cluster cluster) {
    return new ScalingListener() {
      @Override
      public void happened(RevisionId id, boolean warning, String reason, String message) {
        var revision = cluster.find(id);
        var _ = session.get().events().write(new Regarding("serving.knative.dev/v1", "Revision",
            id.namespace(), id.name(), revision == null ? "" : revision.uid()), warning, reason,
            message);
      }
    };
  }

  private static ScaleClient scales(AtomicReference<ScalingSession> session) {
    return new ScaleClient() {
      private ScaleApi scales() {
        return session.get().scales();
      }

      @Override
      public CompletableFuture<ScaleAnswer> read(RevisionId id, ScaleTargetRef workload) {
        return scales().read(id, workload);
      }

      @Override
      public CompletableFuture<ScaleAnswer> write(RevisionId id, ScaleTargetRef workload,
          ScaleAnswer.Found read, int replicas) {
        return scales().write(id, workload, read, replicas);
      }
    };
  }

  private static LeaseClient leases(LeaseApi lease) {
    return new LeaseClient() {
      @Override
      public CompletableFuture<LeaseAnswer> read() {
        return lease.read();
      }

      @Override
      public CompletableFuture<LeaseAnswer> write(LeaseRecord next) {
        return lease.write(next);
      }
    };
  }
}
