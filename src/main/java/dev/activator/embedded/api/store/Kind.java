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
 * A row in {@link BuiltInKinds}, or a CustomResourceDefinition. Two kinds are equal if their objects have
 * the same paths.
 *
 * @param group empty for the core group
 * @param columns of a CustomResourceDefinition's tables
 * @param replicasField of the spec, which {@code /scale} reads and writes
 * @param schema of a CustomResourceDefinition; missing for other kinds
 */
public record Kind(String group, String version, Names names, Set<Trait> traits,
    List<PrinterColumn> columns, String replicasField, JsonNode schema) {
  private static final String REPLICAS = "replicas";

  public enum Trait {
    CLUSTER_SCOPED,
    /** Has {@code /status}; writes to the object itself keep the status. */
    STATUS,
    SCALE,
    /** {@code metadata.generation} counts changes outside metadata and status. */
    GENERATION,
    /** Known to clients at compile time: only these have strategic merge patches. */
    BUILT_IN,
    VERSION_REQUIRED,
    CREATED_BY_UPDATE,
    /** The name is one DNS label, without dots. */
    NAME_IS_LABEL,
    /** Has no objects: clients such as {@code kubectl apply --prune} rely on it being listed. */
    EMPTY
  }

  public record Names(String kind, String plural, String singular, List<String> shortNames,
      List<String> categories) {}

  /**
   * @param type {@code string}, {@code integer}, {@code boolean}, {@code number} or {@code date}
   * @param priority above 0 only in wide tables
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
