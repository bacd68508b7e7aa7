package dev.activator.cluster.decode;

import dev.activator.cluster.policy.FailureReasons;
import dev.activator.cluster.policy.PodStatus;
import dev.activator.cluster.policy.PodStatus.FailureReason;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How far a pod has come on its way to start.
 *
 * <p>
 * <b>Source.</b> {@code PodStatus} in {@code k8s.io/api/core/v1/types.go}.
 */
final class PodReader {
  private static final String SCHEDULED = "PodScheduled";
  private static final String PREPARED = "PodReadyToStartContainers";

  private PodReader() {}

  /** What it says; null for a pod that ends or has ended, which says nothing about starts. */
  static @Nullable PodStatus read(Field object, List<String> remarks) {
    var metadata = object.at("metadata");
    var phase = object.at("status").at("phase").textOrEmpty();
    if (metadata.at("deletionTimestamp").isPresent() || phase.equals("Failed")
        || phase.equals("Succeeded")) {
      return null;
    }
    return new PodStatus(metadata.at("name").text(), ailment(object.at("status")));
  }

  private static @Nullable FailureReason ailment(Field status) {
    for (var container : containers(status)) {
      var ailment = ofContainer(container);
      if (ailment != null) {
        return ailment;
      }
    }
    return ofConditions(status.at("conditions").items());
  }

  private static List<Field> containers(Field status) {
    return Stream.concat(status.at("initContainerStatuses").items().stream(),
        status.at("containerStatuses").items().stream()).toList();
  }

  private static @Nullable FailureReason ofContainer(Field container) {
    if (Boolean.TRUE.equals(container.at("ready").truth())) {
      // How it ended before, it has got over.
      return null;
    }
    var waiting = container.at("state").at("waiting");
    var reason = waiting.at("reason").textOrEmpty();
    var ended = FailureReasons.ofEnded(
        container.at("lastState").at("terminated").at("reason").textOrEmpty(),
        container.at("restartCount").countOr(0), reason.equals("CrashLoopBackOff"));
    return ended != null
        ? ended
        : FailureReasons.ofWaiting(reason, waiting.at("message").textOrEmpty());
  }

  private static @Nullable FailureReason ofConditions(List<Field> conditions) {
    boolean notPrepared = false;
    for (var condition : conditions) {
      boolean isFalse = condition.at("status").textOrEmpty().equals("False");
      var type = condition.at("type").textOrEmpty();
      if (isFalse && type.equals(SCHEDULED)) {
        return FailureReasons.unschedulable(condition.at("reason").textOrEmpty(),
            condition.at("message").textOrEmpty());
      }
      notPrepared |= isFalse && type.equals(PREPARED);
    }
    return notPrepared ? FailureReasons.notPrepared() : null;
  }
}
