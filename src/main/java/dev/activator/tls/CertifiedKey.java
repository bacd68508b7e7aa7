package dev.activator.tls;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAKey;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.pem.PemSslStore;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;

/**
 * A certificate with its issuers and its private key.
 *
 * @param chain each certificate is issued by the next one; Java would refuse to send others
 */
public record CertifiedKey(List<X509Certificate> chain, PrivateKey key) {
  private static final byte[] SAMPLE = "sample".getBytes(StandardCharsets.US_ASCII);

  /**
   * <b>Source.</b> RFC 8446, section 4.4.2; {@code X509KeyPair} in Go, which sends all
   * certificates.
   *
   * @param certificates the certificate first, then its issuers in any order
   * @throws GeneralSecurityException also if the key does not belong to the certificate, which Java
   *     would notice only in a handshake
   */
  public static CertifiedKey parse(String certificates, String key)
      throws GeneralSecurityException {
    var read = new CertifiedKey(chain(PemCertificates.certificates(certificates)),
        PemCertificates.key(key));
    if (!isPair(read.chain.getFirst().getPublicKey(), read.key)) {
      throw new InvalidKeyException("the key does not belong to the certificate");
    }
    return read;
  }

  private static List<X509Certificate> chain(List<X509Certificate> certificates) {
    var rest = new ArrayList<>(certificates);
    var chain = new ArrayList<X509Certificate>();
    for (var next = rest.removeFirst(); next != null; next = removeIssuer(next, rest)) {
      chain.add(next);
    }
    return List.copyOf(chain);
  }

  private static @Nullable X509Certificate removeIssuer(X509Certificate of,
      List<X509Certificate> rest) {
    var issuer = isIssuer(of, of)
        ? null
        : rest.stream().filter(each -> isIssuer(each, of)).findFirst().orElse(null);
    rest.remove(issuer);
    return issuer;
  }

  private static boolean isIssuer(X509Certificate candidate, X509Certificate of) {
    if (!candidate.getSubjectX500Principal().equals(of.getIssuerX500Principal())) {
      return false;
    }
    try {
      of.verify(candidate.getPublicKey());
      return true;
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  /** Whether the keys belong together. True for unknown kinds of keys. */
  private static boolean isPair(PublicKey open, PrivateKey secret)
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
    } catch (InvalidKeyException | SignatureException e) {
      return false;
    }
  }

  /** Key managers for a client that shows this certificate to any server that requests one. */
  public KeyManager[] keyManagers() throws GeneralSecurityException {
    var store = new PemSslStoreBundle(PemSslStore.of(chain, key), null).getKeyStore();
    var factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, new char[0]);
    return factory.getKeyManagers();
  }

  /** Keeps the key out of logs. */
  @Override
  public String toString() {
    return "CertifiedKey";
  }
}
