package dev.activator.settings;

import java.net.InetAddress;
import java.util.List;

/**
 * A port that a server of this process listens on.
 *
 * @param property the property that sets it
 * @param address the address of the interface; empty for all
 * @param port 0 for any free one
 */
public record ListeningPort(String property, String address, int port) {
  public static final String LOOPBACK = "127.0.0.1";
  private static final String ALL_INTERFACES = "";

  /**
   * What the ports of an extension depend on.
   *
   * @param requestAddress the interface of the ports for requests
   * @param metricsPort the port of metrics and health, as it is set
   */
  public record Others(String requestAddress, int metricsPort, boolean isEmbedded) {}

  /** Settings of an extension that opens ports. */
  public interface Source {
    /**
     * The ports that are open with these settings.
     *
     * @throws IllegalArgumentException with a sentence, if these settings do not fit the others
     */
    List<ListeningPort> ports(Others others);
  }

  public ListeningPort {
    address = normalized(address);
  }

  /** Whether two servers cannot listen on both. */
  public boolean conflictsWith(ListeningPort other) {
    return port != 0 && port == other.port && (address.equals(other.address)
        || address.equals(ALL_INTERFACES) || other.address.equals(ALL_INTERFACES));
  }

  /** Whether an interface can be reached only from the same pod or machine, or by port forwarding. */
  public static boolean isLoopback(String address) {
    try {
      return address.equalsIgnoreCase("localhost")
          || InetAddress.ofLiteral(address).isLoopbackAddress();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static String normalized(String address) {
    if (address.equalsIgnoreCase("localhost")) {
      return LOOPBACK;
    }
    try {
      var literal = InetAddress.ofLiteral(address);
      return literal.isAnyLocalAddress() ? ALL_INTERFACES : literal.getHostAddress();
    } catch (IllegalArgumentException e) {
      return address;
    }
  }
}
