package dev.activator.ext.podstarts.policy;

import dev.activator.ext.podstarts.policy.NodeEvent.Outlook;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whether a node is coming for the pods of a revision. One node is enough, so what is said of one
 * pod counts for all, and an autoscaler that adds a node outweighs another that does not.
 *
 * @param said the Event that decides; null if none does
 * @param unread why Events are not read; empty if they are
 * @param unprepared the last Event about each pod that its node cannot prepare, by uid
 */
public record NodeOutlook(@Nullable NodeEvent said, String unread,
    Map<String, NodeEvent> unprepared) {
  public static final NodeOutlook UNKNOWN = new NodeOutlook(null, "", Map.of());

  /** At the same second, a node that is coming counts as said later. */
  private static final Comparator<NodeEvent> LATEST = Comparator.comparing(NodeEvent::at)
      .thenComparing(NodeEvent::outlook, Comparator.reverseOrder());

  private record Speaker(String pod, String source) {}

  public static NodeOutlook forbidden(String namespace) {
    return new NodeOutlook(null,
        "whether a node is added is not known, as the activator may not list"
            + " and watch events -n " + namespace + " (chart value rbac.events)",
        Map.of());
  }

  public static NodeOutlook of(Collection<NodeEvent> events, Instant now) {
    var last = lastOfEach(events.stream()).stream().filter(one -> one.isValid(now))
        .sorted(LATEST.reversed()).toList();
    return new NodeOutlook(first(last, Outlook.COMING) instanceof NodeEvent coming
        ? coming
        : first(last, Outlook.NONE), "",
        last.stream().filter(one -> one.outlook() == Outlook.UNPREPARED).collect(
            Collectors.toUnmodifiableMap(NodeEvent::pod, one -> one, (latest, _) -> latest)));
  }

  /** These Events and one more, without those that no longer decide anything. */
  public static List<NodeEvent> with(NodeEvent more, Collection<NodeEvent> events) {
    return List.copyOf(lastOfEach(Stream.concat(events.stream(), Stream.of(more))));
  }

  private static Collection<NodeEvent> lastOfEach(Stream<NodeEvent> events) {
    return events.collect(Collectors.toMap(one -> new Speaker(one.pod(), one.source()), one -> one,
        (a, b) -> LATEST.compare(a, b) <= 0 ? b : a)).values();
  }

  private static @Nullable NodeEvent first(List<NodeEvent> events, Outlook outlook) {
    return events.stream().filter(one -> one.outlook() == outlook).findFirst().orElse(null);
  }

  /** Null if it is unknown. */
  public @Nullable Outlook outlook() {
    return said == null ? null : said.outlook();
  }
}
