package dev.activator.revision;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A Knative Revision as the data path uses it: its identity, limits, protocol and probes.
 *
 * @param uid differs if a revision is deleted and created again
 * @param containerConcurrency 0 means unlimited
 * @param probesBeforeReady whether a pod that answers our probe serves before Kubernetes calls it
 *     ready; false where an exec or startup probe decides
 * @param readinessProbe for pods without queue-proxy; else null
 * @param startFailure why its containers do not start; null if nothing is known
 * @param rules null if it has none, as most
 */
public record Revision(RevisionId id, String uid, PortProtocol protocol, int containerConcurrency,
    RequestTimeouts timeouts, boolean probesBeforeReady,
    @Nullable ReadinessProbeSpec readinessProbe, Map<String, String> labels,
    Map<String, String> annotations, @Nullable RevisionStartFailure startFailure,
    @Nullable ColdStartRules rules) {

  public Revision {
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }

  /** Without rules. */
  public Revision(RevisionId id, String uid, PortProtocol protocol, int containerConcurrency,
      RequestTimeouts timeouts, boolean probesBeforeReady,
      @Nullable ReadinessProbeSpec readinessProbe, Map<String, String> labels,
      Map<String, String> annotations, @Nullable RevisionStartFailure startFailure) {
    this(id, uid, protocol, containerConcurrency, timeouts, probesBeforeReady, readinessProbe,
        labels, annotations, startFailure, null);
  }

  /**
   * Whether HTTP/1.1 connections to pods are pooled. Without queue-proxy, a container that takes
   * one request at a time often accepts none while another is idle.
   */
  public boolean keepsConnections() {
    return hasQueueProxy() || containerConcurrency != 1;
  }

  /** Whether a queue-proxy stands before the container: it keeps the revision's timeouts, too. */
  public boolean hasQueueProxy() {
    return readinessProbe == null;
  }

  public static Revision of(RevisionId id, int containerConcurrency) {
    return new Revision(id, "", PortProtocol.HTTP1, containerConcurrency, RequestTimeouts.DEFAULT,
        true,
        null, Map.of(), Map.of(), null);
  }
}
