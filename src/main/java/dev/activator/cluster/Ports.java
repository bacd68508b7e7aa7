package dev.activator.cluster;

import org.jspecify.annotations.Nullable;

/** The ports of an Endpoints subset or of a Service. */
final class Ports {
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

  private static int number(Field port) {
    int number = port.countOr(0);
    if (number < 1 || number > 65_535) {
      throw port.malformed("a port, 1 to 65535");
    }
    return number;
  }
}
