package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.management.MetricsServer;
import dev.activator.ext.console.ConsoleProperties.Auth;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.testing.FreePort;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;

/** Which port has the console and the reports. */
class ConsoleServerTest {
  private static final HttpHandler PAGES = (_, response) -> {
    response.setStatusCode(HttpStatus.I_AM_A_TEAPOT);
    return response.setComplete();
  };

  private static final ConsoleLinks NO_LINKS = new ConsoleLinks("", "", "");

  private final MockEnvironment environment = new MockEnvironment()
      .withProperty("server.port", "9090").withProperty("local.server.port", "9090");
  private @Nullable ConsoleServer open;

  @AfterEach
  void close() {
    if (open != null) {
      open.close();
    }
  }

  private ConsoleServer server(@Nullable Integer port, String address, Auth auth) {
    environment.setProperty("activator.console.port", String.valueOf(port));
    var metrics = new MetricsServer(
        new MetricsServerProperties("", 9090, "", "", "", "", "1.3", "1.3", "", ""), environment);
    open = new ConsoleServer(new ConsoleProperties(port, address, auth, NO_LINKS), metrics,
        environment, () -> {
          throw new AssertionError("no cluster is asked");
        });
    return open;
  }

  private static MockServerHttpResponse ask(HttpHandler handler, String path) {
    var response = new MockServerHttpResponse();
    handler.handle(MockServerHttpRequest.get(path).build(), response).block();
    return response;
  }

  private static String status(int port, String host) throws Exception {
    try (var peer = RawPeer.connect(port)) {
      peer.send("GET /console HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
      return peer.readHead().start();
    }
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"/actuator/health", "/actuator/health/readiness", "/actuator/health/x"})
  void healthIsOnThePortOfMetrics(String path) {
    var port = server(8015, "127.0.0.1", Auth.NONE).onMetricsPort(PAGES);

    assertThat(ask(port, path).getStatusCode()).isEqualTo(HttpStatus.I_AM_A_TEAPOT);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"/", "/console", "/console/updates", "/console/default/hello",
      "/actuator/activator", "/actuator/activator/default/hello", "/actuator", "/actuator/info",
      "/actuator/sbom", "/actuator/healthy", "/actuator/health/../activator",
      "/actuator;/activator"})
  void nothingElseIs(String path) {
    var port = server(8015, "127.0.0.1", Auth.NONE).onMetricsPort(PAGES);

    var response = ask(port, path);
    // Which a handler of Spring does not resolve.
    if (!path.contains("..")) {
      assertThat(response.getStatusCode()).isEqualTo(HttpStatus.NOT_FOUND);
      assertThat(response.getBodyAsString().block())
          .contains("on port 8015 of this pod, for kubectl port-forward");
    }
  }

  @ParameterizedTest(name = "port {0} of the console and 9090 of metrics")
  @CsvSource({"9090", ","})
  void sharesThePortOfMetricsIfItIsTheSameOrNone(@Nullable Integer console) throws Exception {
    var server = server(console, "127.0.0.1", Auth.NONE);

    server.open(PAGES);

    assertThat(server.port()).isEqualTo(9090);
    assertThat(ask(server.onMetricsPort(PAGES), "/console").getStatusCode())
        .isEqualTo(HttpStatus.I_AM_A_TEAPOT);
  }

  @Test
  void hasItsOwnPortForThisMachineOnly() throws Exception {
    var server = server(0, "127.0.0.1", Auth.NONE);

    server.open(PAGES);

    assertThat(status(server.port(), "localhost:" + server.port())).contains(" 418 ");
    // as kubectl port-forward 18015:8015 leads to it
    assertThat(status(server.port(), "localhost:18015")).contains(" 418 ");
    assertThat(status(server.port(), "evil.example")).contains(" 403 ");
    int port = server.port();
    server.close();
    assertThatThrownBy(() -> RawPeer.connect(port)).isInstanceOf(IOException.class);
  }

  @Test
  void takesAnyNameWhereItIsOpenToOthers() throws Exception {
    var server = server(0, "0.0.0.0", Auth.NONE);

    server.open(PAGES);

    assertThat(status(server.port(), "10.0.0.7:" + server.port())).contains(" 418 ");
  }

  @Test
  void saysWhichPortIsTaken() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var server = server(taken.getLocalPort(), "127.0.0.1", Auth.NONE);

      assertThatThrownBy(() -> server.open(PAGES)).isInstanceOf(IOException.class)
          .hasMessageStartingWith("cannot listen on 127.0.0.1:" + taken.getLocalPort());
    }
  }

  @Test
  void saysThatThereIsNoSuchAddress() {
    var server = server(FreePort.next(), "no such host", Auth.NONE);

    assertThatThrownBy(() -> server.open(PAGES)).hasMessage(
        "activator.console.bind-address is 'no such host', but there is no such host");
  }
}
