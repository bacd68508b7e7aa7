package dev.activator.app;

import dev.activator.autoscaler.ScalingView;
import dev.activator.cluster.Cluster;
import dev.activator.cluster.Cluster.Sources;
import dev.activator.cluster.ClusterAccess;
import dev.activator.console.RevisionFacts;
import dev.activator.lifecycle.Part;
import dev.activator.proxy.policy.RevisionNames;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.upstream.Upstreams.IdleLimits;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** A cluster, or a platform of our own. */
public interface Surroundings {
  ClusterAccess api();

  URI autoscaler();

  /** Where revisions come from. */
  default Sources sources() {
    return Sources.KNATIVE;
  }

  /** How requests name revisions, where Knative's rules are {@code knative}. */
  default RevisionNames names(RevisionNames.Knative knative) {
    return knative;
  }

  /** Why the process of a revision, which runs, is not ready; empty if nothing is known. */
  default String problem(RevisionId revision) {
    return "";
  }

  /** Whether callers are told in full why a revision does not start. */
  default boolean showsStartMessages() {
    return false;
  }

  default Duration idleTimeout() {
    return IdleLimits.DEFAULT.timeout();
  }

  /** What the console knows, given what it knows in a cluster. */
  default RevisionFacts facts(RevisionFacts ofCluster) {
    return ofCluster;
  }

  /** Call before anything starts. */
  default void join(Cluster cluster, AutoscalerLink link) {}

  /** How this process scales a revision now; null if it does not. */
  default @Nullable ScalingView scaling(RevisionId id) {
    return null;
  }

  default Collection<ScalingView> scaled() {
    return List.of();
  }

  /** Which activator scales; null where none is elected. */
  default @Nullable Leadership leadership() {
    return null;
  }

  /** Start before the activator takes requests, and stop after the last one. */
  default List<Part> beforePorts() {
    return List.of();
  }

  /** Start once the activator takes requests. */
  default List<Part> afterPorts(IntSupplier requestPort) {
    return List.of();
  }

  /**
   * Who scales.
   *
   * @param pod of the leader; empty if none leads, or that is not known
   * @param here whether it is this activator
   * @param transitions how many times the lease has changed hands
   * @param leaseAge since the lease was last seen to be renewed
   * @param failures how many times the lease could not be read or written
   * @param problem why it could not the last time; empty if it could
   * @param writes of scales by this activator, by their result
   */
  record Leadership(String pod, boolean here, int transitions, Duration leaseAge,
      long failures, String problem, Map<String, Long> writes) {}

  record InCluster(ClusterAccess api, URI autoscaler) implements Surroundings {}
}
