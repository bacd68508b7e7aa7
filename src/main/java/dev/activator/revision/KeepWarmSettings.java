package dev.activator.revision;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When a workload keeps pods without requests.
 *
 * @param schedule null if it has none
 * @param keepWarm null if its last pod goes after the usual window
 * @param problems a sentence for each setting that cannot be used, and is ignored
 */
public record KeepWarmSettings(@Nullable WarmSchedule schedule, @Nullable KeepWarm keepWarm,
    List<String> problems) {
  public static final KeepWarmSettings NONE = new KeepWarmSettings(null, null, List.of());

  public KeepWarmSettings {
    problems = List.copyOf(problems);
  }

  /**
   * How long the last pod stays, by how long the workload was idle before.
   *
   * @param observeOnly whether that is only counted
   * @param max the longest that it may stay
   */
  public record KeepWarm(boolean observeOnly, Duration max) {}
}
