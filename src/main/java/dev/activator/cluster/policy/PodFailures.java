package dev.activator.cluster.policy;

import dev.activator.cluster.policy.PodStatus.FailureReason;
import dev.activator.revision.StartFailure;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The pods of a revision that does not start, and since when each has had what it has. As long as
 * one of them may start, the revision may.
 *
 * @param pods by name
 */
public record PodFailures(SortedMap<String, FailingPod> pods) {
  public static final PodFailures EMPTY = new PodFailures(new TreeMap<>());

  public PodFailures {
    pods = Collections.unmodifiableSortedMap(pods);
  }

  /**
   * One pod.
   *
   * @param ailment what it has; null for nothing
   * @param since when that began, since some origin; another word for the same sort is no change
   */
  public record FailingPod(@Nullable FailureReason ailment, Duration since) {}

  /**
   * How long an ailment is waited out.
   *
   * @param passing where the next try may go well
   * @param slow where somebody may make room
   */
  public record Patience(Duration passing, Duration slow) {
    /** A caller hears of what does not pass within six seconds. */
    public static final Patience DEFAULT = new Patience(Duration.ofSeconds(3),
        Duration.ofMinutes(1));

    Duration of(FailureReason ailment) {
      return switch (ailment.sign()) {
        case LASTING -> Duration.ZERO;
        case PASSING -> passing;
        case SLOW -> slow;
      };
    }
  }

  /** This pod is so now. */
  public PodFailures seen(PodStatus pod, Duration now) {
    var next = new TreeMap<>(pods);
    var before = pods.get(pod.name());
    var since = before != null && sameSort(before.ailment(), pod.ailment())
        ? before.since()
        : now;
    next.put(pod.name(), new FailingPod(pod.ailment(), since));
    return new PodFailures(next);
  }

  private static boolean sameSort(@Nullable FailureReason a, @Nullable FailureReason b) {
    return a == null || b == null ? a == b : a.sign() == b.sign();
  }

  /** This pod is no more, or ends. */
  public PodFailures gone(String pod) {
    var next = new TreeMap<>(pods);
    next.remove(pod);
    return new PodFailures(next);
  }

  /** Why no pod will start as things are; null if one may, or there is none. */
  public @Nullable StartFailure failure(Duration now, Patience patience) {
    var left = left(now, patience);
    return left == null || left.isPositive() ? null : failure(pods.firstEntry());
  }

  private static @Nullable StartFailure failure(Map.Entry<String, FailingPod> pod) {
    var ailment = pod.getValue().ailment();
    return ailment == null
        ? null
        : new StartFailure(ailment.reason(), ailment.message(), "pod " + pod.getKey());
  }

  /**
   * How long until all of them have been waited out, if nothing changes; zero or less if they have
   * been; null if one of them may start, or there is none.
   */
  public @Nullable Duration left(Duration now, Patience patience) {
    Duration longest = null;
    for (var pod : pods.values()) {
      var ailment = pod.ailment();
      if (ailment == null) {
        return null;
      }
      var left = pod.since().plus(patience.of(ailment)).minus(now);
      longest = longest == null || left.compareTo(longest) > 0 ? left : longest;
    }
    return longest;
  }
}
