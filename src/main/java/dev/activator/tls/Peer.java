package dev.activator.tls;

import dev.activator.revision.Destination;
import org.jspecify.annotations.Nullable;

/**
 * The other end of a connection. TLS connections are not shared between namespaces, as the
 * certificate was checked for one.
 *
 * @param namespace that the certificate must name; null for no TLS
 */
public record Peer(Destination destination, @Nullable String namespace) {
  public static Peer plain(Destination destination) {
    return new Peer(destination, null);
  }

  public boolean overTls() {
    return namespace != null;
  }
}
