package dev.activator.ext.console;

import dev.activator.backend.RevisionBackendsView.Address;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/** Why requests of a revision wait, for their callers: without addresses and messages of Kubernetes. */
final class CallerReason {
  private static final Set<WaitState> PROBING = EnumSet.of(WaitState.STARTING,
      WaitState.NOT_PROBED_YET,
      WaitState.NOT_ANSWERING, WaitState.NOT_READY, WaitState.OVERDUE, WaitState.RESTARTING);

  /** The reasons of autoscalers that add a node for a pod. */
  private static final Set<String> NODE_IS_ADDED = Set.of("TriggeredScaleUp", "Nominated");

  private CallerReason() {}

  /** Empty if there is nothing to wait for. */
  static String of(RevisionSnapshot now) {
    var state = WaitDiagnosis.state(now);
    if (PROBING.contains(state) && !now.processProblem().isEmpty()) {
      return now.processProblem();
    }
    if (state == WaitState.NO_PODS && !now.hiddenPods().isEmpty()) {
      return now.hiddenPods();
    }
    return switch (state) {
      case UNKNOWN, AT_ZERO, SERVING, SERVING_BY_CLUSTER_IP, MOVING -> "";
      case BUSY, QUEUE_FULL -> WaitDiagnosis.inUse(now.capacity())
          + (now.isByClusterIp() ? "" : WaitDiagnosis.where(now));
      case BOUND -> "the pod of this session has no room";
      case EXCLUSIVE -> "each pod serves another session";
      case NO_PODS -> now.linkProblem() == null
          ? "no pod is listed" + awaited(now)
          : "no pod is listed, and "
              + (now.isScaledService()
                  ? "no activator that scales is connected"
                  : "the autoscaler is not connected");
      case CANNOT_START, CANNOT_SCALE, NO_NODE, OVERDUE ->
        WaitDiagnosis.cannotStart(Objects.requireNonNull(now.queue().start().failure()));
      case STARTING, RESTARTING, NOT_PROBED_YET, NOT_ANSWERING,
          NOT_TRUSTED ->
        WaitDiagnosis.listed(now) + now.pods().stream()
            .filter(pod -> pod.failures() > 0).max(Comparator.comparingInt(Address::failures))
            .map(worst -> ", and none answers our probe: " + worst.probe().outcome() + " ("
                + WaitDiagnosis.times(worst.failures()) + ")")
            .orElse(", and the first answer is awaited");
      case NOT_READY -> WaitDiagnosis.listed(now) + ", and Kubernetes calls none ready";
      case AT_PEERS -> "other activators use the pods' permits";
      case PEER_LOST -> "permits are at an activator that cannot be reached";
      case NOT_DELIVERABLE -> WaitDiagnosis.listed(now) + ", but requests could not be delivered";
      case NO_CLUSTER_IP -> "the ClusterIP does not answer";
      case NO_AUTOSCALER -> "no pod is listed, and what starts pods is not connected";
      case NO_NEWS -> "the Kubernetes API gives no news of pods";
      case NOT_SYNCED -> "the activator has not read everything from the Kubernetes API yet";
    };
  }

  private static String awaited(RevisionSnapshot now) {
    var pod = WaitDiagnosis.ofPod(now);
    return pod == null
        ? ""
        : ": it waits for " + pod.current().awaited()
            + (NODE_IS_ADDED.contains(pod.reason()) ? ", which is being added" : "");
  }
}
