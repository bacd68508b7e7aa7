package dev.activator.embedded.api.store;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * A kind of objects: a row in {@link BuiltInKinds}, or a CustomResourceDefinition. Two kinds are
 * equal if their objects have the same API paths.
 *
 * @param group empty for the core group
 * @param columns the printer columns of a CustomResourceDefinition
 * @param replicasField the field of the spec that {@code /scale} reads and writes
 * @param schema the schema of a CustomResourceDefinition; missing for other kinds
 */
public record Kind(String group, String version, Names names, Set<Trait> traits,
    List<PrinterColumn> columns, String replicasField, JsonNode schema) {
  private static final String REPLICAS = "replicas";

  public enum Trait {
    CLUSTER_SCOPED,
    /** The kind has {@code /status}. Writes to the object itself keep the status. */
    STATUS,
    SCALE,
    /** {@code metadata.generation} counts changes outside metadata and status. */
    GENERATION,
    /** Clients know the kind at compile time. Only such kinds have strategic merge patches. */
    BUILT_IN,
    VERSION_REQUIRED,
    CREATED_BY_UPDATE,
    /** Names are DNS labels, without dots. */
    NAME_IS_LABEL,
    /** Names may have any character that a segment of a path may have. */
    NAME_IS_PATH_SEGMENT,
    /**
     * The kind has no objects. It exists because clients such as {@code kubectl apply --prune} list
     * it.
     */
    EMPTY
  }

  public record Names(String kind, String plural, String singular, List<String> shortNames,
      List<String> categories) {}

  /**
   * @param type {@code string}, {@code integer}, {@code boolean}, {@code number} or {@code date}
   * @param priority if it is above 0, the column is only in wide tables
   */
  public record PrinterColumn(String name, String type, String path, int priority) {}

  public static Kind of(String group, String version, String kind, String plural, Trait... traits) {
    var names = new Names(kind, plural, kind.toLowerCase(Locale.ROOT), List.of(), List.of());
    var set = EnumSet.noneOf(Trait.class);
    set.addAll(Arrays.asList(traits));
    return new Kind(group, version, names, Set.copyOf(set), List.of(), REPLICAS,
        MissingNode.getInstance());
  }

  Kind shortNames(String... shortNames) {
    return named(new Names(kind(), plural(), names.singular(), List.of(shortNames),
        names.categories()));
  }

  Kind categories(String... categories) {
    return named(new Names(kind(), plural(), names.singular(), names.shortNames(),
        List.of(categories)));
  }

  private Kind named(Names other) {
    return new Kind(group, version, other, traits, columns, replicasField, schema);
  }

  public String kind() {
    return names.kind();
  }

  public String plural() {
    return names.plural();
  }

  public boolean namespaced() {
    return !has(Trait.CLUSTER_SCOPED);
  }

  public boolean has(Trait trait) {
    return traits.contains(trait);
  }

  public String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  public String resource() {
    return group.isEmpty() ? plural() : plural() + "." + group;
  }

  public String qualifiedKind() {
    return group.isEmpty() ? kind() : kind() + "." + group;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Kind kind && group.equals(kind.group) && version.equals(kind.version)
        && plural().equals(kind.plural());
  }

  @Override
  public int hashCode() {
    return Objects.hash(group, version, plural());
  }

  @Override
  public String toString() {
    return resource();
  }
}
