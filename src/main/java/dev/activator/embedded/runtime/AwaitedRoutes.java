package dev.activator.embedded.runtime;

import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The responses to writes of Services that wait until requests can be routed.
 *
 * <p><b>Threads.</b> One loop.
 */
final class AwaitedRoutes {
  private static final Duration MAX_WAIT = Duration.ofSeconds(10);

  private final Loop loop;
  private final Map<RevisionId, List<CompletableFuture<Void>>> waiting = new HashMap<>();

  AwaitedRoutes(Loop loop) {
    this.loop = loop;
  }

  void add(RevisionId service, CompletableFuture<Void> response) {
    waiting.computeIfAbsent(service, _ -> new ArrayList<>()).add(response);
    loop.schedule(MAX_WAIT, () -> giveUp(service, response));
  }

  private void giveUp(RevisionId service, CompletableFuture<Void> response) {
    waiting.computeIfPresent(service,
        (_, all) -> all.remove(response) && all.isEmpty() ? null : all);
    response.complete(null);
  }

  void complete(RevisionId service) {
    var done = waiting.remove(service);
    if (done != null) {
      done.forEach(response -> response.complete(null));
    }
  }
}
