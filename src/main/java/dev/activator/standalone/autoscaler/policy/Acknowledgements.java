package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.RevisionId;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which activators have acknowledged that they send nothing to the pods of a workload. Only the
 * newest acknowledgement of each counts, since it may have sent requests after an older one.
 */
public final class Acknowledgements {
  private final Map<RevisionId, Map<String, Long>> versions = new HashMap<>();

  public void acknowledged(RevisionId id, String activator, long version) {
    versions.computeIfAbsent(id, _ -> new HashMap<>()).put(activator, version);
  }

  public void forget(RevisionId id) {
    versions.remove(id);
  }

  /** The activators that have not acknowledged this version, in order. */
  public List<String> missing(RevisionId id, long version, Collection<String> activators) {
    var known = versions.getOrDefault(id, Map.of());
    return activators.stream().filter(one -> known.getOrDefault(one, 0L) != version).sorted()
        .toList();
  }
}
