package dev.activator.revision;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules by which requests do not simply wait while no pod of their revision has room.
 *
 * @param doNotWake the first that matches counts
 * @param fallback null if requests wait until their revision has started
 * @param ignoreIdleAfter without a byte for so long an upgraded connection does not count for the
 *     autoscaler; null if it always counts
 * @param problems a sentence for each setting that cannot be used, and is ignored
 */
public record RequestRules(List<DoNotWake> doNotWake, @Nullable Fallback fallback,
    @Nullable Duration ignoreIdleAfter, List<String> problems) {
  public RequestRules {
    doNotWake = List.copyOf(doNotWake);
    problems = List.copyOf(problems);
  }
}
