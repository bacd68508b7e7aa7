package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * The host and port that requests are sent to: those of a pod, or of a ClusterIP. Destinations are
 * ordered as text, because all activators divide the pods among them in this order.
 *
 * @param host a name, or an IP address without brackets
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
    if (host.equals(other.host)) {
      return comparePorts(port, other.port);
    }
    return isBracketed() == other.isBracketed()
        ? compareHosts(other)
        : toString().compareTo(other.toString());
  }

  /** Compares ports as text: 80 &lt; 8012 &lt; 81. */
  private static int comparePorts(int one, int other) {
    int byDigits = Integer.compare(fiveDigits(one), fiveDigits(other));
    return byDigits == 0 ? Integer.compare(one, other) : byDigits;
  }

  private static int fiveDigits(int port) {
    int filled = port;
    while (filled < 10_000) {
      filled *= 10;
    }
    return filled;
  }

  /** Compares without making strings, since thousands of pods are sorted often. */
  private int compareHosts(Destination other) {
    int same = 0;
    int shorter = Math.min(host.length(), other.host.length());
    while (same < shorter && host.charAt(same) == other.host.charAt(same)) {
      same++;
    }
    int order = Character.compare(charOrEnd(same), other.charOrEnd(same));
    return order == 0 ? toString().compareTo(other.toString()) : order;
  }

  private char charOrEnd(int index) {
    if (index < host.length()) {
      return host.charAt(index);
    }
    return isBracketed() ? ']' : ':';
  }

  private boolean isBracketed() {
    return host.indexOf(':') >= 0;
  }

  /**
   * Written by hand because it runs for each event, and the generated method is slow until it is
   * compiled.
   */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Destination that && port == that.port && host.equals(that.host);
  }

  @Override
  public int hashCode() {
    return 31 * host.hashCode() + port;
  }

  @Override
  public String toString() {
    return (isBracketed() ? "[" + host + "]" : host) + ":" + port;
  }
}
