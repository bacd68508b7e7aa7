package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * The ClusterIP of a revision's private Service, with the port of each protocol. A destination is
 * null if the Service has no such port or no address.
 */
public record PrivateClusterIp(RevisionId revision, @Nullable Destination http1,
    @Nullable Destination h2c) {

  public @Nullable Destination on(PortProtocol protocol) {
    return switch (protocol) {
      case HTTP1, NEGOTIATED, TCP -> http1;
      case H2C -> h2c;
    };
  }
}
