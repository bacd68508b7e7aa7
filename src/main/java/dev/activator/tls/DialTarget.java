package dev.activator.tls;

import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport.PodIdentity;
import org.jspecify.annotations.Nullable;

/**
 * The target of a connection: its destination, and whether TLS is used. A TLS connection is not
 * used for another identity, because the certificate was verified for one.
 *
 * @param identity what the pod must prove; null for no TLS
 */
public record DialTarget(Destination destination, @Nullable PodIdentity identity) {
  public static DialTarget plain(Destination destination) {
    return new DialTarget(destination, null);
  }

  public boolean overTls() {
    return identity != null;
  }
}
