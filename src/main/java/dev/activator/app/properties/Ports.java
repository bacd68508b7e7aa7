package dev.activator.app.properties;

/** Port numbers in properties. */
final class Ports {
  private Ports() {}

  /** Refuses what is no port; 0 stands for a free one. */
  static void check(String property, int port) {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException(property + " is " + port + ", but a port is 0 to 65535");
    }
  }
}
