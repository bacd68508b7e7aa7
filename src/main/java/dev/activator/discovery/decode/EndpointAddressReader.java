package dev.activator.discovery.decode;

import dev.activator.kube.decode.JsonCursor;
import dev.activator.discovery.policy.RevisionEndpointSlice.Ports;
import dev.activator.revision.PortProtocol;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Comparator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the addresses and ports of Endpoints, EndpointSlices and Services. */
final class EndpointAddressReader {
  /** Leading zeros are refused as in Go: the same address would count as another one. */
  private static final Pattern IPV4 = Pattern
      .compile("(0|[1-9]\\d{0,2})(\\.(0|[1-9]\\d{0,2})){3}");
  private static final Pattern ZEROS = Pattern.compile("(?:^|:)0(?::0)+(?=:|$)");
  private static final int LAST_PORT = 65_535;
  /**
   * The ports of the last object. The next object uses the same instance if its ports are equal, as
   * most are.
   */
  private static volatile Ports lastPorts = Ports.NONE;

  private EndpointAddressReader() {}

  /**
   * The IP address here, in its canonical form, as addresses are compared as texts; null, with a
   * remark, if the text is no address.
   */
  static @Nullable String ip(JsonCursor in) {
    var text = in.text();
    var address = address(text);
    if (address == null) {
      in.remark(in.path() + " is no IP address: '" + text + "'");
    }
    return address;
  }

  /** The canonical form of an address without brackets, zone and port; null for another text. */
  private static @Nullable String address(String text) {
    try {
      // None of these does a DNS lookup. The pattern is necessary because the JDK accepts "1" as an
      // address.
      if (IPV4.matcher(text).matches()) {
        return InetAddress.ofLiteral(text).getHostAddress();
      }
      return text.contains(":") && !text.contains("%")
          ? compressed(Inet6Address.ofLiteral(text).getHostAddress())
          : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** <b>Source.</b> RFC 5952: the first of the longest runs of two or more zeros becomes "::". */
  private static String compressed(String address) {
    var longest = ZEROS.matcher(address).results()
        .max(Comparator.comparingInt((MatchResult run) -> (run.end() - run.start() + 1) / 2)
            .thenComparing(MatchResult::start, Comparator.reverseOrder()))
        .orElse(null);
    return longest == null
        ? address
        : address.substring(0, longest.start()) + "::"
            + address.substring(Math.min(address.length(), longest.end() + 1));
  }

  /** The identity of the pod in a {@code targetRef}: its uid, else its name, else an empty text. */
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

  /** For each protocol, the first port that has its name. */
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
    // If another thread changes the field, only the sharing is lost.
    var shared = lastPorts;
    if (shared.equals(read)) {
      return shared;
    }
    lastPorts = read;
    return read;
  }

  /** The remark for addresses that were ignored because no port can be used. */
  static String noneOf(String path) {
    return "its addresses, as no port of " + path + " that has a number is named "
        + PortProtocol.HTTP1.portName() + " or " + PortProtocol.H2C.portName();
  }

  /** A port. A malformed number is only a problem if the port's name is that of a protocol. */
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
