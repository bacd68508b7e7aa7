package dev.activator.ext.console;

import dev.activator.management.OriginCheck;
import dev.activator.management.MetricsServer;
import dev.activator.management.ManagementPages;
import dev.activator.ext.console.ConsoleProperties.Auth;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.server.WebServerException;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;

/**
 * Serves the console and its reports, on a separate port or on that of metrics, and checks who may
 * read them. Health is always on the port of metrics.
 */
final class ConsoleServer implements ManagementPages {
  private static final Logger log = LoggerFactory.getLogger(ConsoleServer.class);

  private final ConsoleProperties properties;
  private final MetricsServer metrics;
  private final Environment environment;
  private final Supplier<TokenReviewAuthorizer> authorizer;
  private volatile @Nullable WebServer server;

  ConsoleServer(ConsoleProperties properties, MetricsServer metrics, Environment environment,
      Supplier<TokenReviewAuthorizer> authorizer) {
    this.properties = properties;
    this.metrics = metrics;
    this.environment = environment;
    this.authorizer = authorizer;
  }

  private boolean isShared() {
    return properties.shares(environment.getProperty("server.port", Integer.class, 0));
  }

  @Override
  public HttpHandler onMetricsPort(HttpHandler pages) {
    HttpHandler others = isShared() ? checked(pages) : (request, response) -> {
      response.setStatusCode(HttpStatus.NOT_FOUND);
      return ManagementPages.text(response, "this port has /metrics and /actuator/health only: the"
          + " console and the reports are on port " + port() + " of this pod"
          + (properties.isLoopback() ? ", for kubectl port-forward" : ""));
    };
    return ManagementPages.healthOr(pages, others);
  }

  private HttpHandler checked(HttpHandler pages) {
    return properties.auth() == Auth.TOKEN
        ? new ConsoleTokenFilter(authorizer.get()).around(pages)
        : pages;
  }

  /** @throws IOException naming the address */
  void open(HttpHandler pages) throws IOException {
    boolean isOpenToOthers = properties.auth() == Auth.NONE;
    if (isShared()) {
      if (isOpenToOthers && !metrics.isLoopback()) {
        warn("the port of metrics");
      }
      return;
    }
    var address = properties.bindAddress() + ":" + properties.port();
    var factory = new NettyReactiveWebServerFactory(
        properties.port() == null ? 0 : properties.port());
    factory.setAddress(
        MetricsServer.address("activator.console.bind-address", properties.bindAddress()));
    var handler = checked(pages);
    if (properties.isLoopback()) {
      handler = isOpenToOthers
          ? OriginCheck.forwarded(properties.bindAddress()).around(handler)
          : handler;
    } else {
      metrics.encrypt(factory);
      if (isOpenToOthers) {
        warn(address);
      }
    }
    try {
      var fresh = factory.getWebServer(handler);
      fresh.start();
      server = fresh;
      log.info("The console is at {}:{}{}", properties.bindAddress(), fresh.getPort(),
          isOpenToOthers ? "" : ", for those whose token may get " + ConsoleTokenFilter.URL);
    } catch (WebServerException e) {
      throw new IOException("cannot listen on " + address + ": " + e.getMessage(), e);
    }
  }

  private static void warn(String where) {
    log.warn("Anyone who reaches {} can read the console: set activator.console.auth=token, or"
        + " activator.console.bind-address=127.0.0.1 with another port", where);
  }

  @Override
  public int port() {
    var own = server;
    return own == null
        ? environment.getProperty(isShared() ? "local.server.port" : "activator.console.port",
            Integer.class, 0)
        : own.getPort();
  }

  /** Idempotent. */
  void close() {
    var own = server;
    if (own != null) {
      own.stop();
      server = null;
    }
  }
}
