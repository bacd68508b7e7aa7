package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.app.Extensions;
import dev.activator.embedded.EmbeddedActivator;
import dev.activator.proxy.RequestPorts;
import dev.activator.testing.FreePort;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Processes of this machine that are frozen while they are idle, in the whole product. */
@Isolated("The end of Spring's context ends the event loops that other tests use.")
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

  private static final int API_PORT = FreePort.next();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir
  static Path directory;

  private static ConfigurableApplicationContext product;

  @BeforeAll
  static void start() throws Exception {
    Files.writeString(directory.resolve("Program.java"), PROGRAM);
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
    HTTP.close();
  }

  private static void apply(String name, String idle) throws Exception {
    create("/apis/apps/v1/namespaces/default/deployments", """
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
    create("/api/v1/namespaces/default/services", """
        metadata: {name: %1$s}
        spec: {selector: {app: %1$s}, ports: [{name: http, port: 80, targetPort: http}]}
        """.formatted(name));
    create("/apis/activator.dev/v1alpha1/namespaces/default/scaledservices", """
        metadata: {name: %1$s}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %1$s}
          serviceRef: {name: %1$s, port: http}
          target: {concurrency: 5}
          scaleDown: {stabilizationWindowSeconds: 6}
          idle: %2$s
        """.formatted(name, idle));
  }

  private static void create(String path, String yaml) throws Exception {
    var created = HTTP.send(HttpRequest.newBuilder(api(path))
        .header("Content-Type", "application/yaml").POST(BodyPublishers.ofString(yaml)).build(),
        BodyHandlers.ofString());
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
  }

  private static URI api(String path) {
    return URI.create("http://127.0.0.1:" + API_PORT + path);
  }

  private static String object(String name) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(
        api("/apis/activator.dev/v1alpha1/namespaces/default/scaledservices/" + name)).build(),
        BodyHandlers.ofString()).body();
  }

  private static HttpResponse<String> get(String name) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
        + product.getBean(RequestPorts.class).http1() + "/"))
        .header("Host", name + ".default.localhost").build(), BodyHandlers.ofString());
  }

  private static String stateOf(String pid) throws Exception {
    var stat = Files.readString(Path.of("/proc", pid, "stat"));
    return stat.substring(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  }

  @Test
  void anIdleProcessIsFrozen_andAnswersTheNextRequest() throws Exception {
    apply("web", "{do: freeze}");
    var pid = get("web").body();

    await().atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(object("web")).contains("\"state\":\"Asleep\""));
    assertThat(stateOf(pid)).isEqualTo("T");

    assertThat(get("web").body()).isEqualTo(pid);
    assertThat(stateOf(pid)).isNotEqualTo("T");
    await().untilAsserted(() -> assertThat(object("web")).doesNotContain("\"idle\":{\"state\""));
  }
}
