package dev.activator.ext.podstarts;

import dev.activator.ext.podstarts.policy.NodeEvent;
import dev.activator.ext.podstarts.policy.NodeOutlook;
import dev.activator.ext.podstarts.policy.PodStartStatus;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Watches the Events of pods that wait for their node. Each watch is of one pod's Events, which are
 * few in a namespace that may have thousands.
 *
 * <p><b>Threads.</b> The cluster's loop.
 */
final class NodeEventWatch {
  /** All pods of a revision are alike, so a few say enough about a node for them. */
  static final int MAX_PODS = 3;

  private final PodStatusWatcher.PodSource source;
  private final String namespace;
  private final Runnable onChange;
  private final Map<String, Runnable> watches = new HashMap<>();
  private List<NodeEvent> events = List.of();

  NodeEventWatch(PodStatusWatcher.PodSource source, String namespace, Runnable onChange) {
    this.source = source;
    this.namespace = namespace;
    this.onChange = onChange;
  }

  /** Watches the Events of these pods, and of no other. */
  void follow(List<PodStartStatus> pods) {
    var wanted = pods.stream().map(PodStartStatus::uid).limit(MAX_PODS)
        .collect(Collectors.toSet());
    List.copyOf(watches.keySet()).stream().filter(uid -> !wanted.contains(uid))
        .forEach(this::end);
    wanted.forEach(uid -> watches.computeIfAbsent(uid,
        _ -> source.followEvents(namespace, uid, this::changed)));
  }

  private void changed(@Nullable NodeEvent ignored, @Nullable NodeEvent now) {
    // An Event that has expired was said all the same; its time decides how long it is valid.
    if (now != null) {
      events = NodeOutlook.with(now, events);
      onChange.run();
    }
  }

  NodeOutlook outlook(Instant now) {
    return NodeOutlook.of(events, now);
  }

  private void end(String uid) {
    var watch = watches.remove(uid);
    if (watch != null) {
      watch.run();
    }
    events = events.stream().filter(event -> !event.pod().equals(uid)).toList();
  }

  void close() {
    List.copyOf(watches.keySet()).forEach(this::end);
  }
}
