package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.Meta;
import dev.activator.autoscaler.policy.ScalingLimits;
import dev.activator.embedded.runtime.serving.Labels;
import dev.activator.revision.RevisionId;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/**
 * What every revision asks of its autoscaler. Only the newest of a Service is kept up without
 * requests.
 *
 * <p>
 * <b>Threads.</b> One loop writes; any thread may ask, and sees all of one moment.
 */
final class RevisionLimits {
  private final int mostByDefault;
  private volatile Map<RevisionId, ScalingLimits> limits = Map.of();

  /** @param mostByDefault pods for a revision that names no maximum */
  RevisionLimits(int mostByDefault) {
    this.mostByDefault = mostByDefault;
  }

  Map<RevisionId, ScalingLimits> all() {
    return limits;
  }

  /** These are all the revisions now. */
  void replace(Collection<ObjectNode> revisions) {
    var newest = new HashMap<String, ObjectNode>();
    for (var revision : revisions) {
      newest.merge(service(revision), revision,
          (one, other) -> number(one) > number(other) ? one : other);
    }
    var fresh = new HashMap<RevisionId, ScalingLimits>();
    for (var revision : revisions) {
      var own = ScalingLimits.of(RevisionReader.containerConcurrency(revision),
          RevisionReader.annotations(revision), mostByDefault);
      var id = RevisionReader.id(revision);
      boolean latest = id
          .equals(RevisionReader.id(newest.getOrDefault(service(revision), revision)));
      fresh.put(id, latest ? own : own.withoutLeast());
    }
    limits = Map.copyOf(fresh);
  }

  private static int number(ObjectNode revision) {
    String number = Meta.labels(revision).getOrDefault(Labels.GENERATION, "");
    return number.matches("\\d{1,9}") ? Integer.parseInt(number) : 0;
  }

  private static String service(ObjectNode revision) {
    return Meta.key(Meta.namespace(revision),
        Meta.labels(revision).getOrDefault(Labels.SERVICE, Meta.name(revision)));
  }
}
