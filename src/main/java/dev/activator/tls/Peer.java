package dev.activator.tls;

import dev.activator.revision.Destination;
import org.jspecify.annotations.Nullable;

/**
 * Who is at the other end of a connection. Connections to the same address that were made for
 * different namespaces are never exchanged: who answered was checked for one of them only.
 *
 * @param destination where it is
 * @param namespace whose pod must prove to be there, over TLS; null for no TLS
 */
public record Peer(Destination destination, @Nullable String namespace) {
  public static Peer plain(Destination destination) {
    return new Peer(destination, null);
  }

  public boolean overTls() {
    return namespace != null;
  }
}
