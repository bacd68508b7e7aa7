package dev.activator.revision;

/**
 * Host and port that takes a revision's requests. Ordered as its text is, which is the order in
 * which all activators deal the pods among themselves.
 *
 * @param host an IP address, without brackets; or a name
 * @param port 1 to 65535
 */
public record Destination(String host, int port) implements Comparable<Destination> {
  public Destination {
    if (host.isEmpty()) {
      throw new IllegalArgumentException("a destination needs a host");
    }
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("not a port: " + port);
    }
  }

  @Override
  public int compareTo(Destination other) {
    return host.equals(other.host) && port == other.port
        ? 0
        : toString().compareTo(other.toString());
  }

  /** {@code host:port}, an IPv6 address in brackets. */
  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
