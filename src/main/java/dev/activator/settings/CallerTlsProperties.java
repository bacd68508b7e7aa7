package dev.activator.settings;

import dev.activator.tls.ServerCertificate.CertificateFiles;
import dev.activator.tls.ServerTlsSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The TLS settings for callers. If neither these files nor the cluster provide a certificate, the
 * TLS port is not opened.
 *
 * @param certificate a PEM file with the server certificate, followed by its intermediate
 *     certificates. Read again when it changes
 * @param key a PEM file with the private key of the certificate
 * @param minVersion the oldest version of TLS, {@code 1.2} or {@code 1.3}
 * @param maxVersion the newest version of TLS
 * @param cipherSuites cipher suites for TLS 1.2, separated by commas. Empty for the defaults of the
 *     runtime
 * @param curvePreferences curves separated by commas, such as {@code X25519,P-256}. Empty for the
 *     defaults of the runtime
 */
@ConfigurationProperties("activator.tls")
public record CallerTlsProperties(@Nullable Path certificate, @Nullable Path key,
    @DefaultValue("1.3") String minVersion, @DefaultValue("1.3") String maxVersion,
    @DefaultValue("") String cipherSuites, @DefaultValue("") String curvePreferences) {

  private static final String PREFIX = "ACTIVATOR_TLS_";
  private static final String NEWEST = "1.3";

  public CallerTlsProperties {
    minVersion = minVersion.isBlank() ? NEWEST : minVersion;
    maxVersion = maxVersion.isBlank() ? NEWEST : maxVersion;
    var _ = ServerTlsSettings.of(PREFIX, minVersion, maxVersion, cipherSuites, curvePreferences);
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          "activator.tls.certificate and activator.tls.key are of use only together");
    }
  }

  /** Reads the certificate and the key from the configured files. */
  public CertificateFiles read() throws IOException {
    return CertificateFiles.read(Objects.requireNonNull(certificate), Objects.requireNonNull(key),
        server());
  }

  public ServerTlsSettings server() {
    return ServerTlsSettings.of(PREFIX, minVersion, maxVersion, cipherSuites, curvePreferences);
  }
}
