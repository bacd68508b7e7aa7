package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.app.Extensions;
import dev.activator.embedded.EmbeddedActivator;
import dev.activator.proxy.RequestPorts;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FreePort;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** What the product says of a program of this machine while the program is broken. */
@Isolated("The end of Spring's context ends the event loops that other tests use.")
class LocalProcessRoadsTest {
  /** Answers each request, and ends at one for /end, until the file is gone. */
  private static final String ENDING = """
      import com.sun.net.httpserver.HttpServer;
      import java.net.InetSocketAddress;
      import java.nio.file.*;
      public class Ending {
        public static void main(String[] with) throws Exception {
          var file = Path.of(with[0]);
          if (Files.exists(file)) {
            System.err.println("boom: it stays away");
            System.exit(3);
          }
          var server = HttpServer.create(
              new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
          server.createContext("/", exchange -> {
            if (exchange.getRequestURI().getPath().equals("/end")) {
              Files.createFile(file);
              System.exit(3);
            }
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
          });
          server.start();
        }
      }
      """;

  private static final int API_PORT = FreePort.next();

  @TempDir
  static Path directory;

  private static ConfigurableApplicationContext product;

  @BeforeAll
  static void start() {
    product = new SpringApplicationBuilder(Stream
        .concat(Stream.of(EmbeddedActivator.class), Extensions.ALL.stream()).toArray(Class[]::new))
        .profiles("embedded").logStartupInfo(false)
        .run("--server.port=0", "--activator.port.http1=0", "--activator.port.h2c=0",
            "--activator.port.https=0", "--activator.profiling.port=0",
            "--activator.console.port=0", "--activator.embedded.api-port=" + API_PORT,
            "--activator.embedded.autoscaler-port=0");
  }

  @AfterAll
  static void stop() {
    product.close();
  }

  @Test
  void aProgramThatServedEnds_andIsStartedAgain() throws Exception {
    var program = Files.writeString(directory.resolve("Ending.java"), ENDING);
    var file = directory.resolve("ended");
    service("ending", System.getProperty("java.home") + "/bin/java", program.toString(),
        file.toString());
    says("ending", WaitState.SERVING, "0 requests in flight on 1 pod");

    try (var ends = get("ending", "/end")) {
      assertThat(ends.readHead().start()).startsWith("HTTP/1.1 502");
    }
    says("ending", WaitState.RESTARTING, "exit code 3");

    Files.delete(file);
    try (var waits = get("ending", "/")) {
      assertThat(waits.readHead().start()).startsWith("HTTP/1.1 200");
    }
    says("ending", WaitState.SERVING, "in flight on 1 pod");
  }

  private static void service(String name, String... command) throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      var created = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
          + API_PORT + "/apis/serving.knative.dev/v1/namespaces/default/services"))
          .header("Content-Type", "application/yaml")
          .POST(BodyPublishers.ofString("""
              apiVersion: serving.knative.dev/v1
              kind: Service
              metadata: {name: %s}
              spec: {template: {spec: {containers: [{command: ['%s']}]}}}
              """.formatted(name, String.join("', '", command)))).build(), BodyHandlers.ofString());
      assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    }
  }

  private static RawPeer get(String name, String path) throws IOException {
    var caller = RawPeer.connect(product.getBean(RequestPorts.class).http1());
    caller.send("GET " + path + " HTTP/1.1\r\nHost: " + name + ".default.localhost\r\n\r\n");
    return caller;
  }

  private static void says(String service, WaitState state, String sentence) {
    await().untilAsserted(() -> {
      var report = product.getBean(RevisionInspector.class)
          .revision(new RevisionId("default", service)).join();
      assertThat(report.summary()).contains(sentence);
      assertThat(report.state()).isEqualTo(state);
    });
  }
}
