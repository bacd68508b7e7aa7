package dev.activator.ext.asleep.policy;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How far a node is with the new resources of a pod.
 *
 * <p><b>Source.</b> KEP-1287: the conditions {@code PodResizePending} and {@code PodResizeInProgress},
 * and {@code resources} of container statuses, which are those in force.
 */
public sealed interface ResizeProgress {
  record Done() implements ResizeProgress {}

  /** @param why a sentence for the case that it takes too long */
  record Waiting(String why) implements ResizeProgress {}

  record Failed(String why) implements ResizeProgress {}

  /** @param wanted the resources that were set */
  static ResizeProgress of(Map<?, ?> pod, List<ContainerResources> wanted) {
    var status = pod.get("status") instanceof Map<?, ?> map ? map : Map.of();
    for (var condition : maps(status.get("conditions")).toList()) {
      if (!"True".equals(condition.get("status"))) {
        continue;
      }
      var message = Objects.requireNonNullElse(condition.get("message"), "").toString();
      var why = condition.get("reason") + (message.isEmpty() ? "" : ": " + message);
      if ("PodResizePending".equals(condition.get("type")) && !isOlder(condition, pod)) {
        return "Infeasible".equals(condition.get("reason"))
            ? new Failed("its node refuses the resize as " + why)
            : new Waiting("its node has put off the resize as " + why);
      }
      if ("PodResizeInProgress".equals(condition.get("type"))) {
        return new Waiting("its node has not ended the resize"
            + (condition.get("reason") == null
                ? "; where more memory is in use, an Event of the pod says so"
                : ", " + why));
      }
    }
    var inForce = Stream.of("containerStatuses", "initContainerStatuses")
        .flatMap(field -> maps(status.get(field))).map(ContainerResources::of).toList();
    boolean isDone = wanted.stream().allMatch(one -> inForce.stream()
        .anyMatch(now -> now.name().equals(one.name()) && now.has(one)));
    return isDone ? new Done() : new Waiting("its node has not begun the resize");
  }

  /** Whether a condition is about resources that were set before those that the pod has now. */
  private static boolean isOlder(Map<?, ?> condition, Map<?, ?> pod) {
    return condition.get("observedGeneration") instanceof Number seen
        && pod.get("metadata") instanceof Map<?, ?> metadata
        && metadata.get("generation") instanceof Number now && seen.longValue() < now.longValue();
  }

  private static Stream<Map<?, ?>> maps(@Nullable Object list) {
    return list instanceof List<?> all
        ? all.stream().filter(Map.class::isInstance).map(one -> (Map<?, ?>) one)
        : Stream.empty();
  }
}
