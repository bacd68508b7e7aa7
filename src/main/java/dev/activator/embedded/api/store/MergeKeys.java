package dev.activator.embedded.api.store;

import java.util.Map;
import java.util.Optional;

/**
 * Which lists of the built-in kinds are sets of objects, and what tells their members apart.
 *
 * <p>
 * <b>Source.</b> The {@code patchMergeKey} tags of Kubernetes' {@code core/v1/types.go}.
 */
final class MergeKeys {
  private static final Map<String, String> BY_FIELD = Map.ofEntries(Map.entry("containers", "name"),
      Map.entry("initContainers", "name"), Map.entry("ephemeralContainers", "name"),
      Map.entry("volumes", "name"), Map.entry("env", "name"),
      Map.entry("volumeMounts", "mountPath"), Map.entry("imagePullSecrets", "name"),
      Map.entry("ownerReferences", "uid"), Map.entry("conditions", "type"),
      Map.entry("hostAliases", "ip"), Map.entry("secrets", "name"));

  private MergeKeys() {}

  /**
   * The key of a list's members, if they merge.
   *
   * @param parent name of the field that holds the object with the list; a list's name stands for
   *        its members
   * @param field name of the list
   */
  static Optional<String> of(String parent, String field) {
    if (!field.equals("ports")) {
      return Optional.ofNullable(BY_FIELD.get(field));
    }
    return switch (parent) {
      case "spec" -> Optional.of("port");
      case "containers", "initContainers" -> Optional.of("containerPort");
      default -> Optional.empty();
    };
  }

  /** Whether a list of plain values is a set to which a patch adds. */
  static boolean isSet(String field) {
    return field.equals("finalizers");
  }
}
