package dev.activator.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

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

  public static Certificate rsa() throws IOException, GeneralSecurityException {
    return make("RSA", "-keysize", "2048");
  }

  public static Certificate ec() throws IOException, GeneralSecurityException {
    return make("EC", "-groupname", "secp256r1");
  }

  private static Certificate make(String algorithm, String... size)
      throws IOException, GeneralSecurityException {
    var folder = Files.createTempDirectory("certificate");
    var store = folder.resolve("store.p12");
    var tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    var made = new ProcessBuilder(tool, "-genkeypair", "-keyalg", algorithm, size[0], size[1],
        "-alias", "one", "-dname", "CN=localhost", "-ext", "san=dns:localhost", "-validity", "2",
        "-storetype", "PKCS12", "-storepass", PASSWORD, "-keystore", store.toString())
        .redirectErrorStream(true).start();
    String said = new String(made.getInputStream().readAllBytes());
    try (var in = Files.newInputStream(store)) {
      var keys = KeyStore.getInstance("PKCS12");
      keys.load(in, PASSWORD.toCharArray());
      return new Certificate((X509Certificate) keys.getCertificate("one"),
          (PrivateKey) keys.getKey("one", PASSWORD.toCharArray()));
    } catch (IOException failure) {
      throw new IOException(said, failure);
    } finally {
      Files.deleteIfExists(store);
      Files.delete(folder);
    }
  }

  /** Writes both as PEM, the key as PKCS#8 or in the form its kind had before. */
  public void write(Path chain, Path keyFile, String form)
      throws IOException {
    try {
      Files.writeString(chain, pem("CERTIFICATE", certificate.getEncoded()));
    } catch (GeneralSecurityException impossible) {
      throw new IOException(impossible);
    }
    byte[] pkcs8 = key.getEncoded();
    Files.writeString(keyFile, form.equals("PKCS#8")
        ? pem("PRIVATE KEY", pkcs8)
        : key.getAlgorithm().equals("RSA")
            ? pem("RSA PRIVATE KEY", Arrays.copyOfRange(pkcs8, BEFORE_PKCS1, pkcs8.length))
            : pem("EC PRIVATE KEY", sec1(pkcs8)));
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

  private static String pem(String kind, byte[] der) {
    return "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(der)
        + "\n-----END " + kind + "-----\n";
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
