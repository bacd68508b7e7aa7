package dev.activator.revision;

import dev.activator.revision.PodTransport.PodIdentity;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A Knative Revision, or one port of a ScaledService, as the data path uses it: its identity,
 * limits, protocol and probes.
 *
 * @param uid changes if the revision is deleted and created again
 * @param containerConcurrency 0 means unlimited
 * @param probesBeforeReady whether a pod gets requests as soon as it answers our probe, even before
 *     Kubernetes reports it as ready; false if this is not safe, as with an exec or startup probe, or a readiness gate
 * @param readinessProbe the probe of pods without queue-proxy; null for pods with one
 * @param startFailure why the containers do not start; null if nothing is known
 * @param rules the rules for cold starts; null for most revisions, which have none
 * @param podIdentity what pods that speak TLS themselves must prove; null unless the protocol is
 *     {@link PortProtocol#NEGOTIATED}
 */
public record Revision(RevisionId id, String uid, PortProtocol protocol, int containerConcurrency,
    RequestTimeouts timeouts, boolean probesBeforeReady,
    @Nullable ReadinessProbeSpec readinessProbe, Map<String, String> labels,
    Map<String, String> annotations, @Nullable RevisionStartFailure startFailure,
    @Nullable ColdStartRules rules, PodIdentity.@Nullable OfService podIdentity) {

  public Revision {
    labels = Map.copyOf(labels);
    annotations = Map.copyOf(annotations);
  }

  /** A revision without rules, whose pods do not speak TLS themselves. */
  public Revision(RevisionId id, String uid, PortProtocol protocol, int containerConcurrency,
      RequestTimeouts timeouts, boolean probesBeforeReady,
      @Nullable ReadinessProbeSpec readinessProbe, Map<String, String> labels,
      Map<String, String> annotations, @Nullable RevisionStartFailure startFailure) {
    this(id, uid, protocol, containerConcurrency, timeouts, probesBeforeReady, readinessProbe,
        labels, annotations, startFailure, null, null);
  }

  /**
   * Whether HTTP/1.1 connections to pods are pooled. A container without queue-proxy that handles
   * one request at a time often accepts no new connection while an idle one is open.
   */
  public boolean keepsConnections() {
    return hasQueueProxy() || containerConcurrency != 1;
  }

  public PodTransport transport() {
    return new PodTransport(protocol, podIdentity);
  }

  /** Whether the pods have a queue-proxy. It also enforces the revision's timeouts. */
  public boolean hasQueueProxy() {
    return readinessProbe == null;
  }

  public Revision withoutStartFailure() {
    return new Revision(id, uid, protocol, containerConcurrency, timeouts, probesBeforeReady,
        readinessProbe, labels, annotations, null, rules, podIdentity);
  }

  public static Revision of(RevisionId id, int containerConcurrency) {
    return new Revision(id, "", PortProtocol.HTTP1, containerConcurrency, RequestTimeouts.DEFAULT,
        true, null, Map.of(), Map.of(), null);
  }
}
