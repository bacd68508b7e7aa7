package dev.activator.cluster.decode;

import dev.activator.cluster.policy.RevisionEndpointSlice.Ports;
import dev.activator.revision.PortProtocol;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads addresses and ports of Endpoints, EndpointSlices and Services. */
final class EndpointAddressReader {
  private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
  private static final int LAST_PORT = 65_535;
  /** The last value, which is reused if the next object has the same ports, as most do. */
  private static volatile Ports lastPorts = Ports.NONE;

  private EndpointAddressReader() {}

  /** Null, with a remark, if it is not an address. */
  static @Nullable String ip(JsonCursor in) {
    var text = in.text();
    if (isAddress(text)) {
      return text;
    }
    in.remark(in.path() + " is no IP address: '" + text + "'");
    return null;
  }

  /** Accepts no brackets, zone or port. */
  private static boolean isAddress(String text) {
    try {
      // Neither does a DNS lookup. IPv4 first: the JDK takes "1" for an address.
      return IPV4.matcher(text).matches()
          ? InetAddress.ofLiteral(text) != null
          : text.contains(":") && !text.contains("%") && Inet6Address.ofLiteral(text) != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** The pod's uid, else its name, else empty. */
  static String pod(JsonCursor in) {
    var uid = "";
    var name = "";
    for (var field : in.fields()) {
      switch (field) {
        case "uid" -> uid = in.text();
        case "name" -> name = in.text();
      }
    }
    return uid.isEmpty() ? name : uid;
  }

  /** The first port with each protocol's name. */
  static Ports ports(JsonCursor in) {
    Integer http1 = null;
    Integer h2c = null;
    boolean hasHttp1 = false;
    boolean hasH2c = false;
    for (var _ : in.items()) {
      var port = port(in);
      if (port.name.equals(PortProtocol.HTTP1.portName()) && !hasHttp1) {
        hasHttp1 = true;
        http1 = port.number(in);
      } else if (port.name.equals(PortProtocol.H2C.portName()) && !hasH2c) {
        hasH2c = true;
        h2c = port.number(in);
      }
    }
    var read = new Ports(http1, h2c);
    // A race with another thread only costs a miss.
    var shared = lastPorts;
    if (shared.equals(read)) {
      return shared;
    }
    lastPorts = read;
    return read;
  }

  /** The remark about addresses without a usable port. */
  static String noneOf(String path) {
    return "its addresses, as no port of " + path + " that has a number is named "
        + PortProtocol.HTTP1.portName() + " or " + PortProtocol.H2C.portName();
  }

  /** A port. A malformed number is a problem only if the port has a name that is used. */
  private record Port(String name, @Nullable Integer number, @Nullable String problem) {
    @Nullable Integer number(JsonCursor in) {
      if (problem != null) {
        in.problem(problem);
      }
      return number;
    }
  }

  private static Port port(JsonCursor in) {
    String name = "";
    Integer number = null;
    String problem = null;
    for (var field : in.fields()) {
      switch (field) {
        case "name" -> name = in.text();
        case "port" -> {
          if (in.isPresent() && !in.isCount()) {
            problem = in.wrong("a whole number, 0 or more");
          } else if (in.isPresent()) {
            number = in.count(0);
            problem = number < 1 || number > LAST_PORT ? in.wrong("a port, 1 to 65535") : null;
          }
        }
      }
    }
    return new Port(name, number, problem);
  }
}
