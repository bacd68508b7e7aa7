package dev.activator.revision;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules for requests that arrive while no pod of their revision has room: which of them must
 * not start a pod, and which response or other service they get instead.
 *
 * @param doNotWake the first rule that matches a request applies
 * @param fallback null if requests wait until their revision has started
 * @param ignoreIdleAfter an upgraded connection that has carried no byte for this long is not
 *     counted for the autoscaler; null if it is always counted
 * @param problems one sentence for each setting that is invalid and therefore ignored
 */
public record ColdStartRules(List<DoNotWakeRule> doNotWake, @Nullable ColdStartFallback fallback,
    @Nullable Duration ignoreIdleAfter, List<String> problems) {
  public ColdStartRules {
    doNotWake = List.copyOf(doNotWake);
    problems = List.copyOf(problems);
  }

  /**
   * The service or response that a request gets instead of waiting until its revision has started.
   * The start continues.
   *
   * @param after how long the request is queued before that; zero for not at all
   * @param service a revision, Knative Service or ScaledService of the same namespace; null if there
   *     is an {@code answer}
   * @param answer the response; null if there is a {@code service}
   */
  public record ColdStartFallback(Duration after, @Nullable String service,
      @Nullable ConfiguredResponse answer) {
    @Override
    public String toString() {
      return (service == null
          ? "answers " + (answer == null ? "" : answer.status())
          : "goes to " + service)
          + (after.isZero() ? " at once" : " after " + after.toMillis() / 1e3 + " s");
    }
  }
}
