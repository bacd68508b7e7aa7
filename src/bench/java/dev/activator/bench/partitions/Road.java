package dev.activator.bench.partitions;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What the first activator talks to. Each is an address, or a block of them, of {@code bench/drills/partitions}. */
enum Road {
  PEER(".96/27"),
  API(".1"),
  AUTOSCALER(".2"),
  CALLERS(".3"),
  PODS(".16/28");

  private final String ending;

  Road(String ending) {
    this.ending = ending;
  }

  /** Which packets are dropped. */
  enum Direction {
    BOTH,
    TO_IT,
    FROM_IT
  }

  /**
   * Drops packets where they arrive, or passes them on again. The sender gets no sign of it, as in a network.
   *
   * @param change {@code add} or {@code del}
   */
  void apply(String change, Direction direction, Network network, int activators)
      throws IOException, InterruptedException {
    var first = network.activator(1);
    var others = network.address(ending);
    if (direction != Direction.FROM_IT) {
      network.rule(change, network.namespace(1), others, first);
    }
    if (direction != Direction.TO_IT) {
      for (var namespace : receivers(network, activators)) {
        network.rule(change, namespace, first, others);
      }
    }
  }

  private List<String> receivers(Network network, int activators) {
    if (this != PEER) {
      return List.of(network.hub());
    }
    var namespaces = new ArrayList<String>();
    for (int number = 2; number <= activators; number++) {
      namespaces.add(network.namespace(number));
    }
    return namespaces;
  }
}
