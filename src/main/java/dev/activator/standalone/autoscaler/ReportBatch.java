package dev.activator.standalone.autoscaler;

import dev.activator.standalone.autoscaler.policy.LoadSample;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.RevisionId;
import dev.activator.wire.Stat;
import dev.activator.wire.WireStatMessage;
import dev.activator.wire.WireStatMessages;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reports that one activator sent in one frame.
 *
 * @param reporter the activator's pod; empty if the frame has no entries
 * @param uptime seconds since the activator's process started; present only in the batch of each
 *     second, and only without Knative
 */
public record ReportBatch(String reporter, OptionalDouble uptime, List<Entry> entries) {
  private static final Logger log = LoggerFactory.getLogger(ReportBatch.class);

  public record Entry(RevisionId revision, LoadSample sample) {}

  /** Reads a frame. Invalid entries are logged and left out. */
  static ReportBatch decode(WireStatMessages frame) {
    String reporter = "";
    var uptime = OptionalDouble.empty();
    var entries = new ArrayList<Entry>();
    for (var message : frame.getMessagesList()) {
      if (!message.hasStat()) {
        continue;
      }
      var stat = message.getStat();
      reporter = stat.getPodName();
      if (message.getNamespace().isEmpty() && message.getName().isEmpty()) {
        uptime = OptionalDouble.of(Math.max(0, stat.getProcessUptime()));
      } else {
        entry(message, stat, entries);
      }
    }
    return new ReportBatch(reporter, uptime, entries);
  }

  private static void entry(WireStatMessage message, Stat stat, List<Entry> entries) {
    try {
      entries.add(new Entry(new RevisionId(message.getNamespace(), message.getName()),
          // Requests that came through an activator are reported by that activator.
          new LoadSample(stat.getPodName(),
              stat.getAverageConcurrentRequests() - stat.getAverageProxiedConcurrentRequests(),
              stat.getRequestCount() - stat.getProxiedRequestCount(),
              new QueueTimeHistogram(stat.getQueueTimesList()))));
    } catch (IllegalArgumentException e) {
      log.error("A report is skipped: {}", e.getMessage());
    }
  }
}
