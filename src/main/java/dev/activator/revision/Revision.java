package dev.activator.revision;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the activator needs of a Knative Revision.
 *
 * @param id which one
 * @param uid of the object; a revision deleted and created again has another
 * @param protocol what the serving container speaks
 * @param containerConcurrency requests one pod may run at once; 0 means any number
 * @param timeouts how long a request may take
 * @param probesBeforeReady whether a pod that answers our probe serves even while Kubernetes does
 *     not call it ready; false where an exec or startup probe decides
 * @param readinessProbe how the container of a pod without queue-proxy is probed; null where there is
 *     a queue-proxy, which answers probes of its own
 * @param labels those of the object, all of them
 * @param annotations those of the object, all of them
 * @param startFailure why its containers do not start; null while nothing is known to be wrong
 */
public record Revision(RevisionId id, String uid, Protocol protocol, int containerConcurrency,
    RequestTimeouts timeouts, boolean probesBeforeReady,
    @Nullable ReadinessProbe readinessProbe, Map<String, String> labels,
    Map<String, String> annotations, @Nullable StartFailure startFailure) {

  public Revision {
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }

  /**
   * Whether HTTP/1.1 connections to its pods are kept open between requests. A container that takes
   * one request at a time often serves one connection at a time, and while an idle one is open does
   * not accept the next; a queue-proxy would.
   */
  public boolean keepsConnections() {
    return readinessProbe == null || containerConcurrency != 1;
  }

  /** A plain HTTP/1.1 revision, as most are. */
  public static Revision of(RevisionId id, int containerConcurrency) {
    return new Revision(id, "", Protocol.HTTP1, containerConcurrency, RequestTimeouts.DEFAULT, true,
        null, Map.of(), Map.of(), null);
  }
}
