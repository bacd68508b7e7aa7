package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Services at zero that call each other by plain HTTP, in embedded mode, against the packaged jar. */
class ChainIT {
  private static final String JAVA = System.getProperty("java.home") + "/bin/java";

  @TempDir
  Path directory;

  private void serve(Curl curl, ActivatorProcess activator, String name, String next,
      String annotations) throws Exception {
    var program = directory.resolve("Link.java");
    Files.writeString(program, LINK);
    curl.serve("""
        apiVersion: serving.knative.dev/v1
        kind: Service
        metadata: {name: %s, namespace: default}
        spec:
          template:
            metadata: {annotations: {%s}}
            spec: {containers: [{command: ['%s', '%s', '$(PORT)', '%s', '%s', '%s', '%s']}]}
        """.formatted(name, annotations, JAVA, program, name, next,
        Integer.toString(activator.requestPort()), directory.resolve("events")));
  }

  private List<String> events() throws Exception {
    var events = directory.resolve("events");
    return Files.exists(events) ? Files.readAllLines(events) : List.of();
  }

  /** Each has a pod at first, and after each request, which goes when it is idle. */
  private void asleep(Curl curl) throws Exception {
    await().atMost(Duration.ofMinutes(1))
        .until(() -> !curl.api("/api/v1/namespaces/default/pods").contains("\"phase\""));
    Files.deleteIfExists(directory.resolve("events"));
  }

  @Test
  void startsTogetherWhatWakeWithNames() throws Exception {
    try (var activator = ActivatorProcess.started().ready()) {
      var curl = new Curl(activator);
      serve(curl, activator, "a", "b", "activator.dev/wake-with: b");
      serve(curl, activator, "b", "c", "activator.dev/wake-with: c.default");
      serve(curl, activator, "c", "-", "");
      asleep(curl);

      assertThat(curl.get("a.default.localhost").body()).isEqualTo("a b c");

      // "a" takes requests only when the two others run.
      assertThat(events()).contains("a called").doesNotHaveDuplicates();
      assertThat(events().subList(0, events().indexOf("a called")))
          .contains("b started", "c started");
    }
  }

  /** Takes requests after two seconds, calls the next, and writes down what happens. */
  private static final String LINK = """
      import com.sun.net.httpserver.HttpServer;
      import java.net.InetSocketAddress;
      import java.net.Socket;
      import java.nio.file.Files;
      import java.nio.file.Path;
      import java.nio.file.StandardOpenOption;
      import java.util.concurrent.Executors;

      class Link {
        public static void main(String[] args) throws Exception {
          int port = Integer.parseInt(args[0]);
          String name = args[1];
          String next = args[2];
          int activator = Integer.parseInt(args[3]);
          var events = Path.of(args[4]);
          write(events, name + " started");
          // Long enough that starts which begin together overlap.
          Thread.sleep(2_000);
          var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
          server.setExecutor(Executors.newCachedThreadPool());
          server.createContext("/", exchange -> {
            write(events, name + " called");
            String body = name + (next.equals("-") ? "" : " " + call(next, activator));
            exchange.sendResponseHeaders(200, body.length());
            exchange.getResponseBody().write(body.getBytes());
            exchange.close();
          });
          server.start();
        }

        private static String call(String host, int port) throws java.io.IOException {
          try (var socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write(("GET / HTTP/1.1\\r\\nHost: " + host
                + ".default.localhost\\r\\nConnection: close\\r\\n\\r\\n").getBytes());
            var answer = new String(socket.getInputStream().readAllBytes());
            return answer.substring(answer.indexOf("\\r\\n\\r\\n") + 4).strip();
          }
        }

        private static synchronized void write(Path events, String line) throws java.io.IOException {
          Files.writeString(events, line + "\\n", StandardOpenOption.CREATE,
              StandardOpenOption.APPEND);
        }
      }
      """;
}
