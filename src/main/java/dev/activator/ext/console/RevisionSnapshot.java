package dev.activator.ext.console;

import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.backend.RevisionBackendsView.Address;
import dev.activator.backend.RevisionBackendsView;
import dev.activator.observability.ColdStarts.OngoingColdStart;
import dev.activator.revision.Destination;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.ThrottleView;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of one revision and of the state that its requests depend on.
 *
 * @param backends null if they are not watched
 * @param processes the problems of its processes on this machine
 * @param hiddenPods why no request is sent to pods that exist; may be empty
 * @param start null unless a request waits for a start
 */
record RevisionSnapshot(RevisionId revision, WaitState.Kind kind,
    @Nullable RevisionBackendsView backends,
    ThrottleView.Details queue,
    AutoscalerLink.View link, ApiState api, LocalProcessProblems processes,
    String hiddenPods, @Nullable OngoingColdStart start) {
  boolean isScaledService() {
    return kind == WaitState.Kind.SCALED_SERVICE;
  }

  /** Why the revision's process on this machine is not ready; may be empty. */
  String processProblem() {
    return processes.problem();
  }

  int inFlight() {
    return queue.now().inFlight();
  }

  int queued() {
    return queue.now().queued();
  }

  /** The number of requests that may run; {@link Integer#MAX_VALUE} if unlimited. */
  int capacity() {
    return queue.now().capacity();
  }

  boolean isQueueFull() {
    return queued() > 0 && queued() >= queue.queue().capacity();
  }

  List<Address> pods() {
    return backends == null ? List.of() : backends.pods();
  }

  /** The ClusterIP of the private Service; null while it has none. */
  @Nullable Address clusterIp() {
    return backends == null ? null : backends.clusterIp();
  }

  boolean isByClusterIp() {
    return backends != null && backends.published().clusterIp() != null;
  }

  /** Whether pods may be addressed directly. */
  boolean podsAreProbed() {
    return backends == null || backends.addressing().podsAreProbed();
  }

  /** Whether a pod that answers serves before Kubernetes reports it as ready. */
  boolean probesBeforeReady() {
    return backends == null || backends.probesBeforeReady();
  }

  /** The pods to which requests recently failed. */
  List<Destination> undelivered() {
    return Stream.concat(queue.ejected().stream(),
        pods().stream().filter(Address::ejected).map(Address::destination)).distinct().sorted()
        .toList();
  }

  /** The problem of the link to the autoscaler; null while it is connected. */
  @Nullable String linkProblem() {
    return problem(link);
  }

  static @Nullable String problem(AutoscalerLink.View link) {
    return link.connected() ? null : Objects.requireNonNullElse(link.problem(), "not open yet");
  }
}
