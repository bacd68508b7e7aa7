package dev.activator.embedded.runtime;

import dev.activator.autoscaler.policy.ScalingLimits;
import dev.activator.embedded.api.store.Meta;
import dev.activator.revision.RevisionId;
import java.util.Collection;
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

  static Map<RevisionId, ScalingLimits> of(Collection<ObjectNode> revisions, int mostByDefault) {
    var limits = new HashMap<RevisionId, ScalingLimits>();
    for (var revision : revisions) {
      var own = ScalingLimits.of(revision.at("/spec/containerConcurrency").intValue(0),
          annotations(revision), mostByDefault);
      var id = new RevisionId(Meta.namespace(revision), Meta.name(revision));
      limits.put(id, switch (Meta.labels(revision).getOrDefault(KnativeLabels.ROUTING_STATE, "")) {
        case "reserve" -> own.withoutLeast();
        case "pending" -> own.withLeast(initialScale(revision));
        default -> own;
      });
    }
    return Map.copyOf(limits);
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
