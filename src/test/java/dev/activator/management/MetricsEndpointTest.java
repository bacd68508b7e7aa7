package dev.activator.management;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.FreePort;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.config.ObservabilityConfig.ExportProtocol;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpStatus;
import org.springframework.mock.env.MockEnvironment;

class MetricsEndpointTest {
  private final MockEnvironment environment = new MockEnvironment();
  private final MetricsServer endpoint = new MetricsServer(
      new MetricsServerProperties("", 9090, "", "", "", "", "1.3", "1.3", "", ""), environment);

  private void open(MetricsConfig metrics) throws IOException {
    endpoint.open(metrics, (_, response) -> {
      response.setStatusCode(HttpStatus.OK);
      return response.setComplete();
    });
  }

  @AfterEach
  void close() {
    endpoint.close();
  }

  private static MetricsConfig prometheus(String address) {
    return new MetricsConfig(ExportProtocol.PROMETHEUS, address, Duration.ZERO);
  }

  private static boolean answers(int port) throws Exception {
    try (var client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics")).build(),
          BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException refused) {
      return false;
    }
  }

  @Test
  @DisplayName("metrics-endpoint is listened on for Prometheus")
  void isListenedOnForPrometheus() throws Exception {
    int port = FreePort.next();
    open(prometheus("127.0.0.1:" + port));
    assertThat(answers(port)).isTrue();
    endpoint.close();
    assertThat(answers(port)).isFalse();
  }

  @ParameterizedTest(name = "{0} wins over metrics-endpoint")
  @CsvSource({"METRICS_PROMETHEUS_HOST, 127.0.0.1", "METRICS_PROMETHEUS_PORT, 9091"})
  void aVariableWins(String variable, String value) throws Exception {
    int port = FreePort.next();
    environment.setProperty(variable, value);
    open(prometheus("127.0.0.1:" + port));
    assertThat(answers(port)).isFalse();
  }

  @Test
  void thePortThatIsOpenAnywayIsNotOpenedAgain() throws Exception {
    int port = FreePort.next();
    environment.setProperty("local.server.port", String.valueOf(port));
    open(prometheus(":" + port));
    assertThat(answers(port)).isFalse();
  }

  @Test
  void nothingIsOpenedForAnotherProtocol() throws Exception {
    int port = FreePort.next();
    open(new MetricsConfig(ExportProtocol.GRPC, "127.0.0.1:" + port, Duration.ZERO));
    assertThat(answers(port)).isFalse();
  }

  @ParameterizedTest(name = "metrics-endpoint \"{0}\" is refused")
  @ValueSource(strings = {"localhost", "localhost:", "localhost:x", ":80", ":65536", "9090",
      "http://x:9090", "no such host:9090"})
  void refusesWhatIsNoAddress(String address) {
    assertThatThrownBy(() -> open(prometheus(address))).isInstanceOf(IOException.class)
        .hasMessage("metrics-endpoint is '" + address
            + "', but must be host:port, with a port from 1024 to 65535");
  }

  @ParameterizedTest
  @CsvSource({":9095, 0.0.0.0, 9095", "127.0.0.1:9095, 127.0.0.1, 9095",
      "[::1]:9095, 0:0:0:0:0:0:0:1, 9095"})
  void readsHostAndPort(String address, String host, int port) throws Exception {
    var parsed = MetricsServer.parse(address);
    assertThat(parsed.getAddress().getHostAddress()).isEqualTo(host);
    assertThat(parsed.getPort()).isEqualTo(port);
  }
}
