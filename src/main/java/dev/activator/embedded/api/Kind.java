package dev.activator.embedded.api;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What the server knows of one kind of object. Kinds are data: a new one is a row in
 * {@link Kinds}, not a class.
 *
 * @param group API group; empty for the core group
 * @param version such as {@code v1}
 * @param names what it is called
 * @param scope whether its objects live in namespaces
 * @param traits how the server treats it
 */
public record Kind(String group, String version, Names names, Scope scope, Set<Trait> traits) {
  /** Where objects live. */
  public enum Scope {
    NAMESPACED, CLUSTER
  }

  /** One way in which kinds are treated differently. */
  public enum Trait {
    /** Has {@code /status}; writes to the object itself leave the status as it was. */
    STATUS,
    /** Has {@code /scale}, over {@code spec.replicas}. */
    SCALE,
    /** {@code metadata.generation} counts changes outside metadata and status. */
    GENERATION,
    /** Known to clients at compile time: strategic merge patches are for these alone. */
    BUILT_IN,
    /** An update without a resourceVersion is refused. */
    VERSION_REQUIRED,
    /** An update of an absent object creates it. */
    CREATED_BY_UPDATE,
    /** The name becomes part of a DNS name: one label, no dots. */
    NAME_IS_LABEL
  }

  /**
   * What a kind is called.
   *
   * @param kind in objects, such as {@code Pod}
   * @param plural in paths, such as {@code pods}
   * @param singular for people, such as {@code pod}
   * @param shortNames what kubectl takes instead; may be empty
   */
  public record Names(String kind, String plural, String singular, List<String> shortNames) {}

  static Kind of(String group, String version, String kind, String plural, Trait... traits) {
    var names = new Names(kind, plural, kind.toLowerCase(java.util.Locale.ROOT), List.of());
    var set = EnumSet.noneOf(Trait.class);
    set.addAll(Arrays.asList(traits));
    return new Kind(group, version, names, Scope.NAMESPACED, Set.copyOf(set));
  }

  Kind shortNames(String... shortNames) {
    var renamed = new Names(kind(), plural(), names.singular(), List.of(shortNames));
    return new Kind(group, version, renamed, scope, traits);
  }

  Kind clusterScoped() {
    return new Kind(group, version, names, Scope.CLUSTER, traits);
  }

  public String kind() {
    return names.kind();
  }

  public String plural() {
    return names.plural();
  }

  public boolean namespaced() {
    return scope == Scope.NAMESPACED;
  }

  public boolean has(Trait trait) {
    return traits.contains(trait);
  }

  /** What objects carry as their {@code apiVersion}. */
  public String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  /** The name of the resource with its group, as error messages have it. */
  public String resource() {
    return group.isEmpty() ? plural() : plural() + "." + group;
  }

  /** The name of the kind with its group, as validation messages have it. */
  public String qualifiedKind() {
    return group.isEmpty() ? kind() : kind() + "." + group;
  }

  @Override
  public String toString() {
    return resource();
  }
}
