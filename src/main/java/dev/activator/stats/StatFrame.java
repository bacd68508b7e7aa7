package dev.activator.stats;

import dev.activator.wire.Stat;
import dev.activator.wire.WireStatMessage;
import dev.activator.wire.WireStatMessages;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One Protocol Buffers message per frame. */
final class StatFrame {
  private static final double NANOS_PER_SECOND = 1e9;

  private StatFrame() {}

  /** @param uptime how long this process runs; null to leave out the entry that says so */
  static byte[] encode(String podName, List<RevisionStat> stats, @Nullable Duration uptime) {
    var messages = WireStatMessages.newBuilder();
    if (uptime != null) {
      // Knative's autoscaler would ignore it: no revision has an empty name.
      messages.addMessages(WireStatMessage.newBuilder().setStat(Stat.newBuilder()
          .setPodName(podName).setProcessUptime(uptime.toNanos() / NANOS_PER_SECOND)));
    }
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
