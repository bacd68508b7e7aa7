package dev.activator.revision;

import java.util.List;

/**
 * The ready addresses in a revision's public Endpoints, by the protocol of the port. While the
 * activator is in the revision's path they are the activators'.
 *
 * @param http1 IP addresses, sorted as text, each once
 * @param h2c likewise
 */
public record PublicAddresses(RevisionId revision, List<String> http1, List<String> h2c) {
  public PublicAddresses {
    http1 = http1.stream().sorted().distinct().toList();
    h2c = h2c.stream().sorted().distinct().toList();
  }

  public List<String> on(Protocol protocol) {
    return switch (protocol) {
      case HTTP1 -> http1;
      case H2C -> h2c;
    };
  }
}
