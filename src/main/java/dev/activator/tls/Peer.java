package dev.activator.tls;

import dev.activator.revision.Destination;
import org.jspecify.annotations.Nullable;

/**
 * The other end of a connection. A connection is never reused for another namespace, even at the same
 * address: the pod's certificate was checked for one of them only.
 *
 * @param namespace the one that the pod's certificate must name; null for no TLS
 */
public record Peer(Destination destination, @Nullable String namespace) {
  public static Peer plain(Destination destination) {
    return new Peer(destination, null);
  }

  public boolean overTls() {
    return namespace != null;
  }
}
