package dev.activator.cluster.decode;

import dev.activator.cluster.policy.FailureReasons;
import dev.activator.cluster.policy.PodStartStatus;
import dev.activator.cluster.policy.PodStartStatus.FailureReason;
import org.jspecify.annotations.Nullable;

/**
 * Reads why the containers of a pod do not start.
 *
 * <p><b>Source.</b> {@code PodStartStatus} in {@code k8s.io/api/core/v1/types.go}.
 */
final class PodReader implements FactReader<PodStartStatus> {
  private static final String SCHEDULED = "PodScheduled";
  private static final String PREPARED = "PodReadyToStartContainers";

  private String phase = "";
  private @Nullable FailureReason ofInitContainers;
  private @Nullable FailureReason ofContainers;
  private @Nullable FailureReason ofScheduling;
  private boolean notPrepared;

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("status")) {
      for (var field : in.fields()) {
        switch (field) {
          case "phase" -> phase = in.text();
          case "initContainerStatuses" -> ofInitContainers = containers(in);
          case "containerStatuses" -> ofContainers = containers(in);
          case "conditions" -> conditions(in);
        }
      }
    }
  }

  private static @Nullable FailureReason containers(JsonCursor in) {
    FailureReason first = null;
    for (var _ : in.items()) {
      var reason = container(in);
      first = first == null ? reason : first;
    }
    return first;
  }

  private static @Nullable FailureReason container(JsonCursor in) {
    boolean ready = false;
    var waiting = new String[]{"", ""};
    var ended = new String[]{"", ""};
    int restarts = 0;
    for (var field : in.fields()) {
      switch (field) {
        case "ready" -> ready = Boolean.TRUE.equals(in.truth());
        case "restartCount" -> restarts = in.count(0);
        case "state" -> waiting = state(in, "waiting");
        case "lastState" -> ended = state(in, "terminated");
      }
    }
    // A ready container has recovered from its last termination.
    return ready ? null : FailureReasons.ofContainer(waiting[0], waiting[1], ended[0], restarts);
  }

  /** Reason and message; empty if the container is in another state. */
  private static String[] state(JsonCursor in, String which) {
    var reason = "";
    var message = "";
    for (var state : in.fields()) {
      if (state.equals(which)) {
        for (var field : in.fields()) {
          switch (field) {
            case "reason" -> reason = in.text();
            case "message" -> message = in.text();
          }
        }
      }
    }
    return new String[]{reason, message};
  }

  private void conditions(JsonCursor in) {
    for (var _ : in.items()) {
      var condition = StatusCondition.read(in);
      if (condition.isFalse(SCHEDULED) && ofScheduling == null) {
        ofScheduling = FailureReasons.unschedulable(condition.reason(), condition.message());
      }
      notPrepared |= condition.isFalse(PREPARED);
    }
  }

  /** A pod that is terminating or has ended says nothing about starts. */
  @Override
  public @Nullable PodStartStatus fact(Metadata metadata, JsonCursor in) {
    return metadata.ends() || phase.equals("Failed") || phase.equals("Succeeded")
        ? null
        : new PodStartStatus(metadata.name(), failure());
  }

  private @Nullable FailureReason failure() {
    if (ofInitContainers != null || ofContainers != null) {
      return ofInitContainers == null ? ofContainers : ofInitContainers;
    }
    return ofScheduling == null && notPrepared ? FailureReasons.notPrepared() : ofScheduling;
  }
}
