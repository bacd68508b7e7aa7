package dev.activator.settings;

import dev.activator.config.SettingPreconditions;
import dev.activator.tls.ServerTlsSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the port for metrics and health. {@code server.port} and {@code server.address}
 * take precedence over these.
 *
 * @param host the interface to listen on. Empty for all
 * @param port the port, 1024 to 65535; 0 for any free one
 * @param tlsCert a PEM file: the certificate to show. Without it there is no TLS
 * @param tlsKey a PEM file: its private key
 * @param tlsClientAuth whether clients must show a certificate: {@code none}, {@code optional},
 *     {@code require}
 * @param tlsClientCaFile a PEM file: the authorities of clients' certificates
 * @param tlsMinVersion the oldest version of TLS, {@code 1.2} or {@code 1.3}
 * @param tlsMaxVersion the newest version of TLS
 * @param tlsCipherSuites cipher suites for TLS 1.2, separated by commas. Empty for the defaults of
 *     the runtime
 * @param tlsCurvePreferences curves separated by commas, such as {@code X25519,P-256}. Empty for
 *     the defaults of the runtime
 */
@ConfigurationProperties("activator.metrics-server")
public record MetricsServerProperties(@DefaultValue("") String host, @DefaultValue("9090") int port,
    @DefaultValue("") String tlsCert, @DefaultValue("") String tlsKey,
    @DefaultValue("") String tlsClientAuth, @DefaultValue("") String tlsClientCaFile,
    @DefaultValue("1.3") String tlsMinVersion, @DefaultValue("1.3") String tlsMaxVersion,
    @DefaultValue("") String tlsCipherSuites, @DefaultValue("") String tlsCurvePreferences) {
  private static final String PREFIX = "METRICS_PROMETHEUS_";
  private static final List<String> CLIENT_AUTH = List.of("none", "optional", "require");
  private static final String TLS = PREFIX + "TLS_";
  private static final int FIRST_PORT = 1024;
  private static final int LAST_PORT = 65_535;

  public MetricsServerProperties {
    tlsClientAuth = tlsClientAuth.isBlank()
        ? "none"
        : tlsClientAuth.strip().toLowerCase(Locale.ROOT);
    require(port == 0 || (port >= FIRST_PORT && port <= LAST_PORT), "PORT", String.valueOf(port),
        "must be " + FIRST_PORT + " to " + LAST_PORT + ", or 0 for a free one");
    require(tlsCert.isBlank() || !tlsKey.isBlank(), "TLS_CERT", tlsCert,
        PREFIX + "TLS_KEY is not set");
    require(tlsKey.isBlank() || !tlsCert.isBlank(), "TLS_KEY", tlsKey,
        PREFIX + "TLS_CERT is not set");
    requireClientAuth(tlsClientAuth, tlsClientCaFile, !tlsCert.isBlank());
    var _ = ServerTlsSettings.of(TLS, tlsMinVersion, tlsMaxVersion, tlsCipherSuites,
        tlsCurvePreferences);
    for (var file : List.of(tlsCert, tlsKey, tlsClientCaFile)) {
      if (!file.isBlank() && !Files.isReadable(Path.of(file))) {
        throw new IllegalArgumentException("there is no readable file " + file
            + ", which a variable " + PREFIX + "TLS_... names");
      }
    }
  }

  private static void requireClientAuth(String auth, String authority, boolean tls) {
    boolean authenticates = !auth.equals("none");
    require(CLIENT_AUTH.contains(auth), "TLS_CLIENT_AUTH", auth,
        "must be none, optional or require");
    require(!authenticates || tls, "TLS_CLIENT_AUTH", auth, PREFIX + "TLS_CERT is not set");
    require(!authenticates || !authority.isBlank(), "TLS_CLIENT_AUTH", auth,
        PREFIX + "TLS_CLIENT_CA_FILE is not set");
    require(authenticates || authority.isBlank(), "TLS_CLIENT_CA_FILE", authority,
        PREFIX + "TLS_CLIENT_AUTH is none");
  }

  private static void require(boolean valid, String variable, String value, String rule) {
    SettingPreconditions.variable(valid, PREFIX + variable, value, rule);
  }

  public boolean isEncrypted() {
    return !tlsCert.isBlank();
  }

  public ServerTlsSettings tls() {
    return ServerTlsSettings.of(TLS, tlsMinVersion, tlsMaxVersion, tlsCipherSuites,
        tlsCurvePreferences);
  }
}
