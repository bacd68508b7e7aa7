package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.testing.RawPeer;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the README promises of a first minute, against the packaged jar. */
class EmbeddedModeIT {
  private static final String JAVA_HOME = System.getProperty("java.home");

  @TempDir
  static Path directory;

  private static ActivatorProcess activator;
  private static Curl curl;

  @BeforeAll
  static void start() throws Exception {
    activator = ActivatorProcess.started().ready();
    curl = new Curl(activator);
  }

  @AfterAll
  static void stop() throws Exception {
    activator.close();
  }

  @Test
  void wakesTheSampleAndLetsItSleepAgain() throws Exception {
    // given a revision at zero
    assertThat(addresses("hello-00001")).isFalse();

    // when it is asked, then it answers, and again when it is awake
    assertThat(curl.get("hello.default.localhost").statusCode()).isEqualTo(200);
    assertThat(curl.get("hello.default.localhost").body())
        .isEqualTo("Hello from revision hello-00001\n");

    // when nobody asks, then it goes to zero, and comes back
    await().until(() -> !addresses("hello-00001"));
    assertThat(curl.get("hello.default.localhost").statusCode()).isEqualTo(200);
  }

  @Test
  void runsACommandOfTheUser() throws Exception {
    Files.writeString(directory.resolve("index.html"), "mine\n");
    curl.serve(service("mine", 0, JAVA_HOME + "/bin/jwebserver", "-p", "$PORT", "-d",
        directory.toString()));

    var answer = curl.get("mine.default.localhost");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("mine\n");
  }

  @Test
  void answersAllOfTwoHundredHeldRequestsTwoAtATime() throws Exception {
    var program = directory.resolve("Counting.java");
    Files.writeString(program, COUNTING);
    curl.serve(service("counting", 2, JAVA_HOME + "/bin/java", program.toString(), "$PORT"));

    var answers = IntStream.range(0, 200)
        .mapToObj(_ -> curl.getLater("counting.default.localhost")).toList();
    CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).join();

