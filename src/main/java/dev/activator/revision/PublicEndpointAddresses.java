package dev.activator.revision;

import java.util.List;

/**
 * The ready addresses in a revision's public Endpoints, sorted. They are the activators' addresses
 * while activators are in the request path.
 */
public record PublicEndpointAddresses(RevisionId revision, List<String> http1, List<String> h2c) {
  public PublicEndpointAddresses {
    http1 = http1.stream().sorted().distinct().toList();
    h2c = h2c.stream().sorted().distinct().toList();
  }

  public List<String> on(PortProtocol protocol) {
    return switch (protocol) {
      case HTTP1, NEGOTIATED, TCP -> http1;
      case H2C -> h2c;
    };
  }
}
