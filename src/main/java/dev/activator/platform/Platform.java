package dev.activator.platform;

import java.util.Map;
import dev.activator.kube.LeadershipStatus;
import dev.activator.revision.ScalingView;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.proxy.policy.RevisionResolver.HostRouter;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.PodFreezer;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The environment in which the activator runs: it determines the Kubernetes API, the source of
 * revisions, and the autoscaler.
 */
public interface Platform {
  ClusterAccess api();

  /** Whether the API runs in another process, so that it can be connected to before this one has started. */
  default boolean hasApiElsewhere() {
    return true;
  }

  /** Where statistics are sent. */
  URI autoscalerUri();

  /** The rules by which a request is mapped to a revision. */
  default RevisionResolver names(String clusterDomain) {
    return new RevisionResolver.Knative(clusterDomain, HostRouter.NONE);
  }

  /** The problems of a revision's processes on this machine. */
  default LocalProcessProblems processes(RevisionId revision) {
    return LocalProcessProblems.NONE;
  }

  /** Whether responses contain the whole message of a failed start. */
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

  /** Details of the object of this mode behind a revision; null for a Knative Revision. */
  default @Nullable WorkloadDetails workload(RevisionId id) {
    return null;
  }

  /**
   * The source of the revision details in the console.
   *
   * @param ofCluster the source that reads the cluster's API
   */
  default RevisionDetailsSource details(RevisionDetailsSource ofCluster) {
    return ofCluster;
  }

  /**
   * The scaling defaults of Revisions without annotations; null if they are in Knative's ConfigMap.
   */
  default @Nullable ScalingDefaults scalingDefaults() {
    return null;
  }

  /** The actions of the console's buttons; null in a cluster, where the console is read-only. */
  default @Nullable RevisionActions actions() {
    return null;
  }

  /** Adds a way to start and stop what has no scale. Called before {@link #join}. */
  default void wakeMethod(WakeMethod<?> method) {}

  /**
   * Adds what happens before this platform removes some pods of a workload, but not all, and once a
   * minute while another autoscaler may. It must not block. Called before {@link #join}.
   */
  default void beforeScaleDown(Function<RevisionId, CompletableFuture<Void>> preparation) {}

  /** Sets what gets the method and the time of each wake of a workload. */
  default void onWake(BiConsumer<String, Duration> listener) {}

  /**
   * Says whether this process cannot listen on a port that a revision's annotation names, since another
   * program has it.
   */
  default void portTaken(int port, boolean taken) {}

  /**
   * Says that ready pods get no connections, because they fail the readinessProbe of their port.
   *
   * @param why empty if that has ended
   */
  default void portProbeFails(RevisionId revision, String why) {}

  /** Sets the way in which the last pods are put to sleep. Called before {@link #join}. */
  default void idleMethod(IdleMethod<?> method) {}

  /** Stops processes of pods for a while; null if this process does not run them. */
  default @Nullable PodFreezer freezer() {
    return null;
  }

  /** Sets the names of the extensions of this build. Called before {@link #join}. */
  default void extensions(Set<String> names) {}

  /**
   * Sets the watcher's source of revisions, and subscribes this platform to the watcher and the autoscaler
   * link, after all other subscribers. Called before anything starts.
   */
  default void join(ClusterWatcher cluster, AutoscalerLink link) {}

  /** The autoscaler in this process; null if it runs elsewhere. */
  default @Nullable ScalingViews scalingViews() {
    return null;
  }

  /** The current scaling of a revision; null if this process does not scale it. */
  default @Nullable ScalingView scaling(RevisionId id) {
    var scaler = scalingViews();
    return scaler == null ? null : scaler.view(id);
  }

  /** Whether the workload of a revision runs, in one word; empty if that is unknown. */
  default String scaleState(RevisionId id) {
    var view = scaling(id);
    if (view != null) {
      return view.state() == null ? "" : view.state().text();
    }
    var workload = workload(id);
    return workload == null ? "" : workload.scaleState();
  }

  /** How long ago this process scaled a revision from zero; null if it did not. */
  default @Nullable Duration scaledFromZero(RevisionId id) {
    var scaler = scalingViews();
    return scaler == null ? null : scaler.scaledFromZero(id);
  }

  /** The current scaling of all revisions that this process scales. */
  default Collection<ScalingView> scaled() {
    var scaler = scalingViews();
    return scaler == null ? List.of() : scaler.views().values();
  }

  /** The state of the election of the activator that scales; null if there is no election. */
  default @Nullable LeadershipStatus leadership() {
    return null;
  }

  /** Parts that start before the activator takes requests, and stop after the last request. */
  default List<LifecyclePart> beforePorts() {
    return List.of();
  }

  /** Parts that start once the activator takes requests. */
  default List<LifecyclePart> afterPorts(IntSupplier requestPort) {
    return List.of();
  }

  /** The defaults of an autoscaler in this process that differ from Knative's. */
  record ScalingDefaults(Duration window, int maxPods) {}

  record InCluster(ClusterAccess api, URI autoscalerUri) implements Platform {}

  /**
   * What the autoscaler in this process shows of its work. All is empty while another activator leads.
   *
   * <p><b>Threads.</b> Any.
   */
  interface ScalingViews {
    /** The current view of each workload. */
    Map<RevisionId, ScalingView> views();

    /** The current view of a workload, for a revision of any of its ports; null if there is none. */
    @Nullable ScalingView view(RevisionId id);

    /** How long ago this process scaled the workload from zero; null if it did not. */
    @Nullable Duration scaledFromZero(RevisionId id);
  }
}
