package dev.activator.embedded.runtime;

import dev.activator.autoscaler.policy.ScalingLimits;
import dev.activator.embedded.api.store.Meta;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/**
 * How each revision is scaled. One that takes no requests any more has no minimum, and one that is not
 * ready yet has its initial scale.
 */
final class RevisionLimits {
  static final String INITIAL_SCALE = "autoscaling.knative.dev/initial-scale";

  private RevisionLimits() {}

  /** @param mostByDefault the maximum for a revision that names none */
  static ScalingLimits of(ObjectNode revision, int mostByDefault) {
    var own = ScalingLimits.of(revision.at("/spec/containerConcurrency").intValue(0),
        annotations(revision), mostByDefault);
    return switch (Meta.labels(revision).getOrDefault(KnativeLabels.ROUTING_STATE, "")) {
      case "reserve" -> own.withoutLeast();
      case "pending" -> own.withLeast(initialScale(revision));
      default -> own;
    };
  }

  private static Map<String, String> annotations(ObjectNode revision) {
    var annotations = new HashMap<String, String>();
    for (var one : revision.at("/metadata/annotations").properties()) {
      annotations.put(one.getKey(), one.getValue().asString(""));
    }
    return annotations;
  }

  /** Pods a new revision starts with. */
  static int initialScale(ObjectNode revision) {
    var annotations = annotations(revision);
    String number = annotations.getOrDefault(INITIAL_SCALE,
        annotations.getOrDefault("autoscaling.knative.dev/initialScale", ""));
    return number.matches("\\d{1,4}") ? Integer.parseInt(number) : 1;
  }
}
