package dev.activator.ext.podstarts.policy;

import dev.activator.ext.podstarts.policy.NodeEvent.Outlook;
import dev.activator.ext.podstarts.policy.PodStartStatus.FailureReason;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The pods of a revision that starts. The start fails only if all of them fail.
 *
 * @param pods the pods by name
 * @param nodes whether a node is coming for those that no node takes
 * @param nodesSince since when that has been said, or no longer said, from any origin
 */
public record StartingPodSet(SortedMap<String, StartingPod> pods, NodeOutlook nodes,
    Duration nodesSince) {
  public static final StartingPodSet EMPTY = new StartingPodSet(new TreeMap<>(),
      NodeOutlook.UNKNOWN, Duration.ZERO);

  public StartingPodSet {
    pods = Collections.unmodifiableSortedMap(pods);
  }

  /**
   * @param since when the pod began to fail in this way, from any origin; it does not change with
   *     the text of the reason
   */
  public record StartingPod(PodStartStatus status, Duration since) {
    @Nullable FailureReason failure() {
      return status.failure();
    }

    private int phases() {
      return status.ends().size();
    }

    private Instant started() {
      return status.ends().getOrDefault(StartPhase.CONTAINER, Instant.MAX);
    }
  }

  /**
   * How long a failure may last before waiting requests are rejected.
   *
   * @param unscheduled for a pod that no node takes, unless an autoscaler says more
   * @param alwaysScheduled whether a node takes each pod sooner or later, whatever is said
   */
  public record GracePeriods(Duration retried, Duration slow, Duration unscheduled,
      boolean alwaysScheduled) {
    public static final GracePeriods DEFAULT = new GracePeriods(Duration.ofSeconds(3),
        Duration.ofMinutes(1), Duration.ofMinutes(1), false);
  }

  public StartingPodSet with(PodStartStatus pod, Duration now) {
    var next = new TreeMap<>(pods);
    var before = pods.get(pod.name());
    var since = before != null && samePersistence(before.failure(), pod.failure())
        ? before.since()
        : now;
    next.put(pod.name(), new StartingPod(pod, since));
    return new StartingPodSet(next, nodes, nodesSince);
  }

  private static boolean samePersistence(@Nullable FailureReason a, @Nullable FailureReason b) {
    return a == null || b == null ? a == b : a.persistence() == b.persistence();
  }

  /** A copy without a pod that was deleted or is terminating. */
  public StartingPodSet without(String pod) {
    var next = new TreeMap<>(pods);
    next.remove(pod);
    return new StartingPodSet(next, nodes, nodesSince);
  }

  public StartingPodSet with(NodeOutlook now, Duration at) {
    return new StartingPodSet(pods, now, now.outlook() == nodes.outlook() ? nodesSince : at);
  }

  /** The pods that no node takes, or whose node is slow to prepare them, by name. */
  public List<PodStartStatus> awaitingNode(Duration now, GracePeriods grace) {
    return pods.values().stream().filter(pod -> pod.status().isUnscheduled()
        || (pod.status().isUnprepared()
            && pod.since().plus(grace.retried()).compareTo(now) <= 0))
        .map(StartingPod::status).toList();
  }

  /** The failure of the start; null if a pod may still start, or there is none. */
  public @Nullable RevisionStartFailure failure(Duration now, GracePeriods grace) {
    var left = left(now, grace);
    if (left == null || left.isPositive()) {
      return null;
    }
    var pod = pods.firstEntry().getValue();
    var failure = reason(pod.status());
    return failure == null
        ? null
        : new RevisionStartFailure(failure.reason(), failure.message(),
            "pod " + pod.status().name());
  }

  /** Why a pod does not start, in the words of an Event if it is about its node. */
  public @Nullable FailureReason reason(PodStartStatus pod) {
    var failure = pod.failure();
    if (failure == null || (!pod.isUnscheduled() && !pod.isUnprepared())) {
      return failure;
    }
    var said = pod.isUnprepared() ? nodes.unprepared().get(pod.uid()) : nodes.said();
    if (said != null) {
      return new FailureReason(failure.persistence(), said.reason(), said.message());
    }
    return nodes.unread().isEmpty() || pod.isUnprepared()
        ? failure
        : new FailureReason(failure.persistence(), failure.reason(),
            Stream.of(failure.message(), nodes.unread()).filter(text -> !text.isEmpty())
                .collect(Collectors.joining("; ")));
  }

  /**
   * The pod that has completed the most phases; among several, the one that started first. Null if
   * there are no pods.
   */
  public @Nullable PodStartStatus furthest() {
    return pods.values().stream().max(Comparator.comparing(StartingPod::phases)
        .thenComparing(StartingPod::started, Comparator.reverseOrder()))
        .map(StartingPod::status).orElse(null);
  }

  /**
   * The time until the grace periods of all pods are over; may be negative. Null if a pod may still
   * start, or there is none.
   */
  public @Nullable Duration left(Duration now, GracePeriods grace) {
    Duration longest = null;
    for (var pod : pods.values()) {
      var end = end(pod, grace);
      if (end == null) {
        return null;
      }
      longest = longest == null || end.compareTo(longest) > 0 ? end : longest;
    }
    return longest == null ? null : longest.minus(now);
  }

  private @Nullable Duration end(StartingPod pod, GracePeriods grace) {
    var failure = pod.failure();
    if (failure == null) {
      return null;
    }
    return switch (failure.persistence()) {
      case PERMANENT -> pod.since();
      case RETRIED -> pod.since().plus(grace.retried());
      case SLOW -> pod.since().plus(grace.slow());
      case UNSCHEDULED -> unscheduledEnd(pod.since(), grace);
    };
  }

  private @Nullable Duration unscheduledEnd(Duration since, GracePeriods grace) {
    if (grace.alwaysScheduled() || nodes.outlook() == Outlook.COMING) {
      return null;
    }
    var begin = since.compareTo(nodesSince) > 0 ? since : nodesSince;
    return begin.plus(nodes.outlook() == Outlook.NONE ? grace.retried() : grace.unscheduled());
  }
}
