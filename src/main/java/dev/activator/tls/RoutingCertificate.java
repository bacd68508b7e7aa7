package dev.activator.tls;

/**
 * The content of the Secret {@code routing-serving-certs}, in PEM.
 *
 * @param chain shown to callers
 * @param authorities the CAs of pods' certificates; empty if only trust bundles have them
 */
public record RoutingCertificate(String chain, String key, String authorities) {
  /** A key must not get into a log. */
  @Override
  public String toString() {
    return "RoutingCertificate";
  }
}
