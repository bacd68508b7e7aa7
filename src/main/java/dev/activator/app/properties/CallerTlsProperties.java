package dev.activator.app.properties;

import dev.activator.tls.CertificateFiles;
import dev.activator.tls.ServerTlsSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * TLS for callers. Without a certificate, of these files or of the cluster, its port is closed.
 *
 * @param certificate a PEM file: the certificate and those that issued it. Read again when it changes
 * @param key a PEM file: its private key
 * @param minVersion the oldest version of TLS, {@code 1.2} or {@code 1.3}
 * @param maxVersion the newest version of TLS
 * @param cipherSuites cipher suites for TLS 1.2, with commas between. Empty for the runtime's
 * @param curvePreferences curves with commas between, such as {@code X25519,P-256}. Empty for the runtime's
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

  /** The files that are named. */
  public CertificateFiles read() throws IOException {
    return CertificateFiles.read(Objects.requireNonNull(certificate), Objects.requireNonNull(key),
        server());
  }

  public ServerTlsSettings server() {
    return ServerTlsSettings.of(PREFIX, minVersion, maxVersion, cipherSuites, curvePreferences);
  }
}
