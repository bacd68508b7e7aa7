package dev.activator.platform;

import dev.activator.autoscaler.Autoscaler;
import dev.activator.autoscaler.LeadershipStatus;
import dev.activator.autoscaler.ScalingView;
import dev.activator.cluster.ClusterWatcher.Sources;
import dev.activator.cluster.ClusterWatcher;
import dev.activator.cluster.ClusterAccess;
import dev.activator.console.LiveConsole;
import dev.activator.console.RevisionDetailsSource;
import dev.activator.console.KnativeAutoscalerDefaults;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** What the activator runs on, and what follows from it: where the API is, and who scales. */
public interface Platform {
  ClusterAccess api();

  URI autoscaler();

  /** Where revisions come from. */
  default Sources sources() {
    return Sources.KNATIVE;
  }

  /** How requests name revisions, where Knative's rules are {@code knative}. */
  default RevisionResolver names(RevisionResolver.Knative knative) {
    return knative;
  }

  /** What is unusual about the processes of a revision on this machine. */
  default LocalProcessProblems processes(RevisionId revision) {
    return LocalProcessProblems.NONE;
  }

  /**
   * Where the pod listens that has a connection from this port of the loopback address; 0 if none has, or
   * pods have addresses of their own.
   */
  default int podPort(int callerPort) {
    return 0;
  }

  /** Whether responses have the whole message of a failed start. */
  default boolean showsStartMessages() {
    return false;
  }

  /** Whether there may be other activators. */
  default boolean hasPeers() {
    return true;
  }

  default Duration idleTimeout() {
    return IdleLimits.DEFAULT.timeout();
  }

  /** Extends what the console shows of revisions in a cluster. */
  default RevisionDetailsSource details(RevisionDetailsSource ofCluster) {
    return ofCluster;
  }

  /** What holds for Revisions without annotations; null if Knative's ConfigMap says so. */
  default @Nullable KnativeAutoscalerDefaults scalingDefaults() {
    return null;
  }

  /** Null in a cluster, where the console changes nothing. */
  default LiveConsole.@Nullable Actions actions() {
    return null;
  }

  /** Called before anything starts. */
  default void join(ClusterWatcher cluster, AutoscalerLink link) {}

  /** The autoscaler in this process; null if it runs elsewhere. */
  default @Nullable Autoscaler scaler() {
    return null;
  }

  /** How this process scales a revision now; null if it does not. */
  default @Nullable ScalingView scaling(RevisionId id) {
    var scaler = scaler();
    return scaler == null ? null : scaler.view(id);
  }

  /** How long ago this process scaled a revision from zero; null if it did not. */
  default @Nullable Duration scaledFromZero(RevisionId id) {
    var scaler = scaler();
    return scaler == null ? null : scaler.scaledFromZero(id);
  }

  /** How this process scales its revisions now. */
  default Collection<ScalingView> scaled() {
    var scaler = scaler();
    return scaler == null ? List.of() : scaler.views().values();
  }

  /** Which activator scales; null where none is elected. */
  default @Nullable LeadershipStatus leadership() {
    return null;
  }

  /** Start before the activator takes requests, and stop after the last one. */
  default List<LifecyclePart> beforePorts() {
    return List.of();
  }

  /** Start once the activator takes requests. */
  default List<LifecyclePart> afterPorts(IntSupplier requestPort) {
    return List.of();
  }

  record InCluster(ClusterAccess api, URI autoscaler) implements Platform {}
}
