import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the activator of a root file system in embedded mode, gives it what it gets in production, and
 * has the JVM write down what it learned: {@code app/activator.aot}.
 *
 * <p>
 * <b>Errors.</b> The exit code is 1 if it does not start, answers wrongly, or leaves no cache.
 */
class Training {
  private static final int ROUNDS = 100;
  private static final int AT_ONCE = 16;
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  /** See the thresholds in java.options: what a training run found hot is compiled at the start. */
  private static final List<String> NO_PROFILES = List.of("-XX:+UnlockDiagnosticVMOptions",
      "-XX:-AOTRecordTraining");
  private static final String NOTES = "-XX:AOTConfiguration=activator.aot.notes";

  private final Path app;
  private final String java;
  private final Process process;
  private final List<String> log = new ArrayList<>();
  private final int management = freePort();
  private int requests;

  private Training(Path root) throws IOException {
    this.app = root.resolve("app").toAbsolutePath();
    this.java = root.resolve("opt/java/bin/java").toAbsolutePath().toString();
    var command = command("-XX:AOTMode=record", NOTES);
    command.addAll(1, NO_PROFILES);
    command.addAll(List.of("--server.port=" + management, "--activator.port.http1=0",
        "--activator.port.h2c=0", "--activator.port.https=0", "--activator.embedded.api-port=0",
        "--activator.embedded.autoscaler-port=0",
        "--activator.profiling.port=0"));
    this.process = start(command);
  }

  /** The command that the image starts, but for the cache it would use. */
  private List<String> command(String... instead) throws IOException {
    var command = new ArrayList<>(List.of(java));
    command.addAll(List.of(instead));
    for (String line : Files.readAllLines(app.resolve("java.options"))) {
      if (!line.isBlank() && !line.startsWith("#") && !line.startsWith("-XX:AOTCache=")) {
        command.addAll(List.of(line.split(" ")));
      }
    }
    return command;
  }

  private Process start(List<String> command) throws IOException {
    var builder = new ProcessBuilder(command).directory(app.toFile()).redirectErrorStream(true);
    builder.environment().keySet()
        .removeAll(List.of("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "JDK_JAVA_OPTIONS"));
    builder.environment().put("ACTIVATOR_MODE", "embedded");
    return builder.start();
  }

  public static void main(String[] args) throws Exception {
    var training = new Training(Path.of(args[0]));
    try {
      training.awaitReady();
      training.exercise();
      training.finish();
    } catch (Exception failure) {
      training.log.forEach(System.err::println);
      throw failure;
    } finally {
      training.process.destroyForcibly();
    }
  }

  private void awaitReady() throws Exception {
    var ready = new CompletableFuture<Void>();
    Thread.ofPlatform().daemon().start(() -> read(ready));
    ready.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    requests = port("Try: curl http://hello\\.default\\.localhost:(\\d+)/");
  }

  private void read(CompletableFuture<Void> ready) {
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        synchronized (log) {
          log.add(line);
        }
        if (line.contains("Try: curl")) {
          ready.complete(null);
        }
      }
    } catch (IOException closed) {
      ready.completeExceptionally(closed);
    }
    ready.completeExceptionally(new IOException("the activator ended before it was ready"));
  }

  private int port(String pattern) {
    synchronized (log) {
      return log.stream().map(Pattern.compile(pattern)::matcher).filter(Matcher::find)
          .map(found -> Integer.parseInt(found.group(1))).findFirst().orElseThrow();
    }
  }

  private static int freePort() {
    try (var socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException none) {
      throw new UncheckedIOException(none);
    }
  }

  /** A cold start, then warm requests in both versions of HTTP, with bodies and without. */
  private void exercise() throws Exception {
    for (Version version : List.of(Version.HTTP_1_1, Version.HTTP_2)) {
      try (var client = HttpClient.newBuilder().version(version).build()) {
        expect(200, client, hello());
        for (int i = 0; i < ROUNDS; i++) {
          warmUp(client);
        }
        expect(200, client, to(requests, "/").header("K-Kubelet-Probe", "activator"));
        expect(404, client, to(requests, "/"));
        expect(200, client, to(management, "/actuator/health"));
        client.send(to(management, "/metrics").build(), BodyHandlers.discarding());
      }
    }
  }

  /** Some requests at once. A busy machine may fail one; that is no reason to have no image. */
  private void warmUp(HttpClient client) throws InterruptedException {
    var answers = new ArrayList<CompletableFuture<HttpResponse<Void>>>();
    for (int i = 0; i < AT_ONCE; i++) {
      var body = BodyPublishers.ofByteArray(new byte[20_000]);
      var request = i % 4 == 3 ? hello().POST(body) : hello();
      answers.add(client.sendAsync(request.build(), BodyHandlers.discarding()));
    }
    for (var answer : answers) {
      try {
        answer.get();
      } catch (ExecutionException failed) {
        System.err.println("passed over: " + failed.getCause());
      }
    }
  }

  private HttpRequest.Builder hello() {
    // As ingresses ask, since the client sends no Host of ours in HTTP/2.
    return to(requests, "/").header("Knative-Serving-Namespace", "default")
        .header("Knative-Serving-Revision", "hello-00001");
  }

  private static HttpRequest.Builder to(int port, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(PATIENCE);
  }

  private static void expect(int status, HttpClient client, HttpRequest.Builder request)
      throws Exception {
    expect(status, client.send(request.build(), BodyHandlers.discarding()).statusCode());
  }

  private static void expect(int status, int got) {
    if (got != status) {
      throw new IllegalStateException("expected " + status + ", but got " + got);
    }
  }

  /** Ends it as Kubernetes does, and makes the cache of what it noted down. */
  private void finish() throws Exception {
    // Not the process's own destroy(), which closes what it logs to.
    process.toHandle().destroy();
    awaitEnd(process);
    var making = start(command("-XX:AOTMode=create", NOTES, "-XX:AOTCache=activator.aot"));
    var output = new String(making.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    awaitEnd(making);
    Files.deleteIfExists(app.resolve("activator.aot.notes"));
    var cache = app.resolve("activator.aot");
    if (!Files.exists(cache)) {
      throw new IllegalStateException("no cache was made: " + output);
    }
    System.out.println("trained: " + cache + ", " + Files.size(cache) / 1_000_000 + " MB");
  }

  private static void awaitEnd(Process process) throws InterruptedException {
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException("does not end: " + process.info());
    }
  }
}
