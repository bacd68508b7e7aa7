package dev.activator.embedded.runtime;

import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The responses to writes of Services that wait until requests can be routed.
 *
 * <p><b>Threads.</b> Any.
 */
public final class AwaitedRoutes {
  private final Loop loop;
  private final Duration maxWait;
  private final Map<RevisionId, CompletableFuture<Void>> waiting = new ConcurrentHashMap<>();

  public AwaitedRoutes(Loop loop, Duration maxWait) {
    this.loop = loop;
    this.maxWait = maxWait;
  }

  /** A future for the response, which completes after the maximum wait at the latest. */
  public CompletableFuture<Void> add(RevisionId service) {
    return waiting.computeIfAbsent(service, _ -> {
      var response = new CompletableFuture<Void>();
      loop.schedule(maxWait, () -> {
        waiting.remove(service, response);
        response.complete(null);
      });
      return response;
    });
  }

  public void complete(RevisionId service) {
    var response = waiting.remove(service);
    if (response != null) {
      response.complete(null);
    }
  }
}
