package dev.activator.revision;

import java.util.Comparator;

/** Neither part is empty. */
public record RevisionId(String namespace, String name) implements Comparable<RevisionId> {
  private static final Comparator<RevisionId> ORDER = Comparator.comparing(RevisionId::namespace)
      .thenComparing(RevisionId::name);

  public RevisionId {
    if (namespace.isEmpty() || name.isEmpty()) {
      throw new IllegalArgumentException(
          "a revision needs a namespace and a name, not '" + namespace + "/" + name + "'");
    }
  }

  @Override
  public int compareTo(RevisionId other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
