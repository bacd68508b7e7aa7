package dev.activator.embedded.runtime;

import dev.activator.autoscaler.policy.ScalingLimits;
import dev.activator.embedded.api.store.Meta;
import dev.activator.revision.RevisionId;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/** Only the newest revision of a Service keeps its minimum. */
final class RevisionLimits {
  private RevisionLimits() {}

  static Map<RevisionId, ScalingLimits> of(Collection<ObjectNode> revisions, int mostByDefault) {
    var newest = new HashMap<String, ObjectNode>();
    for (var revision : revisions) {
      newest.merge(service(revision), revision,
          (one, other) -> number(one) > number(other) ? one : other);
    }
    var limits = new HashMap<RevisionId, ScalingLimits>();
    for (var revision : revisions) {
      var own = ScalingLimits.of(revision.at("/spec/containerConcurrency").intValue(0),
          annotations(revision), mostByDefault);
      boolean latest = revision == newest.get(service(revision));
      limits.put(new RevisionId(Meta.namespace(revision), Meta.name(revision)),
          latest ? own : own.withoutLeast());
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

  private static int number(ObjectNode revision) {
    String number = Meta.labels(revision).getOrDefault(KnativeLabels.GENERATION, "");
    return number.matches("\\d{1,9}") ? Integer.parseInt(number) : 0;
  }

  private static String service(ObjectNode revision) {
    return Meta.key(Meta.namespace(revision),
        Meta.labels(revision).getOrDefault(KnativeLabels.SERVICE, Meta.name(revision)));
  }
}
