package dev.activator.ext.podstarts;

import dev.activator.ext.podstarts.policy.NodeEvent;
import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.WatchedObjectReader;
import java.time.DateTimeException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Reads an Event about a pod, if it says something about its node.
 *
 * <p><b>Source.</b> {@code Event} in {@code k8s.io/api/core/v1/types.go}. One that was written as
 * {@code events.k8s.io} has {@code eventTime}, {@code series} and {@code reportingComponent} in the
 * place of {@code lastTimestamp} and {@code source}.
 */
final class NodeEventReader implements WatchedObjectReader<NodeEvent> {
  private String pod = "";
  private String reason = "";
  private String message = "";
  private String component = "";
  private String reporter = "";
  private Instant at = Instant.MIN;

  @Override
  public void field(String name, JsonCursor in) {
    switch (name) {
      case "involvedObject" -> pod = textOf("uid", in);
      case "source" -> component = textOf("component", in);
      case "series" -> last(textOf("lastObservedTime", in));
      case "reason" -> reason = in.text();
      case "message" -> message = in.text();
      case "reportingComponent" -> reporter = in.text();
      case "firstTimestamp", "lastTimestamp", "eventTime" -> last(in.text());
    }
  }

  private static String textOf(String wanted, JsonCursor in) {
    var text = "";
    for (var field : in.fields()) {
      if (field.equals(wanted)) {
        text = in.text();
      }
    }
    return text;
  }

  private void last(String time) {
    try {
      var read = time.isEmpty() ? Instant.MIN : Instant.parse(time);
      at = read.isAfter(at) ? read : at;
    } catch (DateTimeException e) {
      // Another of its times counts.
    }
  }

  @Override
  public @Nullable NodeEvent decoded(DecodedMetadata metadata, JsonCursor in) {
    last(metadata.created());
    var outlook = NodeEvent.outlook(reason, message);
    return outlook == null
        ? null
        : new NodeEvent(pod, component.isEmpty() ? reporter : component, outlook, reason, message,
            at);
  }
}
