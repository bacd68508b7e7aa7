package dev.activator.revision;

import org.jspecify.annotations.Nullable;

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

  /**
   * The ClusterIP of a revision's private Service, with the port of each protocol. A destination is
   * null if the Service has no such port or no address.
   */
  public record PrivateClusterIp(RevisionId revision, @Nullable Destination http1,
      @Nullable Destination h2c) {

    public @Nullable Destination on(PortProtocol protocol) {
      return switch (protocol) {
        case HTTP1, NEGOTIATED, TCP -> http1;
        case H2C -> h2c;
      };
    }
  }
}
