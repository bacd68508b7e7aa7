package dev.activator.revision;

import org.jspecify.annotations.Nullable;

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
