package dev.activator.revision;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * The namespace and the name of a Revision, neither empty. A ScaledService with several ports has one of
 * the name {@code NAME:PORT} for each but its first.
 */
public record RevisionId(String namespace, String name) implements Comparable<RevisionId> {
  private static final Comparator<RevisionId> ORDER = Comparator.comparing(RevisionId::namespace)
      .thenComparing(RevisionId::name);

  public RevisionId {
    if (namespace.isEmpty() || name.isEmpty()) {
      throw new IllegalArgumentException(
          "a revision needs a namespace and a name, not '" + namespace + "/" + name + "'");
    }
  }

  /** @param port empty for the first */
  public RevisionId ofPort(String port) {
    return port.isEmpty() ? this : new RevisionId(namespace, name + ':' + port);
  }

  /** The ScaledService's, whose requests are counted together; of other revisions the same. */
  public RevisionId withoutPort() {
    int colon = name.indexOf(':');
    return colon <= 0 ? this : new RevisionId(namespace, name.substring(0, colon));
  }

  @Override
  public int compareTo(RevisionId other) {
    return ORDER.compare(this, other);
  }

  /** For each request and event: what Java generates is slow until it is compiled. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof RevisionId that && name.equals(that.name)
        && namespace.equals(that.namespace);
  }

  @Override
  public int hashCode() {
    return 31 * namespace.hashCode() + name.hashCode();
  }

  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
