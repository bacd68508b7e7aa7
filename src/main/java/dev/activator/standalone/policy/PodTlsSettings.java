package dev.activator.standalone.policy;

import java.util.List;

/**
 * The field {@code tls} of a ScaledService: which certificates of pods are trusted.
 *
 * <p><b>Source.</b> {@code validation} of the Gateway API's {@code BackendTLSPolicy}.
 *
 * @param authorities where the certificates of authorities are
 * @param trustsSystem whether those of the system are trusted, if no others are named
 * @param hostname what pods' certificates must name; empty for the name of the Service
 */
public record PodTlsSettings(List<CaReference> authorities, boolean trustsSystem,
    String hostname) {
  public PodTlsSettings {
    authorities = List.copyOf(authorities);
  }

  /** A key of a ConfigMap or Secret of the ScaledService's namespace. */
  public record CaReference(CaObject.Kind kind, String name, String key) {
    public CaObject.Name in(String namespace) {
      return new CaObject.Name(kind, namespace, name);
    }
  }
}
