package dev.activator.tls;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The certificates of a file in the order in which each vouches for the one before it. Files have
 * them in another order, or have others besides, which Java would refuse and nobody needs to see.
 *
 * <p>
 * <b>Source.</b> RFC 8446, section 4.4.2; {@code X509KeyPair} in Go, which shows all that there is.
 */
final class CertificateChain {
  private static final Pattern BLOCK = Pattern
      .compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", Pattern.DOTALL);

  /** One certificate, and its text. */
  private record Block(String pem, X509Certificate certificate) {}

  private CertificateChain() {}

  /**
   * The first certificate of the text, then who vouches for it, and so on as far as the text goes.
   *
   * @param pem any number of certificates; none is for whoever reads the result
   * @throws CertificateException if one of them cannot be read
   */
  static String of(String pem) throws CertificateException {
    var rest = read(pem);
    if (rest.size() < 2) {
      return pem;
    }
    var chain = new StringBuilder();
    for (var next = rest.removeFirst(); next != null; next = takeIssuer(next, rest)) {
      chain.append(next.pem).append('\n');
    }
    return chain.toString();
  }

  private static List<Block> read(String pem) throws CertificateException {
    var factory = CertificateFactory.getInstance("X.509");
    var found = new ArrayList<Block>();
    var blocks = BLOCK.matcher(pem);
    while (blocks.find()) {
      var bytes = blocks.group().getBytes(StandardCharsets.US_ASCII);
      found.add(new Block(blocks.group(),
          (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(bytes))));
    }
    return found;
  }

  private static @Nullable Block takeIssuer(Block of, List<Block> rest) {
    if (isIssuer(of, of)) {
      return null;
    }
    for (var each : rest) {
      if (isIssuer(each, of)) {
        rest.remove(each);
        return each;
      }
    }
    return null;
  }

  private static boolean isIssuer(Block candidate, Block of) {
    if (!candidate.certificate.getSubjectX500Principal()
        .equals(of.certificate.getIssuerX500Principal())) {
      return false;
    }
    try {
      of.certificate.verify(candidate.certificate.getPublicKey());
      return true;
    } catch (GeneralSecurityException ofTheSameName) {
      return false;
    }
  }
}
