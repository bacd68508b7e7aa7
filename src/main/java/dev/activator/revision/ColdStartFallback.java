package dev.activator.revision;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What takes a request that waits for the start of its revision, while the start goes on.
 *
 * @param after from when it is queued; zero for at once
 * @param service a revision, Knative Service or ScaledService of the same namespace; null if there is
 *     an answer
 * @param answer null if there is a service
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
