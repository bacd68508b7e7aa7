package dev.activator.standalone.policy;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings that keep pods of a workload that has no requests: a schedule, and the prediction of
 * idle times.
 *
 * @param schedule null if there is no schedule
 * @param keepWarm null if the last pod is removed after the usual window
 * @param problems one sentence for each setting that is invalid and therefore ignored
 */
public record KeepWarmSettings(@Nullable WarmSchedule schedule, @Nullable KeepWarm keepWarm,
    List<String> problems) {
  public static final KeepWarmSettings NONE = new KeepWarmSettings(null, null, List.of());

  public KeepWarmSettings {
    problems = List.copyOf(problems);
  }

  /**
   * The setting to keep the last pod for as long as earlier idle times suggest.
   *
   * @param observeOnly whether the effect is only computed and reported, and no pod is kept
   * @param max the longest time that the pod may stay without requests
   */
  public record KeepWarm(boolean observeOnly, Duration max) {}
}
