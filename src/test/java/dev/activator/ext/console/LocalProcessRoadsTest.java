package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.revision.RevisionId;
import dev.activator.testing.EmbeddedProduct;
import dev.activator.testing.RawPeer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the product says of a program of this machine while the program is broken. */
class LocalProcessRoadsTest {
  /** Answers each request, and ends at one for /end; started again, it listens when the file is gone. */
  private static final String ENDING = """
      import com.sun.net.httpserver.HttpServer;
      import java.net.InetSocketAddress;
      import java.nio.file.*;
      public class Ending {
        public static void main(String[] with) throws Exception {
          var file = Path.of(with[0]);
          while (Files.exists(file)) {
            Thread.sleep(50);
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

  @TempDir
  static Path directory;

  private static EmbeddedProduct product;

  @BeforeAll
  static void start() {
    product = new EmbeddedProduct();
  }

  @AfterAll
  static void stop() {
    product.close();
  }

  @Test
  void isNotReady_beforeItsSampleCanBeCalled() {
    assertThat(product.earlyReadiness())
        .contains("\"readinessState\":{\"status\":\"OUT_OF_SERVICE");
    await().until(() -> product.readiness().endsWith("\"status\":\"UP\"}"));
  }

  @Test
  void aProgramThatServedEnds_andIsStartedAgain() throws Exception {
    var program = Files.writeString(directory.resolve("Ending.java"), ENDING);
    var file = directory.resolve("ended");
    service("ending", System.getProperty("java.home") + "/bin/java", program.toString(),
        file.toString());
    says("ending", WaitState.SERVING, "0 requests in flight on 1 pod");
    // The activator finds it ready before the probe of the pod.
    await().untilAsserted(() -> assertThat(
        product.read("/apis/apps/v1/namespaces/default/replicasets"))
        .contains("\"readyReplicas\":1"));

    try (var ends = get("ending", "/end")) {
      assertThat(ends.readHead().start()).startsWith("HTTP/1.1 502");
    }
    // A program that is ending may still accept a connection.
    await().untilAsserted(
        () -> assertThat(report("ending").summary()).contains("nothing listens on its PORT"));

    try (var waits = get("ending", "/")) {
      await()
          .untilAsserted(() -> assertThat(report("ending").summary()).contains("1 request waits"));
      Files.delete(file);
      assertThat(waits.readHead().start()).startsWith("HTTP/1.1 200");
    }
    says("ending", WaitState.SERVING, "in flight on 1 pod");
  }

  private static void service(String name, String... command) throws Exception {
    product.create("/apis/serving.knative.dev/v1/namespaces/default/services", """
        apiVersion: serving.knative.dev/v1
        kind: Service
        metadata: {name: %s}
        spec: {template: {spec: {containers: [{command: ['%s']}]}}}
        """.formatted(name, String.join("', '", command)));
  }

  private static RawPeer get(String name, String path) throws IOException {
    var caller = RawPeer.connect(product.requestPort());
    caller.send("GET " + path + " HTTP/1.1\r\nHost: " + name + ".default.localhost\r\n\r\n");
    return caller;
  }

  private static void says(String service, WaitState state, String sentence) {
    await().untilAsserted(() -> {
      var report = report(service);
      assertThat(report.summary()).contains(sentence);
      assertThat(report.state()).isEqualTo(state);
    });
  }

  private static RevisionWaitReport report(String service) {
    return product.bean(RevisionInspector.class).revision(new RevisionId("default", service))
        .join();
  }
}