    assertThat(answers).extracting(answer -> answer.join().statusCode()).containsOnly(200);
    assertThat(answers).extracting(answer -> Integer.valueOf(answer.join().body()))
        .allMatch(together -> together <= 2);
  }

  @Test
  void servicesAnswerAsSoonAsTheyAreCreated() {
    var answers = IntStream.range(0, 60).mapToObj(i -> CompletableFuture.supplyAsync(() -> {
      try {
        curl.serve("""
            apiVersion: serving.knative.dev/v1
            kind: Service
            metadata: {name: s%d, namespace: default}
            spec: {template: {spec: {containers: [{image: activator.dev/hello}]}}}
            """.formatted(i));
        return curl.get("s" + i + ".default.localhost").statusCode();
      } catch (Exception failed) {
        throw new IllegalStateException(failed);
      }
    })).toList();

    assertThat(answers).extracting(CompletableFuture::join).containsOnly(200);
  }

  @Test
  void scaledServicesAreFoundAsSoonAsTheyAreCreated() throws Exception {
    for (int i = 0; i < 5; i++) {
      var path = "/apis/activator.dev/v1alpha1/namespaces/default/scaledservices";
      assertThat(curl.create(path, """
          apiVersion: activator.dev/v1alpha1
          kind: ScaledService
          metadata: {name: found%d}
          spec:
            scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}
            serviceRef: {name: none, port: http}
            hosts: [found%d.example]
            containerConcurrency: 1
            timeoutSeconds: 60
          """.formatted(i, i)).statusCode()).isEqualTo(201);

      // It is found, and refused because its Deployment does not exist, also not three seconds later.
      var answer = curl.get("found" + i + ".example");
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("none");
      assertThat(curl.delete(path + "/found" + i)).isEqualTo(200);
    }
  }

  @Test
  void noCallerNoticesAServiceThatIsChangedToAProgramThatEnds() throws Exception {
    curl.serve(service("good", 0, JAVA_HOME + "/bin/jwebserver", "-p", "$PORT", "-d",
        directory.toString()));
    assertThat(curl.get("good.default.localhost").statusCode()).isEqualTo(200);

    assertThat(curl.patch("good", """
        {"spec": {"template": {"spec": {"containers": [{"command": ["sh", "-c", "exit 7"]}]}}}}"""))
        .isEqualTo(200);

    await().until(() -> {
      assertThat(curl.get("good.default.localhost").statusCode()).isEqualTo(200);
      return curl.api("/apis/serving.knative.dev/v1/namespaces/default/services/good")
          .contains("RevisionFailed");
    });
    assertThat(curl.get("good.default.localhost").statusCode()).isEqualTo(200);
  }

  @Test
  void letsARequestEndThoughItsServiceIsDeleted() throws Exception {
    // given a request that runs
    var program = directory.resolve("Holding.java");
    Files.writeString(program, HOLDING);
    curl.serve(service("holding", 0, JAVA_HOME + "/bin/java", program.toString(),
        "$PORT", directory.toString()));
    var answer = curl.getLater("holding.default.localhost");
    await().until(() -> Files.exists(directory.resolve("arrived")));

    // when its Service is deleted, then there is no such revision any more, and the request runs on
    assertThat(
        curl.delete("/apis/serving.knative.dev/v1/namespaces/default/services/holding"))
        .isEqualTo(200);
    await()
        .until(() -> curl.get("holding.default.localhost").statusCode() == 404);
    Files.createFile(directory.resolve("release"));

    assertThat(answer.get().statusCode()).isEqualTo(200);
    assertThat(answer.get().body()).isEqualTo("released");
  }

  @Test
  void answersAHeldRequestThatTheProcessEnded() throws Exception {
    curl.serve(service("broken", 0, "sh", "-c", "echo no such luck; exit 3"));

    HttpResponse<String> answer = curl.get("broken.default.localhost");

    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).contains("default/broken-00001").contains("exit code 3");
    await().untilAsserted(() -> assertThat(activator.log()).contains("no such luck"));
  }

  @Test
  void knowsNoRevisionOfAnotherName() throws Exception {
    var answer = curl.get("nobody.default.svc.cluster.local");

    assertThat(answer.statusCode()).isEqualTo(404);
    assertThat(answer.body()).startsWith("404 Not Found: no service has the host ")
        .contains("hello.default.localhost");
  }

  @Test
  void refusesAServiceItCannotRun() throws Exception {
    var answer = curl.apply("""
        apiVersion: serving.knative.dev/v1
        kind: Service
        metadata: {name: image, namespace: default}
        spec: {template: {spec: {containers: [{image: example.com/some/image}]}}}
        """);

    assertThat(answer.statusCode()).isEqualTo(422);
    assertThat(answer.body()).contains("spec.template.spec.containers[0].command");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"Metrics and health are on port, /console",
      "Metrics and health are on port, /console/updates",
      "Metrics and health are on port, /actuator/activator",
      "The autoscaler listens on 127.0.0.1:, /",
      "The embedded Kubernetes API listens on 127.0.0.1:, /version"})
  void answersNoWebPageFromElsewhere(String port, String path) throws Exception {
    int own = activator.port(Pattern.quote(port) + "\\s*(\\d+)");

    assertThat(status(own, path, "Host: localhost:" + own)).doesNotContain(" 403 ");
    assertThat(status(own, path, "Host: evil.example:" + own)).contains(" 403 ");
    assertThat(status(own, path, "Host: localhost:" + own + "\r\nOrigin: https://evil.example"))
        .contains(" 403 ");
    assertThat(status(own, path, "Host: localhost:" + own + "\r\nOrigin: http://localhost:3000"))
        .contains(" 403 ");
  }

  @Test
  void listensForProgramsOfThisMachineOnly() throws Exception {
    var outside = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
        .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
        .findFirst();
    assumeTrue(outside.isPresent(), "this machine has no other address");

    for (String port : new String[]{"Try: curl http://hello\\.default\\.localhost:",
        "Metrics and health are on port\\s*", "Profiling listens on 127\\.0\\.0\\.1:",
        "The autoscaler listens on 127\\.0\\.0\\.1:",
        "The embedded Kubernetes API listens on 127\\.0\\.0\\.1:"}) {
      int own = activator.port(port + "(\\d+)");
      new Socket("127.0.0.1", own).close();
      assertThatThrownBy(() -> new Socket(outside.get(), own).close())
          .as(port).isInstanceOf(ConnectException.class);
    }
  }

  private static String status(int port, String path, String headers) throws Exception {
    try (var peer = RawPeer.connect(port)) {
      peer.send("GET " + path + " HTTP/1.1\r\n" + headers + "\r\nConnection: Upgrade\r\nUpgrade:"
          + " websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key:"
          + " dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
      return peer.readHead().start();
    }
  }

  private static boolean addresses(String revision) throws Exception {
    return curl.api("/api/v1/namespaces/default/endpoints/" + revision + "-private")
        .contains("\"ip\"");
  }

  private static String service(String name, int concurrency, String... command) {
    var quoted = String.join(", ",
        java.util.Arrays.stream(command).map(EmbeddedModeIT::quote).toList());
    return """
        apiVersion: serving.knative.dev/v1
        kind: Service
        metadata: {name: %s, namespace: default}
        spec:
          template:
            spec:
              containerConcurrency: %d
              containers: [{command: [%s]}]
        """.formatted(name, concurrency, quoted);
  }

  private static String quote(String word) {
    return "'" + word.replace("'", "''") + "'";
  }

  /** Answers the first request once there is a file for it, and others at once. */
  private static final String HOLDING = """
      import com.sun.net.httpserver.HttpServer;
      import java.net.InetSocketAddress;
      import java.nio.file.Files;
      import java.nio.file.Path;
      import java.util.concurrent.Executors;

      class Holding {
        public static void main(String[] args) throws Exception {
          var directory = Path.of(args[1]);
          int port = Integer.parseInt(args[0]);
          var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
          server.setExecutor(Executors.newCachedThreadPool());
          server.createContext("/", exchange -> {
            boolean first = directory.resolve("arrived").toFile().createNewFile();
            while (first && !Files.exists(directory.resolve("release"))) {
              java.util.concurrent.locks.LockSupport.parkNanos(10_000_000);
            }
            byte[] body = "released".getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
          server.start();
        }
      }
      """;

  /** Answers each request with how many it runs at once. */
  private static final String COUNTING = """
      import com.sun.net.httpserver.HttpServer;
      import java.net.InetSocketAddress;
      import java.util.concurrent.Executors;
      import java.util.concurrent.atomic.AtomicInteger;

      class Counting {
        public static void main(String[] args) throws Exception {
          var running = new AtomicInteger();
          int port = Integer.parseInt(args[0]);
          var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
          server.setExecutor(Executors.newCachedThreadPool());
          server.createContext("/", exchange -> {
            byte[] body = String.valueOf(running.incrementAndGet()).getBytes();
            try {
              Thread.sleep(20);
            } catch (InterruptedException e) {
              throw new java.io.IOException(e);
            }
            running.decrementAndGet();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
          server.start();
        }
      }
      """;
}
