package dev.activator.revision;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules for requests that come while no pod of their revision has room: which do not wake it,
 * and what answers instead.
 *
 * @param doNotWake the first that matches counts
 * @param fallback null if requests wait until their revision has started
 * @param ignoreIdleAfter without a byte for so long an upgraded connection does not count for the
 *     autoscaler; null if it always counts
 * @param problems a sentence for each setting that cannot be used, and is ignored
 */
public record ColdStartRules(List<DoNotWakeRule> doNotWake, @Nullable ColdStartFallback fallback,
    @Nullable Duration ignoreIdleAfter, List<String> problems) {
  public ColdStartRules {
    doNotWake = List.copyOf(doNotWake);
    problems = List.copyOf(problems);
  }
}
