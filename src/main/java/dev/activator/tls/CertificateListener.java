package dev.activator.tls;

import java.util.List;

/**
 * A listener for the certificate and the trust bundles of the cluster.
 *
 * <p><b>Threads.</b> Called one at a time, on the cluster's loop.
 */
public interface CertificateListener {
  void certificate(RoutingCertificate now);

  /** @param values texts in PEM, each with any number of certificates */
  void bundle(String name, List<String> values);

  /** The bundle was deleted or lost its label. */
  void bundleGone(String name);
}
