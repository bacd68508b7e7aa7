package dev.activator.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.app.Extensions;
import dev.activator.embedded.EmbeddedActivator;
import dev.activator.proxy.RequestPorts;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The whole product in embedded mode, with all extensions, on free ports.
 */
public final class EmbeddedProduct implements AutoCloseable {
  private final int apiPort = FreePort.next();
  private final HttpClient http = HttpClient.newHttpClient();
  private String earlyReadiness = "";
  private final ConfigurableApplicationContext product = SpringProduct
      .of(EmbeddedActivator.class, Extensions.ALL.stream()).profiles("embedded")
      .listeners(
          (ApplicationListener<ApplicationStartedEvent>) started -> earlyReadiness = readiness(
              started.getApplicationContext()))
      .run("--server.port=0", "--activator.port.http1=0", "--activator.port.h2c=0",
          "--activator.port.https=0", "--activator.profiling.port=0",
          "--activator.console.port=0", "--activator.embedded.api-port=" + apiPort,
          "--activator.embedded.autoscaler-port=0");

  public <T> T bean(Class<T> type) {
    return product.getBean(type);
  }

  /** The health of readiness when all parts are started, and the sample may not be routed yet. */
  public String earlyReadiness() {
    return earlyReadiness;
  }

  public String readiness() {
    return readiness(product);
  }

  private String readiness(ConfigurableApplicationContext context) {
    var uri = URI.create("http://127.0.0.1:"
        + context.getEnvironment().getProperty("local.server.port")
        + "/actuator/health/readiness");
    return http.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).join()
        .body();
  }

  public int requestPort() {
    return bean(RequestPorts.class).http1();
  }

  /** Creates an object of the API. */
  public void create(String path, String yaml) throws Exception {
    var created = http.send(HttpRequest.newBuilder(api(path))
        .header("Content-Type", "application/yaml").POST(BodyPublishers.ofString(yaml)).build(),
        BodyHandlers.ofString());
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
  }

  /** Reads an object of the API. */
  public String read(String path) throws Exception {
    return http.send(HttpRequest.newBuilder(api(path)).build(), BodyHandlers.ofString()).body();
  }

  /** The response to a GET of {@code /} of a Service in the namespace {@code default}. */
  public String get(String service) throws Exception {
    return http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + requestPort() + "/"))
        .header("Host", service + ".default.localhost").build(), BodyHandlers.ofString()).body();
  }

  private URI api(String path) {
    return URI.create("http://127.0.0.1:" + apiPort + path);
  }

  @Override
  public void close() {
    product.close();
    http.close();
  }
}
