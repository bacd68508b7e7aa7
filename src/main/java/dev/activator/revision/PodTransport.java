package dev.activator.revision;

import org.jspecify.annotations.Nullable;

/**
 * How the pods of a revision are reached. It travels with the destinations for which it holds,
 * because those of the port before may still get requests when a ScaledService names another port.
 *
 * @param identity what pods that speak TLS themselves must prove; null unless the protocol is
 *     {@link PortProtocol#NEGOTIATED}
 */
public record PodTransport(PortProtocol protocol, PodIdentity.@Nullable OfService identity) {
  /** HTTP/1.1 without TLS to the program. */
  public static final PodTransport PLAIN = new PodTransport(PortProtocol.HTTP1, null);

  /**
   * Whether pods that were reached as {@code before} are reached as this, too: the same version of
   * HTTP, and the same name in the certificate. Its authorities may have changed.
   */
  public boolean replaces(PodTransport before) {
    return protocol == before.protocol && name().equals(before.name());
  }

  private String name() {
    return identity == null ? "" : identity.name();
  }

  /** What a pod must prove over TLS before it gets requests. */
  public sealed interface PodIdentity {
    /** It has a certificate of Knative's data plane for its namespace. */
    record OfNamespace(String namespace) implements PodIdentity {}

    /**
     * It has a certificate for a name. The program in the pod speaks TLS itself.
     *
     * @param name what the certificate must name; also sent as SNI
     * @param authorities certificates in PEM of those who may issue it; empty for the system's
     *     authorities; null if none is known, so that no pod is trusted
     */
    record OfService(String name, @Nullable String authorities) implements PodIdentity {
      public OfService {
        // Each request compares them. Equal ones are the same text, because a bundle of 200 kB takes
        // microseconds to compare.
        authorities = authorities == null ? null : authorities.intern();
      }
    }
  }
}
