package dev.activator.embedded.runtime;

import dev.activator.embedded.api.Meta;
import dev.activator.embedded.autoscaler.policy.ScalingLimits;
import dev.activator.revision.RevisionId;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Which revisions there are, for those who ask at any time.
 *
 * <p>
 * <b>Threads.</b> One loop writes; any thread may ask, and sees all of one moment.
 */
final class RevisionDirectory implements LatestRevisions {
  private record Snapshot(Map<String, RevisionId> latest, Map<RevisionId, ScalingLimits> limits) {}

  private volatile Snapshot snapshot = new Snapshot(Map.of(), Map.of());

  /** These are all the revisions now. */
  void replace(Collection<ObjectNode> revisions) {
    var newest = new HashMap<String, ObjectNode>();
    for (var revision : revisions) {
      newest.merge(service(revision), revision,
          (one, other) -> number(one) > number(other) ? one : other);
    }
    var limits = new HashMap<RevisionId, ScalingLimits>();
    for (var revision : revisions) {
      var own = ScalingLimits.of(RevisionReader.containerConcurrency(revision),
          RevisionReader.annotations(revision));
      boolean latest = revision == newest.get(service(revision));
      limits.put(RevisionReader.id(revision), latest ? own : own.withoutLeast());
    }
    var latest = new HashMap<String, RevisionId>();
    newest.forEach((service, revision) -> latest.put(service, RevisionReader.id(revision)));
    snapshot = new Snapshot(Map.copyOf(latest), Map.copyOf(limits));
  }

  @Override
  public @Nullable RevisionId latest(String namespace, String service) {
    return snapshot.latest().get(Meta.key(namespace, service));
  }

  Map<RevisionId, ScalingLimits> limits() {
    return snapshot.limits();
  }

  /** Which of its Service's templates a revision was; 0 for one that says nothing. */
  static int number(ObjectNode revision) {
    String number = Meta.labels(revision).getOrDefault(Names.GENERATION, "");
    return number.matches("\\d{1,9}") ? Integer.parseInt(number) : 0;
  }

  private static String service(ObjectNode revision) {
    return Meta.key(Meta.namespace(revision),
        Meta.labels(revision).getOrDefault(Names.SERVICE, ""));
  }
}
