package dev.activator.knative.policy;

import dev.activator.knative.policy.PodStartStatus.FailureReason;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.StartPhase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The pods of a revision that starts. The start fails only if all of them fail.
 *
 * @param pods the pods by name
 */
public record StartingPodSet(SortedMap<String, StartingPod> pods) {
  public static final StartingPodSet EMPTY = new StartingPodSet(new TreeMap<>());

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

  /** How long a failure may last before waiting requests are rejected. */
  public record GracePeriods(Duration retried, Duration slow) {
    public static final GracePeriods DEFAULT = new GracePeriods(Duration.ofSeconds(3),
        Duration.ofMinutes(1));

    Duration of(FailureReason failure) {
      return switch (failure.persistence()) {
        case PERMANENT -> Duration.ZERO;
        case RETRIED -> retried;
        case SLOW -> slow;
      };
    }
  }

  public StartingPodSet with(PodStartStatus pod, Duration now) {
    var next = new TreeMap<>(pods);
    var before = pods.get(pod.name());
    var since = before != null && samePersistence(before.failure(), pod.failure())
        ? before.since()
        : now;
    next.put(pod.name(), new StartingPod(pod, since));
    return new StartingPodSet(next);
  }

  private static boolean samePersistence(@Nullable FailureReason a, @Nullable FailureReason b) {
    return a == null || b == null ? a == b : a.persistence() == b.persistence();
  }

  /** A copy without a pod that was deleted or is terminating. */
  public StartingPodSet without(String pod) {
    var next = new TreeMap<>(pods);
    next.remove(pod);
    return new StartingPodSet(next);
  }

  /** The failure of the start; null if a pod may still start, or there is none. */
  public @Nullable RevisionStartFailure failure(Duration now, GracePeriods grace) {
    var left = left(now, grace);
    return left == null || left.isPositive() ? null : failure(pods.firstEntry());
  }

  private static @Nullable RevisionStartFailure failure(Map.Entry<String, StartingPod> pod) {
    var failure = pod.getValue().failure();
    return failure == null
        ? null
        : new RevisionStartFailure(failure.reason(), failure.message(), "pod " + pod.getKey());
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
      var failure = pod.failure();
      if (failure == null) {
        return null;
      }
      var left = pod.since().plus(grace.of(failure)).minus(now);
      longest = longest == null || left.compareTo(longest) > 0 ? left : longest;
    }
    return longest;
  }
}
