package dev.activator.testing;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * A certificate for {@code localhost} that nobody vouches for, made on the spot.
 *
 * @param certificate itself
 * @param key its private key
 */
public record Certificate(X509Certificate certificate, PrivateKey key) {
  private static final String PASSWORD = "changeit";
  /** An RSA key of 2048 bits in PKCS#8: so much comes before the key in PKCS#1. */
  private static final int BEFORE_PKCS1 = 26;
  private static final byte[] P256 = HexFormat.of().parseHex("06082a8648ce3d030107");

  public static Certificate rsa() throws GeneralSecurityException {
    return forThisHost(new CertificateBuilder().rsa2048());
  }

  public static Certificate ec() throws GeneralSecurityException {
    return forThisHost(new CertificateBuilder().ecp256());
  }

  private static Certificate forThisHost(CertificateBuilder builder)
      throws GeneralSecurityException {
    builder.subject("CN=localhost").addSanDnsName("localhost").setIsCertificateAuthority(true);
    return of(make(builder::buildSelfSigned));
  }

  static Certificate of(X509Bundle made) {
    return new Certificate(made.getCertificate(), made.getKeyPair().getPrivate());
  }

  /** The library throws anything. */
  static X509Bundle make(Callable<X509Bundle> build) throws GeneralSecurityException {
    try {
      return build.call();
    } catch (GeneralSecurityException failure) {
      throw failure;
    } catch (Exception failure) {
      throw new GeneralSecurityException(failure);
    }
  }

  /** As PEM. */
  public String pem() {
    return SecureApi.pem(certificate);
  }

  /** The key as PKCS#8, as PEM. */
  public String keyPem() {
    return SecureApi.pem("PRIVATE KEY", key.getEncoded());
  }

  /** Writes both as PEM, the key as PKCS#8 or in the form its kind had before. */
  public void write(Path chain, Path keyFile, String form)
      throws IOException {
    Files.writeString(chain, pem());
    byte[] pkcs8 = key.getEncoded();
    Files.writeString(keyFile, form.equals("PKCS#8")
        ? keyPem()
        : key.getAlgorithm().equals("RSA")
            ? SecureApi.pem("RSA PRIVATE KEY",
                Arrays.copyOfRange(pkcs8, BEFORE_PKCS1, pkcs8.length))
            : SecureApi.pem("EC PRIVATE KEY", sec1(pkcs8)));
  }

  /** The number that is the key, with the name of the curve that PKCS#8 has outside of it. */
  private static byte[] sec1(byte[] pkcs8) {
    int number = 0;
    while (pkcs8[number] != 4 || pkcs8[number + 1] != 32) {
      number++;
    }
    var out = new ByteArrayOutputStream();
    out.writeBytes(new byte[]{0x30, (byte) (3 + 34 + 2 + P256.length), 2, 1, 1});
    out.write(pkcs8, number, 34);
    out.writeBytes(new byte[]{(byte) 0xa0, (byte) P256.length});
    out.writeBytes(P256);
    return out.toByteArray();
  }

  /** A Kubernetes API that shows it. */
  public SecureApi api() {
    return new SecureApi(certificate, key);
  }

  /** A caller that trusts this one and no other. */
  public SSLContext trust() throws GeneralSecurityException, IOException {
    var trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("one", certificate);
    var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    return context(managers.getTrustManagers());
  }

  /** A server that shows it, and others behind it, whatever they are. */
  public SSLContext serve(X509Certificate... others) throws GeneralSecurityException, IOException {
    return serve(null, others);
  }

  /** @param clients gets their certificates, if the server asks for them */
  public SSLContext serve(@Nullable TrustManager clients, X509Certificate... others)
      throws GeneralSecurityException, IOException {
    // A store of another kind insists on each vouching for the one before it.
    var store = KeyStore.getInstance("JKS");
    store.load(null, null);
    var shown = new ArrayList<>(List.of(certificate));
    shown.addAll(List.of(others));
    store.setKeyEntry("one", key, PASSWORD.toCharArray(), shown.toArray(X509Certificate[]::new));
    var managers = KeyManagerFactory.getInstance("SunX509");
    managers.init(store, PASSWORD.toCharArray());
    var context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), clients == null ? null : new TrustManager[]{clients},
        null);
    return context;
  }

  public static SSLContext trustEverything() throws GeneralSecurityException {
    return context(new X509TrustManager() {
      @Override
      public void checkClientTrusted(X509Certificate[] chain, String type) {}

      @Override
      public void checkServerTrusted(X509Certificate[] chain, String type) {}

      @Override
      public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
      }
    });
  }

  private static SSLContext context(TrustManager... managers) throws GeneralSecurityException {
    var context = SSLContext.getInstance("TLS");
    context.init(null, managers, null);
    return context;
  }
}
