package dev.activator.app;

import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.Protocol;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.server.WebServerException;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.env.Environment;
import org.springframework.http.server.reactive.HttpHandler;

/**
 * The address that the ConfigMap names for metrics, where it is another than the one that is listened
 * on already. Known only once the cluster was asked; then it says the same as the other.
 *
 * <p>
 * <b>Threads.</b> One starts and stops.
 *
 * <p>
 * <b>Source.</b> {@code metrics/prometheus_enabled.go} of {@code knative.dev/pkg}: the variables win
 * over the map.
 */
public final class MetricsEndpoint {
  private static final Logger log = LoggerFactory.getLogger(MetricsEndpoint.class);
  private static final int FIRST_PORT = 1024;
  private static final int LAST_PORT = 65_535;

  private final HttpHandler handler;
  private final Environment environment;
  private final WebServerFactoryCustomizer<NettyReactiveWebServerFactory> encryption;
  private @Nullable WebServer server;

  /** @param encryption of the other port, which this one has, too */
  MetricsEndpoint(HttpHandler handler, Environment environment,
      WebServerFactoryCustomizer<NettyReactiveWebServerFactory> encryption) {
    this.handler = handler;
    this.environment = environment;
    this.encryption = encryption;
  }

  /**
   * Listens, if there is such an address.
   *
   * @throws IOException naming it, if that is not possible
   */
  public void open(MetricsConfig metrics) throws IOException {
    if (metrics.protocol() != Protocol.PROMETHEUS || metrics.endpoint().isEmpty()
        || isSet("METRICS_PROMETHEUS_HOST") || isSet("METRICS_PROMETHEUS_PORT")) {
      return;
    }
    var address = parse(metrics.endpoint());
    if (address.getPort() != environment.getProperty("local.server.port", Integer.class, 0)) {
      listen(metrics.endpoint(), address);
    }
  }

  private boolean isSet(String variable) {
    return !environment.getProperty(variable, "").isBlank();
  }

  private void listen(String endpoint, InetSocketAddress address) throws IOException {
    var factory = new NettyReactiveWebServerFactory(address.getPort());
    encryption.customize(factory);
    factory.setAddress(address.getAddress());
    try {
      var fresh = factory.getWebServer(handler);
      fresh.start();
      server = fresh;
      log.info("Metrics and health are at {}, too", endpoint);
    } catch (WebServerException taken) {
      throw new IOException("metrics-endpoint is '" + endpoint + "', but cannot listen there: "
          + taken.getMessage(), taken);
    }
  }

  /** A host and a port, or a port alone after a colon. */
  static InetSocketAddress parse(String endpoint) throws IOException {
    int colon = endpoint.lastIndexOf(':');
    var host = endpoint.substring(0, Math.max(colon, 0)).replaceAll("^\\[|]$", "");
    try {
      int port = Integer.parseInt(endpoint.substring(colon + 1));
      var address = new InetSocketAddress(host.isEmpty() ? "0.0.0.0" : host, port);
      if (colon >= 0 && port >= FIRST_PORT && !address.isUnresolved()) {
        return address;
      }
    } catch (IllegalArgumentException malformed) {
      log.debug("Not an address: {}", endpoint, malformed);
    }
    throw new IOException(
        "metrics-endpoint is '" + endpoint + "', but must be host:port, with a port"
            + " from " + FIRST_PORT + " to " + LAST_PORT);
  }

  /** Ends. Twice is once. */
  public void close() {
    if (server != null) {
      server.stop();
      server = null;
    }
  }
}
