package dev.activator.console;

import dev.activator.backend.BackendsView.Address;
import dev.activator.backend.BackendsView;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.ThrottleView;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One revision at one moment, and what its requests depend on: what the stages say of it, taken
 * together on its loop.
 *
 * @param backends its pods; null where they are not watched
 * @param queue its throttle
 * @param link the connection to the autoscaler
 * @param api the watches of the Kubernetes API
 */
record RevisionSnapshot(RevisionId revision, @Nullable BackendsView backends,
    ThrottleView.Details queue,
    AutoscalerLink.View link, ApiState api) {

  int inFlight() {
    return queue.now().inFlight();
  }

  int queued() {
    return queue.now().queued();
  }

  /** How many requests may run at once; {@link Integer#MAX_VALUE} for any number. */
  int capacity() {
    return queue.now().capacity();
  }

  boolean isQueueFull() {
    return queued() > 0 && queued() >= queue.queue().capacity();
  }

  /** All pods that Kubernetes lists, in order. */
  List<Address> pods() {
    return backends == null ? List.of() : backends.pods();
  }

  /** The address of the private Service; null while it has none. */
  @Nullable Address clusterIp() {
    return backends == null ? null : backends.clusterIp();
  }

  /** Whether requests go to the ClusterIP. */
  boolean isByClusterIp() {
    return backends != null && backends.published().clusterIp() != null;
  }

  /** Whether single pods may be addressed at all. */
  boolean podsAreProbed() {
    return backends == null || backends.addressing().podsAreProbed();
  }

  /** Whether a pod that answers serves before Kubernetes calls it ready. */
  boolean probesBeforeReady() {
    return backends == null || backends.probesBeforeReady();
  }

  /** Where requests could not be delivered a moment ago. */
  List<Destination> undelivered() {
    return Stream.concat(queue.ejected().stream(),
        pods().stream().filter(Address::suspected).map(Address::destination)).distinct().sorted()
        .toList();
  }

  /** What is wrong with the link to the autoscaler; null while it is up. */
  @Nullable String linkProblem() {
    return problem(link);
  }

  static @Nullable String problem(AutoscalerLink.View link) {
    return link.connected() ? null : Objects.requireNonNullElse(link.problem(), "not open yet");
  }
}
