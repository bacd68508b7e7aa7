package dev.activator.revision;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

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
