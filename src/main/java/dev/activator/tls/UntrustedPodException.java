package dev.activator.tls;

import java.security.cert.CertificateException;

/** Why the certificate of a pod is not trusted. The message is for the log. */
public final class UntrustedPodException extends CertificateException {
  public enum Reason {
    UNKNOWN_ISSUER,
    WRONG_NAME,
    /** Or not valid yet. */
    EXPIRED
  }

  private static final long serialVersionUID = 1L;

  private final Reason reason;

  UntrustedPodException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
