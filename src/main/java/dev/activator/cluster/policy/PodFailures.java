package dev.activator.cluster.policy;

import dev.activator.cluster.policy.PodStartStatus.FailureReason;
import dev.activator.revision.RevisionStartFailure;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The revision fails to start only if all its pods do.
 *
 * @param pods by name
 */
public record PodFailures(SortedMap<String, FailingPod> pods) {
  public static final PodFailures EMPTY = new PodFailures(new TreeMap<>());

  public PodFailures {
    pods = Collections.unmodifiableSortedMap(pods);
  }

  /** @param since from any origin; survives a change of the reason's text */
  public record FailingPod(@Nullable FailureReason failure, Duration since) {}

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

  public PodFailures with(PodStartStatus pod, Duration now) {
    var next = new TreeMap<>(pods);
    var before = pods.get(pod.name());
    var since = before != null && samePersistence(before.failure(), pod.failure())
        ? before.since()
        : now;
    next.put(pod.name(), new FailingPod(pod.failure(), since));
    return new PodFailures(next);
  }

  private static boolean samePersistence(@Nullable FailureReason a, @Nullable FailureReason b) {
    return a == null || b == null ? a == b : a.persistence() == b.persistence();
  }

  /** The pod was deleted or is terminating. */
  public PodFailures without(String pod) {
    var next = new TreeMap<>(pods);
    next.remove(pod);
    return new PodFailures(next);
  }

  /** Null if a pod may still start, or there is none. */
  public @Nullable RevisionStartFailure failure(Duration now, GracePeriods grace) {
    var left = left(now, grace);
    return left == null || left.isPositive() ? null : failure(pods.firstEntry());
  }

  private static @Nullable RevisionStartFailure failure(Map.Entry<String, FailingPod> pod) {
    var failure = pod.getValue().failure();
    return failure == null
        ? null
        : new RevisionStartFailure(failure.reason(), failure.message(), "pod " + pod.getKey());
  }

  /** Until every grace period is over; may be negative. Null as for {@link #failure}. */
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
