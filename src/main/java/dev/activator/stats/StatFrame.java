package dev.activator.stats;

import dev.activator.wire.Stat;
import dev.activator.wire.WireStatMessage;
import dev.activator.wire.WireStatMessages;
import java.util.List;

/** One Protocol Buffers message per frame. */
final class StatFrame {
  private StatFrame() {}

  static byte[] encode(String podName, List<RevisionStat> stats) {
    var messages = WireStatMessages.newBuilder();
    for (var stat : stats) {
      messages.addMessages(WireStatMessage.newBuilder().setNamespace(stat.revision().namespace())
          .setName(stat.revision().name())
          .setStat(Stat.newBuilder().setPodName(podName)
              .setAverageConcurrentRequests(stat.averageConcurrency())
              .setRequestCount(stat.requestCount())));
    }
    return messages.build().toByteArray();
  }
}
