package dev.activator.cluster;

import dev.activator.cluster.decode.RoutingCertificate;
import java.util.List;

/**
 * Told of certificates.
 *
 * <p>
 * <b>Threads.</b> Called one at a time, on the loop of the cluster.
 */
public interface CertificateListener {
  /** The activators' certificate is this now. */
  void certificate(RoutingCertificate now);

  /** A trust bundle has these values now, each of which is any number of certificates in PEM. */
  void bundle(String name, List<String> values);

  /** A trust bundle is deleted, or is none any more. */
  void bundleGone(String name);
}
