package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.runtime.LocalProbe.Connect;
import dev.activator.embedded.runtime.LocalProbe.Exec;
import dev.activator.embedded.runtime.LocalProbe.Grpc;
import dev.activator.embedded.runtime.LocalProbe.HttpGet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;

class LocalProbeTest {
  private static final long PID = 123;

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
      "{'httpGet': {'path': 'up', 'port': 8080}}                  | HttpGet[port=24049, path=/up, headers={}, tls=false]",
      "{'httpGet': {'port': 'web', 'scheme': 'HTTPS'}}            | HttpGet[port=24049, path=/, headers={}, tls=true]",
      "{'httpGet': {'path': '/m', 'port': 'admin', 'httpHeaders': [{'name': 'X-A', 'value': 'b'}]}} | HttpGet[port=9090, path=/m, headers={X-A=[b]}, tls=false]",
      "{'tcpSocket': {'port': 9090}}                              | Connect[port=9090]",
      "{'tcpSocket': {}}                                          | Connect[port=24049]",
      "{}                                                         | Connect[port=24049]",
      "{'grpc': {'port': 8080}}                                   | Grpc[port=24049, service=]",
      "{'grpc': {'port': 9090, 'service': 'shop.Cart'}}           | Grpc[port=9090, service=shop.Cart]",
      "{'exec': {'command': ['test', '-f', 'x']}}                 | Exec[command=[test, -f, x]]"})
  void readsWhatIsProbedAndWhere(String probe, String action) {
    assertThat(template(probe).readiness(24049).action()).hasToString(action);
  }

  @Test
  void readsHowOftenAndHowLong() {
    var probe = template("{'tcpSocket': {'port': 1}, 'timeoutSeconds': 5, 'successThreshold': 2,"
        + " 'failureThreshold': 4, 'periodSeconds': 6, 'initialDelaySeconds': 7}").readiness(2);

    assertThat(probe).isEqualTo(new LocalProbe(new Connect(2), Duration.ofSeconds(7),
        Duration.ofSeconds(6), Duration.ofSeconds(5), 2, 4));
    assertThat(template("{'timeoutSeconds': 0, 'successThreshold': -1}").readiness(2))
        .isEqualTo(LocalProbe.connecting(2));
  }

  @Test
  void aContainerOfHttp2IsReadyOnceItListens() {
    var template = PodTemplate.of(Objects.parse(
        """
            {'metadata': {'namespace': 'ns', 'name': 'd'}, 'spec': {'template': {'spec': {'containers': [
              {'ports': [{'name': 'h2c'}], 'readinessProbe': {'httpGet': {'path': '/up'}}}]}}}}"""));

    assertThat(template.readiness(7).action()).isEqualTo(new Connect(7));
  }

  @Test
  void aProgramThatListensIsReady() throws IOException {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(attempt(new Connect(process.getLocalPort()))).isEmpty();
    }
  }

  @Test
  void isNotReady_whenNothingListensOnThePort() throws IOException {
    int port = FreePort.next();

    assertThat(attempt(new Connect(port), port))
        .isEqualTo("process 123 runs, nothing listens on its PORT " + port);
    assertThat(attempt(new Connect(port), 1))
        .isEqualTo("process 123 runs, nothing listens on port " + port);
  }

  @Test
  void isNotReady_whenTheConnectionConnectsToItself() throws IOException {
    // given a program that does not listen yet, and a connection that leaves from its port
    int port = FreePort.next();
    try (var socket = new Socket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));

      // when it succeeds, then the program is not ready all the same
      assertThat(LocalProbe.connecting(port).connect(socket, port,
          new LocalProbe.Probed(0, port, ProcessBuilder::new), _ -> ""))
          .isEqualTo(
              new LocalProbe.Outcome("process 0 runs, nothing listens on its PORT " + port, true));
    }
  }

  @ParameterizedTest(name = "{0} is ready: {1}")
  @CsvSource({"200, true", "204, true", "302, true", "404, false", "500, false", "503, false"})
  void theStatusOfAPathSaysWhetherItIsReady(int status, boolean ready) throws IOException {
    var server = com.sun.net.httpserver.HttpServer
        .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/up", exchange -> {
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    });
    server.start();
    int port = server.getAddress().getPort();
    try {
      assertThat(attempt(get(port, "/up"), port)).isEqualTo(ready
          ? ""
          : "process 123 answers GET /up on its PORT " + port + " with " + status);
    } finally {
      server.stop(0);
    }
  }

  @ParameterizedTest(name = "{0} over TLS is ready: {1}")
  @CsvSource({"200, true", "503, false"})
  void acceptsAnyCertificate(int status, boolean ready) throws Exception {
    var certificate = Certificate.ec();
    var program = HttpServer.create().host("127.0.0.1").port(0)
        .secure(tls -> tls.sslContext(Http11SslContextSpec.forServer(certificate.key(),
            certificate.certificate())))
        .handle((_, response) -> response.status(status).send()).bindNow();
    try {
      assertThat(attempt(new HttpGet(program.port(), "/up", Map.of(), true), program.port()))
          .isEqualTo(ready
              ? ""
              : "process 123 answers GET /up on its PORT " + program.port() + " with " + status);
      assertThat(attempt(get(program.port(), "/up"), program.port())).isNotEmpty();
    } finally {
      program.disposeNow();
    }
  }

  @ParameterizedTest(name = "a redirect to {0}: {1}")
  @CsvSource({"/ready, ''", "ready, ''", "http://127.0.0.1:PORT/ready, ''",
      "https://shop.example/ready, ''",
      "/starting, process 123 answers GET /starting on its PORT PORT with 503",
      "/up, process 123 redirects 10 times for GET /up on its PORT PORT",
      "http://127.0.0.1:OTHER/ready, 'process 123 redirects to port OTHER, on which nothing listens'"})
  void aRedirectIsFollowedToTheSameHost(String location, String problem) throws IOException {
    var other = "" + FreePort.next();
    var server = com.sun.net.httpserver.HttpServer
        .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    int port = server.getAddress().getPort();
    server.createContext("/", exchange -> {
      int status = switch (exchange.getRequestURI().getPath()) {
        case "/ready" -> 200;
        case "/starting" -> 503;
        default -> 302;
      };
      exchange.getResponseHeaders().set("location",
          location.replace("PORT", "" + port).replace("OTHER", other));
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    });
    server.start();
    try {
      assertThat(attempt(get(port, "/up"), port))
          .isEqualTo(problem.replace("PORT PORT", "PORT " + port).replace("OTHER", other));
    } finally {
      server.stop(0);
    }
  }

  @Test
  @Timeout(120)
  void anAnswerThatComesByteByByteIsTooLateAtTheTimeout() throws Exception {
    try (var listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var clock = Executors.newScheduledThreadPool(2)) {
      clock.execute(() -> {
        try {
          var accepted = listening.accept();
          clock.scheduleAtFixedRate(() -> drip(accepted), 0, 200, TimeUnit.MILLISECONDS);
        } catch (IOException closed) {
          throw new UncheckedIOException(closed);
        }
      });
      int port = listening.getLocalPort();

      var probe = LocalProbe.connecting(port).with(get(port, "/up"));
      assertThat(probe.attempt(probed(port)).problem())
          .isEqualTo("process 123 accepts connections, but"
              + " does not answer GET /up on its PORT " + port + " within 1 s");
      clock.shutdownNow();
    }
  }

  /** The exception of a closed connection ends the repetition. */
  private static void drip(Socket socket) {
    try {
      socket.getOutputStream().write('H');
    } catch (IOException closed) {
      throw new UncheckedIOException(closed);
    }
  }

  @Test
  void sendsTheHeadersOfTheProbe() throws Exception {
    var seen = new CompletableFuture<Map<String, List<String>>>();
    var server = com.sun.net.httpserver.HttpServer
        .create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      seen.complete(Map.copyOf(exchange.getRequestHeaders()));
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    server.start();
    try {
      var probe = new HttpGet(server.getAddress().getPort(), "/",
          Map.of("X-A", List.of("b", "c"), "host", List.of("me.example"), "Accept", List.of("")),
          false);

      assertThat(attempt(probe)).isEmpty();
      assertThat(seen.get(120, TimeUnit.SECONDS)).containsEntry("X-a", List.of("b", "c"))
          .containsEntry("Host", List.of("me.example"))
          .containsEntry("User-agent", List.of("kube-probe/1.34"))
          .containsEntry("Connection", List.of("close"))
          .doesNotContainKey("Accept");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void whatDoesNotSpeakHttpIsNotReady() throws Exception {
    assertThat(answerOf("hello\r\n")).startsWith("process 123 does not speak HTTP on its PORT ");
    assertThat(answerOf("")).startsWith("process 123 ")
        .contains("the connection").contains("GET / on its PORT ");
  }

  @Test
  void readsNoMoreThanItNeedsOfAnEndlessLine() throws IOException {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> {
        try (var caller = process.accept()) {
          caller.getOutputStream().write("x".repeat(4 << 20).getBytes());
          caller.getInputStream().readAllBytes();
        } catch (IOException closed) {
          // The probe has seen enough.
        }
      });
      int port = process.getLocalPort();
      var probe = new LocalProbe(get(port, "/"), Duration.ZERO, Duration.ZERO,
          Duration.ofSeconds(120), 1, 3);

      assertThat(probe.attempt(probed(port)).problem())
          .isEqualTo("process 123 does not speak HTTP on its PORT " + port);
    }
  }

  @Test
  void readsALongHead() throws IOException {
    assertThat(answerOf("HTTP/1.1 200 OK\r\nSet-Cookie: " + "x".repeat(20_000)
        + "\r\nContent-Length: 0\r\n\r\n")).isEmpty();
  }

  @Test
  void aProgramWhoseBacklogIsFullDoesNotAccept() throws IOException {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = process.getLocalPort();
      var waiting = new ArrayList<Socket>();
      try {
        while (true) {
          waiting.add(new Socket());
          waiting.getLast().connect(process.getLocalSocketAddress(), 200);
        }
      } catch (SocketTimeoutException full) {
        assertThat(LocalProbe.connecting(port).with(get(port, "/")).attempt(probed(port)).problem())
            .isEqualTo("process 123 does not accept connections on its PORT " + port);
      } finally {
        for (var one : waiting) {
          one.close();
        }
      }
    }
  }

  @Test
  void aProgramThatAcceptsAndIsSilentHangs() throws IOException {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = process.getLocalPort();
      var probe = new LocalProbe(get(port, "/up"), Duration.ZERO, Duration.ZERO,
          Duration.ofMillis(500), 1, 3);

      assertThat(probe.attempt(probed(port)).problem())
          .isEqualTo("process 123 accepts connections, but does"
              + " not answer GET /up on its PORT " + port + " within 0 s");
    }
  }

  @ParameterizedTest(name = "{0} {1} {2}: {3}")
  @CsvSource({"'', 0801, '', ''", "shop.Cart, 0801, '', ''",
      "shop.Cart, 0802, '', answers with NOT_SERVING", "'', '', '', answers with UNKNOWN",
      "no.Such, none, 5, answers with the gRPC status 5"})
  void checksTheHealthOfAServiceByGrpc(String service, String message, String status,
      String problem) {
    var seen = new LinkedBlockingQueue<String>();
    var program = grpc((request, body) -> {
      seen.add(request.uri() + " " + HexFormat.of().formatHex(body));
      return message;
    }, status);
    try {
      assertThat(attempt(new Grpc(program.port(), service), program.port()))
          .isEqualTo(problem.isEmpty()
              ? ""
              : "process 123, called for gRPC's health check on its PORT " + program.port() + ", "
                  + problem);
      assertThat(seen).containsExactly("/grpc.health.v1.Health/Check " + (service.isEmpty()
          ? "0000000000"
          : HexFormat.of().formatHex(new byte[]{0, 0, 0, 0, (byte) (service.length() + 2), 10,
              (byte) service.length()}) + HexFormat.of().formatHex(service.getBytes())));
    } finally {
      program.disposeNow();
    }
  }

  @Test
  @Timeout(120)
  void readsNoAnswerWithoutEnd() {
    var program = HttpServer.create().host("127.0.0.1").port(0).protocol(HttpProtocol.H2C)
        .handle((_, response) -> response
            .sendByteArray(Flux.generate(next -> next.next(new byte[1024]))).then())
        .bindNow();
    try {
      var probe = new LocalProbe(new Grpc(program.port(), ""), Duration.ZERO, Duration.ZERO,
          Duration.ofSeconds(240), 1, 3);

      assertThat(probe.attempt(probed(program.port())).problem())
          .endsWith("answers with what is no message");
    } finally {
      program.disposeNow();
    }
  }

  private interface Health {
    String check(HttpServerRequest request, byte[] body);
  }

  /** A program that answers with this message, in hexadecimal digits, or with none. */
  private static DisposableServer grpc(Health health, String status) {
    return HttpServer.create().host("127.0.0.1").port(0).protocol(HttpProtocol.H2C)
        .handle((request, response) -> request.receive().aggregate().asByteArray()
            .flatMapMany(body -> {
              String message = health.check(request, body);
              if (message.equals("none")) {
                return response.header("grpc-status", status).send();
              }
              var bytes = HexFormat.of().parseHex("00000000%02x".formatted(message.length() / 2)
                  + message);
              return response.sendByteArray(Mono.just(bytes)).then();
            }))
        .bindNow();
  }

  @Test
  void whatSpeaksNoGrpcIsNotHealthy() throws Exception {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = process.getLocalPort();
      var probe = new LocalProbe(new Grpc(port, ""), Duration.ZERO, Duration.ZERO,
          Duration.ofMillis(50), 1, 3);

      assertThat(probe.attempt(probed(port)).problem())
          .isEqualTo("process 123, called for gRPC's health"
              + " check on its PORT " + port + ", does not answer within 0 s");
    }
    int nobody = FreePort.next();
    assertThat(attempt(new Grpc(nobody, ""), nobody)).contains("nothing listens");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {"exit 0 | ''", "test \"$GREETING\" = hi | ''",
      "exit 3 | ended with exit code 3"})
  void aCommandThatEndsWithZeroIsReady(String script, String problem) {
    String found = attempt(new Exec(List.of("sh", "-c", script)));

    assertThat(found.isEmpty()).isEqualTo(problem.isEmpty());
    assertThat(found).endsWith(problem);
  }

  @Test
  void aCommandThatCannotRunOrDoesNotEndIsNot() {
    assertThat(attempt(new Exec(List.of("/no/such/program")))).contains("cannot run");
    assertThat(attempt(new Exec(List.of()))).contains("cannot run");
    var probe = new LocalProbe(new Exec(List.of("sleep", "1000")), Duration.ZERO, Duration.ZERO,
        Duration.ofMillis(50), 1, 3);
    assertThat(probe.attempt(probed(1)).problem()).contains("did not end");
  }

  private static String answerOf(String text) throws IOException {
    try (var process = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> {
        try (var caller = process.accept()) {
          caller.getOutputStream().write(text.getBytes());
        } catch (IOException closed) {
          throw new IllegalStateException(closed);
        }
      });
      return attempt(get(process.getLocalPort(), "/"), process.getLocalPort());
    }
  }

  private static HttpGet get(int port, String path) {
    return new HttpGet(port, path, Map.of(), false);
  }

  private static String attempt(LocalProbe.Action action) {
    return attempt(action, 1);
  }

  private static String attempt(LocalProbe.Action action, int podPort) {
    return new LocalProbe(action, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(120), 1, 3)
        .attempt(probed(podPort)).problem();
  }

  private static LocalProbe.Probed probed(int podPort) {
    return new LocalProbe.Probed(PID, podPort, () -> {
      var builder = new ProcessBuilder();
      builder.environment().put("GREETING", "hi");
      return builder;
    });
  }

  /** A container with the ports web (8080) and admin (9090). */
  private static PodTemplate template(String readinessProbe) {
    return PodTemplate.of(Objects.parse(
        """
            {'metadata': {'namespace': 'ns', 'name': 'd'}, 'spec': {'template': {'spec': {'containers': [
              {'ports': [{'name': 'web', 'containerPort': 8080}, {'name': 'admin', 'containerPort': 9090}],
               'readinessProbe': %s}]}}}}"""
            .formatted(readinessProbe)));
  }
}
