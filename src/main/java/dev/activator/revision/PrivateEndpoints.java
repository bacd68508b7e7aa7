package dev.activator.revision;

/**
 * A revision's private Endpoints, by the port's protocol: the Revision, which may come later, says
 * which counts.
 */
public record PrivateEndpoints(RevisionId revision, PodsByReadiness http1, PodsByReadiness h2c) {
  public static PrivateEndpoints none(RevisionId revision) {
    return new PrivateEndpoints(revision, PodsByReadiness.NONE, PodsByReadiness.NONE);
  }

  public PodsByReadiness on(PortProtocol protocol) {
    return switch (protocol) {
      case HTTP1 -> http1;
      case H2C -> h2c;
    };
  }
}
