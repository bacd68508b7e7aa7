package dev.activator.tls;

/**
 * The certificate chain, key and CAs in Knative's Secret routing-serving-certs, as PEM text.
 *
 * @param chain shown to callers
 * @param authorities the CAs of pods' certificates; empty if only trust bundles have them
 */
public record RoutingCertificate(String chain, String key, String authorities) {
  /** Leaves out the key, which must not get into a log. */
  @Override
  public String toString() {
    return "RoutingCertificate";
  }
}
