package dev.activator.standalone.autoscaler;

import dev.activator.standalone.autoscaler.policy.LoadSample;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.RevisionId;
import dev.activator.wire.Stat;
import dev.activator.wire.WireStatMessage;
import dev.activator.wire.WireStatMessages;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reports that one activator sent in one frame.
 *
 * @param reporter the activator's pod; empty if the frame has no entries
 * @param uptime seconds since the activator's process started; present only in the batch of each
 *     second, and only without Knative
 * @param acknowledged the versions of the {@code IdleState}s since which it sends nothing to the pods
 */
public record ReportBatch(String reporter, OptionalDouble uptime, List<Entry> entries,
    Map<RevisionId, Long> acknowledged) {
  private static final Logger log = LoggerFactory.getLogger(ReportBatch.class);

  /** A batch that acknowledges nothing. */
  public ReportBatch(String reporter, OptionalDouble uptime, List<Entry> entries) {
    this(reporter, uptime, entries, Map.of());
  }

  public record Entry(RevisionId revision, LoadSample sample) {}

  /** Reads a frame. Invalid entries are logged and left out. */
  static ReportBatch decode(WireStatMessages frame) {
    String reporter = "";
    var uptime = OptionalDouble.empty();
    var entries = new ArrayList<Entry>();
    var acknowledged = new HashMap<RevisionId, Long>(0);
    for (var message : frame.getMessagesList()) {
      if (!message.hasStat()) {
        continue;
      }
      var stat = message.getStat();
      reporter = stat.getPodName();
      if (message.getNamespace().isEmpty() && message.getName().isEmpty()) {
        uptime = OptionalDouble.of(Math.max(0, stat.getProcessUptime()));
      } else {
        entry(message, stat, entries, acknowledged);
      }
    }
    return new ReportBatch(reporter, uptime, entries, acknowledged);
  }

  private static void entry(WireStatMessage message, Stat stat, List<Entry> entries,
      Map<RevisionId, Long> acknowledged) {
    try {
      var id = new RevisionId(message.getNamespace(), message.getName());
      if (stat.getAcknowledged() != 0) {
        acknowledged.put(id, stat.getAcknowledged());
        return;
      }
      entries.add(new Entry(id,
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
