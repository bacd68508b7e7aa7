package dev.activator.tls;

import java.io.ByteArrayInputStream;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Certificates as text, one after another. What stands between them, and blocks of another kind,
 * mean nothing.
 *
 * <p>
 * <b>Source.</b> RFC 7468, section 5; {@code AppendCertsFromPEM} in Go.
 *
 * @param certificates those that can be read, in order
 * @param isBroken whether there is one that cannot be read, or none at all
 */
record Pem(List<X509Certificate> certificates, boolean isBroken) {
  private static final String BEGIN = "-----BEGIN CERTIFICATE-----";
  private static final String END = "-----END CERTIFICATE-----";

  static Pem certificates(String text) {
    var found = new ArrayList<X509Certificate>();
    boolean broken = false;
    int begin = text.indexOf(BEGIN);
    while (begin >= 0) {
      int end = text.indexOf(END, begin);
      int next = text.indexOf(BEGIN, begin + BEGIN.length());
      boolean whole = end >= 0 && (next < 0 || end < next);
      if (whole) {
        broken |= !add(found, text.substring(begin + BEGIN.length(), end));
      }
      broken |= !whole;
      begin = next;
    }
    return new Pem(List.copyOf(found), broken || found.isEmpty());
  }

  /** Whether it can be read. */
  private static boolean add(List<X509Certificate> to, String base64) {
    try {
      byte[] der = Base64.getMimeDecoder().decode(base64);
      to.add((X509Certificate) CertificateFactory.getInstance("X.509")
          .generateCertificate(new ByteArrayInputStream(der)));
      return true;
    } catch (IllegalArgumentException | CertificateException unreadable) {
      return false;
    }
  }
}
