package dev.activator.tls;

/**
 * The certificate chain, key and CAs in Knative's Secret routing-serving-certs, as PEM text.
 *
 * @param chain the certificate chain that is presented to callers
 * @param authorities the CAs that signed the pods' certificates; empty if the Secret has none, and
 *     they are only in trust bundles
 */
public record RoutingCertificate(String chain, String key, String authorities) {
  /** Leaves out the key, which must not get into a log. */
  @Override
  public String toString() {
    return "RoutingCertificate";
  }
}
