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

  /** Settings of an extension that opens ports. */
  public interface Source {
    /**
     * The ports that are open with these settings.
     *
     * @param requestAddress the interface of the ports for requests
     */
    List<ListeningPort> ports(String requestAddress, boolean isEmbedded);
  }

  public ListeningPort {
    address = normalized(address);
  }

  /** Whether two servers cannot listen on both. */
  public boolean conflictsWith(ListeningPort other) {
    return port != 0 && port == other.port && (address.equals(other.address)
        || address.equals(ALL_INTERFACES) || other.address.equals(ALL_INTERFACES));
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
