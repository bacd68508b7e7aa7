package dev.activator.tls;

import dev.activator.revision.Destination;
import org.jspecify.annotations.Nullable;

/**
 * The target of a connection: its destination, and whether TLS is used. TLS connections are not
 * shared between namespaces, because the certificate was checked for one namespace.
 *
 * @param namespace the namespace that the certificate must name; null for no TLS
 */
public record DialTarget(Destination destination, @Nullable String namespace) {
  public static DialTarget plain(Destination destination) {
    return new DialTarget(destination, null);
  }

  public boolean overTls() {
    return namespace != null;
  }
}
