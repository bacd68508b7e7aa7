package dev.activator.bench.partitions;

import java.io.IOException;
import java.util.List;

/** The namespaces that {@code bench/drills/partitions} made: a hub, where this process runs, and one for each activator. */
record Network(String name, String prefix) {
  private static final int FIRST_ACTIVATOR = 100;

  String hub() {
    return name + "hub";
  }

  String namespace(int activator) {
    return name + activator;
  }

  String address(String ending) {
    return prefix + ending;
  }

  String activator(int number) {
    return prefix + "." + (FIRST_ACTIVATOR + number);
  }

  /** What runs a command where an activator is. */
  List<String> in(int activator) {
    return List.of("ip", "netns", "exec", namespace(activator));
  }

  void rule(String change, String namespace, String from, String to)
      throws IOException, InterruptedException {
    int code = new ProcessBuilder("ip", "-n", namespace, "rule", change, "pref", "10", "from", from,
        "to", to, "blackhole").inheritIO().start().waitFor();
    if (code != 0) {
      throw new IOException("ip rule ended with " + code);
    }
  }
}
