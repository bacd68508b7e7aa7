package dev.activator.cluster.decode;

/**
 * All in PEM.
 *
 * @param chain the certificate shown to callers, and its issuers
 * @param authorities the CAs that pods' certificates are verified with
 */
public record RoutingCertificate(String chain, String key, String authorities) {
  /** A key must not get into a log. */
  @Override
  public String toString() {
    return "RoutingCertificate";
  }
}
