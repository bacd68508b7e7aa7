package dev.activator.kube.reflector;

import dev.activator.tls.CertifiedKey;
import dev.activator.tls.PemCertificates;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.internal.CertUtils;
import io.fabric8.kubernetes.client.utils.Utils;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The certificates and the key for the API, each in base64 or in a file.
 *
 * <p><b>Errors.</b> {@link IllegalArgumentException} if one cannot be read.
 */
record ApiCertificates(@Nullable String authorities, @Nullable String authoritiesFile,
    @Nullable String chain, @Nullable String chainFile, @Nullable String key,
    @Nullable String keyFile) {
  static ApiCertificates of(Config config) {
    return new ApiCertificates(config.getCaCertData(), config.getCaCertFile(),
        config.getClientCertData(), config.getClientCertFile(), config.getClientKeyData(),
        config.getClientKeyFile());
  }

  ApiCertificates withKey(@Nullable String nowChain, @Nullable String nowKey) {
    return new ApiCertificates(authorities, authoritiesFile, nowChain, null, nowKey, null);
  }

  private static String pem(@Nullable String data, @Nullable String file) throws IOException {
    try (var pem = CertUtils.getInputStreamFromDataOrFile(data, file)) {
      return new String(pem.readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  X509ExtendedTrustManager trust() {
    try {
      return PemCertificates
          .trust(PemCertificates.certificates(pem(authorities, authoritiesFile)));
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException(
          "the authority of the API server cannot be read: " + e.getMessage());
    }
  }

  /**
   * The client's key. It is read here, because the library cannot read an elliptic-curve key in
   * PKCS#8.
   */
  KeyManager @Nullable [] clientKeys() {
    if ((chain == null && chainFile == null) || (key == null && keyFile == null)) {
      return null;
    }
    try {
      return CertifiedKey.parse(pem(chain, chainFile), pem(key, keyFile)).keyManagers();
    } catch (GeneralSecurityException | IOException | IllegalArgumentException e) {
      throw new IllegalArgumentException("the client certificate"
          + (chainFile == null ? "" : " in " + chainFile) + " and its key"
          + (keyFile == null ? "" : " in " + keyFile) + " cannot be used: "
          + e.getMessage());
    }
  }

  boolean hasAuthorities() {
    return authorities != null || authoritiesFile != null;
  }

  Stream<Path> files() {
    return Stream.of(authoritiesFile, chainFile, keyFile)
        .filter(file -> !Utils.isNullOrEmpty(file)).map(Path::of);
  }
}
