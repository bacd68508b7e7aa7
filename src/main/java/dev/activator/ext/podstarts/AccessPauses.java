package dev.activator.ext.podstarts;

import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers which namespaces' pods and Events may not be read, and when that is checked again. A
 * refusal is logged once for each of the two.
 *
 * <p><b>Threads.</b> The cluster's loop.
 */
final class AccessPauses {
  private static final Logger log = LoggerFactory.getLogger(AccessPauses.class);
  /** The pause between access checks of a namespace that may not be read. */
  static final Duration AFTER_REFUSAL = Duration.ofMinutes(10);
  /** The same pause, if the API did not answer. */
  static final Duration AFTER_NO_ANSWER = Duration.ofSeconds(30);

  private final Loop loop;
  private final Map<Access, Long> untilNanos = new HashMap<>();
  private final Set<Resource> logged = EnumSet.noneOf(Resource.class);

  enum Resource {
    PODS("list pods", "Only the status of a Revision shows why its pods do not start. For more"
        + " details, allow list and watch of pods (chart value rbac.pods)"),
    EVENTS("list and watch events", "They say whether a node is added for a pod that no node takes;"
        + " requests for it are refused after activator.cluster.unschedulable-timeout. To wait for"
        + " the node, allow it (chart value rbac.events)");

    private final String what;
    private final String effect;

    Resource(String what, String effect) {
      this.what = what;
      this.effect = effect;
    }
  }

  private record Access(Resource resource, String namespace) {}

  AccessPauses(Loop loop) {
    this.loop = loop;
  }

  boolean isPaused(Resource resource, String namespace) {
    var until = untilNanos.get(new Access(resource, namespace));
    return until != null && until - loop.nanoTime() > 0;
  }

  /** @param answer null if the API did not answer */
  void pause(Resource resource, String namespace, @Nullable ListWatchAccess answer) {
    untilNanos.values().removeIf(until -> until - loop.nanoTime() <= 0);
    boolean refused = answer == ListWatchAccess.FORBIDDEN;
    untilNanos.put(new Access(resource, namespace),
        loop.nanoTime() + (refused ? AFTER_REFUSAL : AFTER_NO_ANSWER).toNanos());
    if (refused && logged.add(resource)) {
      log.info("The Kubernetes API does not allow the activator to {} -n {} (403). {}",
          resource.what, namespace, resource.effect);
    }
  }
}
