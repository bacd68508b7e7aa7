package dev.activator.tls;

import dev.activator.revision.Destination;
import org.jspecify.annotations.Nullable;

/**
 * The other end of a connection, and whether TLS is used. TLS connections are not shared between namespaces, as the
 * certificate was checked for one.
 *
 * @param namespace that the certificate must name; null for no TLS
 */
public record DialTarget(Destination destination, @Nullable String namespace) {
  public static DialTarget plain(Destination destination) {
    return new DialTarget(destination, null);
  }

  public boolean overTls() {
    return namespace != null;
  }
}
