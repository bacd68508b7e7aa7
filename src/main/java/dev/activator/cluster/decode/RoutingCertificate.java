package dev.activator.cluster.decode;

/**
 * What the activators' Secret says.
 *
 * @param chain the certificate that callers are shown, and those that vouch for it; PEM
 * @param key its private key; PEM
 * @param authorities who vouches for pods, any number of certificates; PEM
 */
public record RoutingCertificate(String chain, String key, String authorities) {
  /** Says nothing: a key must not get into a log. */
  @Override
  public String toString() {
    return "RoutingCertificate";
  }
}
