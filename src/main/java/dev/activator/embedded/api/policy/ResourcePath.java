package dev.activator.embedded.api.policy;

import java.util.List;
import java.util.Optional;

/**
 * A parsed path of a resource.
 *
 * @param group empty for the core group
 * @param namespace may be empty
 * @param name empty for a collection
 * @param subresource empty for the object itself
 * @param watched whether the path itself requests a watch, as in {@code /api/v1/watch/pods}
 */
public record ResourcePath(String group, String version, String namespace, String plural,
    String name, String subresource, boolean watched) {
  /** Parses a path; empty unless it is below {@code /api/v1} or {@code /apis/<group>/<version>}. */
  public static Optional<ResourcePath> parse(String path) {
    var steps = List.of(path.substring(1).split("/", -1));
    if (steps.size() > 2 && steps.getFirst().equals("api")) {
      return rest("", steps.get(1), steps.subList(2, steps.size()));
    }
    if (steps.size() > 3 && steps.getFirst().equals("apis")) {
      return rest(steps.get(1), steps.get(2), steps.subList(3, steps.size()));
    }
    return Optional.empty();
  }

  private static Optional<ResourcePath> rest(String group, String version, List<String> all) {
    // Deprecated since Kubernetes 1.11, but served, and Ruby's kubeclient watches in no other way.
    boolean watched = all.size() > 1 && all.getFirst().equals("watch");
    var steps = watched ? all.subList(1, all.size()) : all;
    // The element after a namespace may be a kind in it, or a subresource of the namespace.
    boolean within = steps.size() > 2 && steps.getFirst().equals("namespaces")
        && !(steps.size() == 3 && List.of("status", "finalize").contains(steps.get(2)));
    String namespace = within ? steps.get(1) : "";
    var left = within ? steps.subList(2, steps.size()) : steps;
    if (left.size() > 3 || left.stream().anyMatch(String::isEmpty)) {
      return Optional.empty();
    }
    return Optional.of(new ResourcePath(group, version, namespace, left.getFirst(),
        left.size() > 1 ? left.get(1) : "", left.size() > 2 ? left.get(2) : "", watched));
  }
}
