package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/** The private Service's address, by the port's protocol; null without such a port or address. */
public record PrivateClusterIp(RevisionId revision, @Nullable Destination http1,
    @Nullable Destination h2c) {

  public @Nullable Destination on(PortProtocol protocol) {
    return switch (protocol) {
      case HTTP1 -> http1;
      case H2C -> h2c;
    };
  }
}
