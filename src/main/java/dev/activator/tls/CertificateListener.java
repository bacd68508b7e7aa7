package dev.activator.tls;

import java.util.List;

/**
 * A listener for the certificate and the trust bundles of the cluster.
 *
 * <p><b>Threads.</b> Called one at a time, on the cluster's loop.
 */
public interface CertificateListener {
  /**
   * The certificate chain, key and CAs in Knative's Secret routing-serving-certs, as PEM text.
   *
   * @param chain the certificate chain that is presented to callers
   * @param authorities the CAs that signed the pods' certificates; empty if the Secret has none, and
   *     they are only in trust bundles
   */
  record RoutingCertificate(String chain, String key, String authorities) {
    /** Leaves out the key, which must not get into a log. */
    @Override
    public String toString() {
      return "RoutingCertificate";
    }
  }

  void certificate(RoutingCertificate now);

  /** @param values texts in PEM, each with any number of certificates */
  void bundle(String name, List<String> values);

  /** The bundle was deleted or lost its label. */
  void bundleGone(String name);
}
