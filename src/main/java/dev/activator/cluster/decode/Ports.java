package dev.activator.cluster.decode;

import dev.activator.revision.Protocol;
import org.jspecify.annotations.Nullable;

/** The ports of an Endpoints subset, of an EndpointSlice or of a Service. */
public final class Ports {
  private Ports() {}

  /** The number of the first port of that name; null if there is none. */
  static @Nullable Integer named(String name, Field ports) {
    for (var port : ports.items()) {
      if (port.at("name").textOrEmpty().equals(name)) {
        return number(port.at("port"));
      }
    }
    return null;
  }

  /** The same of an EndpointSlice, where a port may have no number and then means nothing. */
  static @Nullable Integer ofSlice(String name, Field ports) {
    for (var port : ports.items()) {
      if (port.at("name").textOrEmpty().equals(name)) {
        return port.at("port").isAbsent() ? null : number(port.at("port"));
      }
    }
    return null;
  }

  /** Whether no port has the name of a protocol. */
  static boolean isNone(Field ports) {
    return ports.items().stream().map(port -> port.at("name").textOrEmpty())
        .noneMatch(name -> name.equals(Protocol.HTTP1.portName())
            || name.equals(Protocol.H2C.portName()));
  }

  /** Says so, of the ports at this path. */
  static String noneOf(String path) {
    return "its addresses, as no port of " + path + " that has a number is named "
        + Protocol.HTTP1.portName() + " or " + Protocol.H2C.portName();
  }

  private static int number(Field port) {
    int number = port.countOr(0);
    if (number < 1 || number > 65_535) {
      throw port.malformed("a port, 1 to 65535");
    }
    return number;
  }
}
