package dev.activator.tls;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.interfaces.RSAKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/**
 * Whether a certificate and a key belong together. Java finds that out only in a handshake, one
 * caller after another.
 */
public final class KeyPairs {
  private static final String CERTIFICATE = "-----BEGIN CERTIFICATE-----";
  private static final String KEY = "PRIVATE KEY-----";
  private static final byte[] SAMPLE = "sample".getBytes(StandardCharsets.US_ASCII);

  private KeyPairs() {}

  /**
   * Whether they do; true also for kinds of keys that are not known here.
   *
   * @param chain in PEM; the first certificate counts
   * @param key in PEM
   * @throws GeneralSecurityException if one of them cannot be read
   */
  static boolean match(String chain, String key) throws GeneralSecurityException {
    var open = certificate(chain);
    try {
      var secret = KeyFactory.getInstance(open.getAlgorithm())
          .generatePrivate(new PKCS8EncodedKeySpec(pkcs8(key)));
      return match(open, secret);
    } catch (InvalidKeySpecException ofAnotherKind) {
      return false;
    }
  }

  /**
   * Whether two keys do that are read already; true also for kinds that are not known here.
   *
   * @throws GeneralSecurityException if one of them cannot be used
   */
  public static boolean match(PublicKey open, PrivateKey secret)
      throws GeneralSecurityException {
    if (open instanceof RSAKey one && secret instanceof RSAKey other) {
      return one.getModulus().equals(other.getModulus());
    }
    if (!open.getAlgorithm().equals(secret.getAlgorithm())) {
      return false;
    }
    return switch (open.getAlgorithm()) {
      case "EC" -> verifies("SHA256withECDSA", open, secret);
      case "EdDSA" -> verifies("EdDSA", open, secret);
      default -> true;
    };
  }

  private static boolean verifies(String algorithm, PublicKey open, PrivateKey secret)
      throws GeneralSecurityException {
    var signature = Signature.getInstance(algorithm);
    signature.initSign(secret);
    signature.update(SAMPLE);
    byte[] signed = signature.sign();
    try {
      signature.initVerify(open);
      signature.update(SAMPLE);
      return signature.verify(signed);
    } catch (InvalidKeyException | SignatureException ofAnotherCurve) {
      return false;
    }
  }

  private static PublicKey certificate(String chain) throws CertificateException {
    int begin = Math.max(0, chain.indexOf(CERTIFICATE));
    byte[] pem = chain.substring(begin).getBytes(StandardCharsets.UTF_8);
    return CertificateFactory.getInstance("X.509")
        .generateCertificate(new ByteArrayInputStream(pem)).getPublicKey();
  }

  private static byte[] pkcs8(String key) {
    String pem = new String(PrivateKeys.parse(key), StandardCharsets.US_ASCII);
    int from = pem.indexOf(KEY) + KEY.length();
    return Base64.getMimeDecoder().decode(pem.substring(from, pem.indexOf("-----END", from)));
  }
}
