package dev.activator.revision;

/**
 * The pods in a revision's private Endpoints, for each protocol. Both are kept, because the
 * Revision, which says which protocol is used, may become known later.
 */
public record PrivateEndpoints(RevisionId revision, PodsByReadiness http1, PodsByReadiness h2c) {
  public static PrivateEndpoints none(RevisionId revision) {
    return new PrivateEndpoints(revision, PodsByReadiness.NONE, PodsByReadiness.NONE);
  }

  /** The same pods, none of which is ready. */
  public PrivateEndpoints unready() {
    return new PrivateEndpoints(revision, http1.unready(), h2c.unready());
  }

  public PodsByReadiness on(PortProtocol protocol) {
    return switch (protocol) {
      case HTTP1, NEGOTIATED -> http1;
      case H2C -> h2c;
      // A connection may stay open for longer than the pod.
      case TCP -> http1.withoutEnding();
    };
  }
}
