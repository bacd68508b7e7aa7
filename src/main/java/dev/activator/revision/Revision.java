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
 * @param labels those of the object, all of them
 * @param annotations those of the object, all of them
 * @param startFailure why its containers do not start; null while nothing is known to be wrong
 * @param containerProbe how to probe its pods, which have no queue-proxy; null where they have one
 */
public record Revision(RevisionId id, String uid, Protocol protocol, int containerConcurrency,
    RequestTimeouts timeouts, boolean probesBeforeReady, Map<String, String> labels,
    Map<String, String> annotations, @Nullable StartFailure startFailure,
    @Nullable ContainerProbe containerProbe) {

  public Revision {
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }

  /** A revision whose pods have a queue-proxy. */
  public Revision(RevisionId id, String uid, Protocol protocol, int containerConcurrency,
      RequestTimeouts timeouts, boolean probesBeforeReady, Map<String, String> labels,
      Map<String, String> annotations, @Nullable StartFailure startFailure) {
    this(id, uid, protocol, containerConcurrency, timeouts, probesBeforeReady, labels, annotations,
        startFailure, null);
  }

  /** A plain HTTP/1.1 revision, as most are. */
  public static Revision of(RevisionId id, int containerConcurrency) {
    return new Revision(id, "", Protocol.HTTP1, containerConcurrency, RequestTimeouts.DEFAULT, true,
        Map.of(), Map.of(), null);
  }
}
