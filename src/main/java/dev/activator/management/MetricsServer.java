package dev.activator.management;

import dev.activator.settings.ListeningPort;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.lifecycle.StartupFailedException;
import dev.activator.tls.CertifiedKey;
import dev.activator.tls.PemCertificates;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.server.WebServerException;
import org.springframework.core.env.Environment;
import org.springframework.http.server.reactive.HttpHandler;

/**
 * The server of metrics and health. It listens at the address of Knative's variables, and at a
 * second address if the ConfigMap has one.
 *
 * <p><b>Source.</b> {@code observability/metrics/prometheus/server.go} and
 * {@code metrics/prometheus_enabled.go} of {@code knative.dev/pkg}: the variables take precedence
 * over the map.
 */
public final class MetricsServer {
  private static final Logger log = LoggerFactory.getLogger(MetricsServer.class);
  private static final int FIRST_PORT = 1024;
  private static final int LAST_PORT = 65_535;

  private final MetricsServerProperties properties;
  private final Environment environment;
  private @Nullable WebServer second;

  public MetricsServer(MetricsServerProperties properties, Environment environment) {
    this.properties = properties;
    this.environment = environment;
  }

  public void customize(NettyReactiveWebServerFactory factory) {
    if (!properties.host().isBlank() && !environment.containsProperty("server.address")) {
      factory.setAddress(address("METRICS_PROMETHEUS_HOST", properties.host()));
    }
    encrypt(factory);
  }

  /** Enables TLS if there is a certificate. */
  public void encrypt(NettyReactiveWebServerFactory factory) {
    if (properties.isEncrypted()) {
      factory.addServerCustomizers(tls(properties));
    }
  }

  public boolean isLoopback() {
    return ListeningPort
        .isLoopback(environment.getProperty("server.address", properties.host()));
  }

  public static InetAddress address(String setting, String host) {
    try {
      return InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(
          setting + " is '" + host + "', but there is no such host", e);
    }
  }

  /**
   * Configures TLS directly, because Spring cannot choose the curves.
   *
   * @throws StartupFailedException naming unusable files
   */
  public static NettyServerCustomizer tls(MetricsServerProperties properties) {
    try {
      var context = context(properties);
      return server -> server.secure(spec -> spec.sslContext(context)
          .handlerConfigurator(connection -> properties.tls().prepare(connection.engine())));
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      var files = Stream
          .of(properties.tlsCert(), properties.tlsKey(), properties.tlsClientCaFile())
          .filter(file -> !file.isBlank()).collect(Collectors.joining(", "));
      throw new StartupFailedException("the port for metrics cannot speak TLS with the files "
          + files + ": " + e.getMessage(), e);
    }
  }

  private static SslContext context(MetricsServerProperties properties)
      throws IOException, GeneralSecurityException {
    var shown = CertifiedKey.parse(text(properties.tlsCert()), text(properties.tlsKey()));
    var builder = properties.tls().context(shown)
        .clientAuth(switch (properties.tlsClientAuth()) {
          case "require" -> ClientAuth.REQUIRE;
          case "optional" -> ClientAuth.OPTIONAL;
          default -> ClientAuth.NONE;
        });
    if (!properties.tlsClientCaFile().isBlank()) {
      builder.trustManager(PemCertificates.certificates(text(properties.tlsClientCaFile())));
    }
    return builder.build();
  }

  private static String text(String file) throws IOException {
    return Files.readString(Path.of(file));
  }

  /** @throws IOException naming the address */
  public void open(MetricsConfig metrics, HttpHandler handler) throws IOException {
    if (metrics.protocol() != ExportProtocol.PROMETHEUS || metrics.endpoint().isEmpty()
        || isSet("METRICS_PROMETHEUS_HOST") || isSet("METRICS_PROMETHEUS_PORT")) {
      return;
    }
    var address = parse(metrics.endpoint());
    if (address.getPort() != environment.getProperty("local.server.port", Integer.class, 0)) {
      listen(metrics.endpoint(), address, handler);
    }
  }

  private boolean isSet(String variable) {
    return !environment.getProperty(variable, "").isBlank();
  }

  private void listen(String endpoint, InetSocketAddress address, HttpHandler handler)
      throws IOException {
    var factory = new NettyReactiveWebServerFactory(address.getPort());
    encrypt(factory);
    factory.setAddress(address.getAddress());
    try {
      var fresh = factory.getWebServer(handler);
      fresh.start();
      second = fresh;
      log.info("Metrics and health are at {}, too", endpoint);
    } catch (WebServerException e) {
      throw new IOException("metrics-endpoint is '" + endpoint + "', but cannot listen there: "
          + e.getMessage(), e);
    }
  }

  /** Parses {@code host:port} or {@code :port}. */
  static InetSocketAddress parse(String endpoint) throws IOException {
    int colon = endpoint.lastIndexOf(':');
    var host = endpoint.substring(0, Math.max(colon, 0)).replaceAll("^\\[|]$", "");
    try {
      int port = Integer.parseInt(endpoint.substring(colon + 1));
      var address = new InetSocketAddress(host.isEmpty() ? "0.0.0.0" : host, port);
      if (colon >= 0 && port >= FIRST_PORT && !address.isUnresolved()) {
        return address;
      }
    } catch (IllegalArgumentException e) {
      log.debug("Not an address: {}", endpoint, e);
    }
    throw new IOException(
        "metrics-endpoint is '" + endpoint + "', but must be host:port, with a port"
            + " from " + FIRST_PORT + " to " + LAST_PORT);
  }

  /** Idempotent. */
  public void close() {
    if (second != null) {
      second.stop();
      second = null;
    }
  }
}
