package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.testing.EmbeddedProduct;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes of this machine that are frozen while they are idle, in the whole product. */
class FrozenProcessTest {
  /** Answers each request with its process id. */
  private static final String PROGRAM = """
      import com.sun.net.httpserver.HttpServer;
      import java.net.InetSocketAddress;
      public class Program {
        public static void main(String[] with) throws Exception {
          var server = HttpServer.create(
              new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
          server.createContext("/", exchange -> {
            var body = Long.toString(ProcessHandle.current().pid()).getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
          server.start();
        }
      }
      """;

  private static final String OBJECTS = "/apis/activator.dev/v1alpha1/namespaces/default/scaledservices";

  @TempDir
  static Path directory;

  private static EmbeddedProduct product;

  @BeforeAll
  static void start() throws Exception {
    Files.writeString(directory.resolve("Program.java"), PROGRAM);
    product = new EmbeddedProduct();
  }

  @AfterAll
  static void stop() {
    product.close();
  }

  private static void apply(String name, String idle) throws Exception {
    product.create("/apis/apps/v1/namespaces/default/deployments", """
        metadata: {name: %1$s}
        spec:
          replicas: 0
          selector: {matchLabels: {app: %1$s}}
          template:
            metadata: {labels: {app: %1$s}}
            spec:
              containers:
                - name: web
                  command: ['%2$s', '%3$s']
                  ports: [{name: http, containerPort: 8080}]
                  readinessProbe: {httpGet: {path: /, port: http}}
        """.formatted(name, System.getProperty("java.home") + "/bin/java",
        directory.resolve("Program.java")));
    product.create("/api/v1/namespaces/default/services", """
        metadata: {name: %1$s}
        spec: {selector: {app: %1$s}, ports: [{name: http, port: 80, targetPort: http}]}
        """.formatted(name));
    product.create(OBJECTS, """
        metadata: {name: %1$s}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %1$s}
          serviceRef: {name: %1$s, port: http}
          target: {concurrency: 5}
          scaleDown: {stabilizationWindowSeconds: 6}
          idle: %2$s
        """.formatted(name, idle));
  }

  private static String object(String name) throws Exception {
    return product.read(OBJECTS + "/" + name);
  }

  private static String stateOf(String pid) throws Exception {
    var stat = Files.readString(Path.of("/proc", pid, "stat"));
    return stat.substring(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  }

  @Test
  void anIdleProcessIsFrozen_andAnswersTheNextRequest() throws Exception {
    apply("web", "{do: freeze}");
    var pid = product.get("web");

    await().atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(object("web")).contains("\"state\":\"Asleep\""));
    // A process stops when it has a core again.
    await().untilAsserted(() -> assertThat(stateOf(pid)).isEqualTo("T"));

    assertThat(product.get("web")).isEqualTo(pid);
    assertThat(stateOf(pid)).isNotEqualTo("T");
    await().untilAsserted(() -> assertThat(object("web")).doesNotContain("\"idle\":{\"state\""));
  }
}
