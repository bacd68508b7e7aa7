package dev.activator.revision;

import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * The namespace and name of a revision; neither is empty. A ScaledService with several ports has a
 * revision for each port. Their names are {@code NAME:PORT}, except for the first port's, which is
 * {@code NAME}.
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

  /**
   * The id of a port's revision.
   *
   * @param port empty for the first port
   */
  public RevisionId ofPort(String port) {
    return port.isEmpty() ? this : new RevisionId(namespace, name + ':' + port);
  }

  /**
   * The id of the ScaledService, whose ports are scaled together. Returns the same id if it has no
   * port.
   */
  public RevisionId withoutPort() {
    int colon = name.indexOf(':');
    return colon <= 0 ? this : new RevisionId(namespace, name.substring(0, colon));
  }

  @Override
  public int compareTo(RevisionId other) {
    return ORDER.compare(this, other);
  }

  /**
   * Written by hand because it runs for each request and event, and the generated method is slow
   * until it is compiled.
   */
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
