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
}
