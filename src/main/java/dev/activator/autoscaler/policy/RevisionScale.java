package dev.activator.autoscaler.policy;

import java.util.Collections;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How many pods one revision should have: up at once, on the latest second; down to the most that
 * the last seconds asked for.
 *
 * <p>
 * <b>Units.</b> Seconds since any origin; they never go back.
 *
 * <p>
 * <b>Source.</b> {@code scaler.go} and {@code autoscaler.go} of Knative Serving, with seconds for
 * minutes and without a panic mode.
 *
 * @param idleSince when the window became all zero; empty before that, and once the last pod is
 *     gone
 */
public record RevisionScale(SampleWindow window, SortedMap<Long, Integer> wanted, int pods,
    OptionalLong idleSince) {

  public static final RevisionScale AT_ZERO = new RevisionScale(SampleWindow.EMPTY,
      new TreeMap<>(), 0, OptionalLong.empty());

  public static final int GRACE_SECONDS = 1;

  public RevisionScale {
    wanted = Collections.unmodifiableSortedMap(wanted);
  }

  /** Adds pods, never removes one. */
  public RevisionScale sampled(long second, Sample sample, ScalingLimits limits) {
    var more = window.plus(second, sample);
    if (more.idle()) {
      return new RevisionScale(more, wanted, pods, idleSince);
    }
    int now = wantedBy(more, second, limits);
    return new RevisionScale(more, noted(second, now), Math.max(pods, now), OptionalLong.empty());
  }

  public RevisionScale ticked(long second, ScalingLimits limits) {
    var recent = window.at(second);
    if (recent.idle()) {
      return idle(recent, second, limits);
    }
    var history = noted(second, wantedBy(recent, second, limits));
    int most = history.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    return new RevisionScale(recent, history, limits.clamp(most), OptionalLong.empty());
  }

  private RevisionScale idle(SampleWindow recent, long second, ScalingLimits limits) {
    long since = idleSince.orElse(second);
    if (pods <= limits.least() || second - since >= GRACE_SECONDS) {
      return new RevisionScale(recent, new TreeMap<>(), limits.least(), OptionalLong.empty());
    }
    return new RevisionScale(recent, wanted, pods, OptionalLong.of(since));
  }

  private static int wantedBy(SampleWindow window, long second, ScalingLimits limits) {
    double concurrency = Math.max(window.average(second), window.latest(second));
    double pods = Math.ceil(concurrency / limits.target());
    return limits.clamp((int) Math.clamp(pods, 1, Integer.MAX_VALUE));
  }

  private SortedMap<Long, Integer> noted(long second, int pods) {
    var history = new TreeMap<>(wanted.tailMap(second - SampleWindow.LENGTH_SECONDS + 1));
    history.merge(second, pods, Math::max);
    return history;
  }
}
