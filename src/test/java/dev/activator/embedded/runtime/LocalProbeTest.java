package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.activator.embedded.api.Objects;
import dev.activator.revision.ReadinessProbe;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalProbeTest {
  private static final LocalProbe CONNECT = new LocalProbe(ReadinessProbe.CONNECT,
      Duration.ofSeconds(30), 1);

  private static LocalProbe read(String probe) {
    return LocalProbe.of(Objects.parse("{'probe': " + probe + "}").path("probe"));
  }

  private static LocalProbe path(String path) {
    return new LocalProbe(new ReadinessProbe(path, Map.of()), Duration.ofSeconds(30), 1);
  }

  @Test
  void readsTheReadinessProbeOfAContainer() {
    assertThat(read("{}"))
        .isEqualTo(new LocalProbe(ReadinessProbe.CONNECT, Duration.ofSeconds(1), 1));
    assertThat(read("""
        {'httpGet': {'path': 'up', 'httpHeaders': [{'name': 'X-A', 'value': 'b'}]},
         'timeoutSeconds': 5, 'successThreshold': 2}""")).isEqualTo(
        new LocalProbe(new ReadinessProbe("/up", Map.of("X-A", "b")), Duration.ofSeconds(5), 2));
    assertThat(read("{'tcpSocket': {'port': 1}, 'timeoutSeconds': 0, 'successThreshold': -1}"))
        .isEqualTo(new LocalProbe(ReadinessProbe.CONNECT, Duration.ofSeconds(1), 1));
  }

  @Test
  void aContainerOfHttp2IsReadyOnceItListens() {
    var revision = LocalRevision.of(Objects.parse("""
        {'metadata': {'namespace': 'ns', 'name': 'rev'}, 'spec': {'containers': [
          {'ports': [{'name': 'h2c'}], 'readinessProbe': {'httpGet': {'path': '/up'}}}]}}"""));

    assertThat(revision.probe().form()).isEqualTo(ReadinessProbe.CONNECT);
  }

  @Test
  void aProgramThatListensIsReady() throws IOException {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(CONNECT.attempt(process.getLocalPort())).isTrue();
    }
  }

  @Test
  void aPortWhereNobodyListensIsNot() throws IOException {
    assertThat(CONNECT.attempt(portOfNobody())).isFalse();
  }

  @Test
  void aConnectionThatMeetsItselfFindsNobody() throws IOException {
    // given a program that does not listen yet, and a connection that leaves from its port
    int port = portOfNobody();
    try (var socket = new Socket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));

      // when it succeeds, then the program is not ready all the same
      assertThat(CONNECT.attempt(socket, port)).isFalse();
    }
  }

  @ParameterizedTest(name = "{0} is ready: {1}")
  @CsvSource({"200, true", "204, true", "302, true", "404, false", "500, false", "503, false"})
  void theStatusOfAPathSaysWhetherItIsReady(int status, boolean ready) throws IOException {
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/up", exchange -> {
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    });
    server.start();
    try {
      assertThat(path("/up").attempt(server.getAddress().getPort())).isEqualTo(ready);
    } finally {
      server.stop(0);
    }
  }

  @Test
  void sendsTheHeadersOfTheProbe() throws Exception {
    var seen = new CompletableFuture<Map<String, List<String>>>();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      seen.complete(Map.copyOf(exchange.getRequestHeaders()));
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    server.start();
    try {
      var probe = new LocalProbe(
          new ReadinessProbe("/", Map.of("X-A", "b", "host", "me.example")),
          Duration.ofSeconds(30), 1);

      assertThat(probe.attempt(server.getAddress().getPort())).isTrue();
      assertThat(seen.get(30, TimeUnit.SECONDS)).containsEntry("X-a", List.of("b"))
          .containsEntry("Host", List.of("me.example"))
          .containsEntry("User-agent", List.of("kube-probe/1.34"))
          .containsEntry("Connection", List.of("close"));
    } finally {
      server.stop(0);
    }
  }

  @Test
  void whatDoesNotSpeakHttpIsNotReady() throws Exception {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> {
        try (var caller = process.accept()) {
          caller.getOutputStream().write("hello\r\n".getBytes());
        } catch (IOException closed) {
          throw new IllegalStateException(closed);
        }
      });
      assertThat(path("/").attempt(process.getLocalPort())).isFalse();
    }
  }

  private static int portOfNobody() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
