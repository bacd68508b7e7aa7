package dev.activator.acceptance;

import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The packaged activator as Knative's Deployment runs it: nobody's process, which can write nowhere,
 * with the memory that its limit leaves, and no environment but that of the manifest.
 */
final class DeployedActivator implements AutoCloseable {
  private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java")
      .toString();
  private static final String ROOT = "root";
  private static final HttpClient CLIENT = HttpClient.newBuilder()
      .version(HttpClient.Version.HTTP_1_1).build();

  private final Process process;
  private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
  private final Thread reading;

  private DeployedActivator(Process process) {
    this.process = process;
    this.reading = Thread.ofVirtual().start(this::read);
  }

  /**
   * Starts it.
   *
   * @param directory that anybody may read
   * @param environment besides that of the manifest
   */
  static DeployedActivator start(Path directory, String api, Map<String, String> environment)
      throws IOException {
    var readOnly = Files.createDirectories(directory.resolve("read-only"));
    Files.setPosixFilePermissions(readOnly, PosixFilePermissions.fromString("r-xr-xr-x"));
    // As in ActivatorProcess, the first compiler tier alone.
    var program = List.of(JAVA, "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow", "-Xmx360m", "-XX:MaxDirectMemorySize=120m",
        "-Djava.io.tmpdir=" + readOnly, "-jar", jar(directory).toString());
    return start(program, readOnly, kubeconfig(directory, api), environment);
  }

  /** Starts this program in this folder. */
  static DeployedActivator start(List<String> program, Path folder, Path kubeconfig,
      Map<String, String> environment) throws IOException {
    var command = new ArrayList<>(asNobody());
    command.addAll(program);
    var builder = new ProcessBuilder(command).redirectErrorStream(true)
        .directory(folder.toFile());
    builder.environment().clear();
    builder.environment().putAll(Map.of("GOGC", "500", "POD_NAME", "activator-1", "POD_IP",
        "10.0.0.1", "SYSTEM_NAMESPACE", "knative-serving", "CONFIG_LOGGING_NAME",
        "config-logging", "CONFIG_OBSERVABILITY_NAME", "config-observability"));
    builder.environment().putAll(Map.of("KUBECONFIG", kubeconfig.toString(),
        "ACTIVATOR_PORT_HTTP1", "0", "ACTIVATOR_PORT_H2C", "0", "PROFILING_PORT", "0",
        "SERVER_PORT", "0", "ACTIVATOR_CONSOLE_PORT", "0", "ACTIVATOR_SERVING_PROPAGATIONDELAY",
        "6s"));
    builder.environment().putAll(environment);
    return new DeployedActivator(builder.start());
  }

  /** A user that is not root has no rights already. */
  static List<String> asNobody() {
    return System.getProperty("user.name").equals(ROOT)
        ? List.of("setpriv", "--reuid=65532", "--regid=65532", "--clear-groups", "--no-new-privs")
        : List.of();
  }

  /** Whether the runtime can be used by nobody: one in root's own directory cannot. */
  static boolean isPossible() {
    var command = new ArrayList<>(asNobody());
    command.addAll(List.of(JAVA, "-version"));
    try {
      return new ProcessBuilder(command).redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
    } catch (IOException absent) {
      return false;
    } catch (InterruptedException hurried) {
      throw new AssertionError(hurried);
    }
  }

  private static Path jar(Path directory) throws IOException {
    var copy = directory.resolve("activator.jar");
    if (!Files.exists(copy)) {
      Files.copy(Path.of(System.getProperty("activator.jar")), copy);
      Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("r--r--r--"));
    }
    return copy;
  }

  static Path kubeconfig(Path directory, String api) throws IOException {
    return Files.writeString(directory.resolve("kubeconfig"), """
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "%s"}}]
        contexts: [{name: c, context: {cluster: c, user: u}}]
        current-context: c
        users: [{name: u, user: {}}]
        """.formatted(api));
  }

  /** Waits until the kubelet would call it ready. */
  DeployedActivator ready() {
    await().ignoreExceptions()
        .until(() -> !process.isAlive() || probe().statusCode() == 200);
    if (!process.isAlive()) {
      throw new AssertionError("ended:\n" + log());
    }
    return this;
  }

  /** What the kubelet is told. */
  HttpResponse<String> probe() throws Exception {
    return get(requests(), "/", "User-Agent", "kube-probe/1.34");
  }

  HttpResponse<String> ask(String revision, String path) throws Exception {
    return askLater(revision, path).get(2, TimeUnit.MINUTES);
  }

  CompletableFuture<HttpResponse<String>> askLater(String revision, String path) {
    return getLater(requests(), path, "Knative-Serving-Namespace", "default",
        "Knative-Serving-Revision", revision);
  }

  HttpResponse<String> management(String path) throws Exception {
    return get(port("Metrics and health are on port (\\d+)"), path);
  }

  HttpResponse<String> profiling(String path) throws Exception {
    return get(port("Profiling listens on [0-9.]+:(\\d+)"), path);
  }

  private static HttpResponse<String> get(int port, String path, String... headers)
      throws Exception {
    return getLater(port, path, headers).get(2, TimeUnit.MINUTES);
  }

  private static CompletableFuture<HttpResponse<String>> getLater(int port, String path,
      String... headers) {
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(Duration.ofMinutes(2));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return CLIENT.sendAsync(request.build(), BodyHandlers.ofString());
  }

  private int requests() {
    return port("Listening for requests on [0-9.]+:(\\d+)");
  }

  private int port(String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(log());
    if (!found.find()) {
      throw new IllegalStateException("no line like " + pattern + " in:\n" + log());
    }
    return Integer.parseInt(found.group(1));
  }

  long pid() {
    return process.pid();
  }

  void terminate() {
    // Not by the process itself, which would close its output, too.
    process.toHandle().destroy();
  }

  /** Waits for its end. */
  int exitCode() throws Exception {
    if (!process.waitFor(2, TimeUnit.MINUTES)) {
      throw new AssertionError("still runs:\n" + log());
    }
    reading.join();
    return process.exitValue();
  }

  /** All it has logged. */
  String log() {
    return String.join("\n", lines);
  }

  private void read() {
    try (BufferedReader output = process.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        lines.add(line);
      }
    } catch (IOException closed) {
      lines.add("(log closed: " + closed + ")");
    }
  }

  @Override
  public void close() throws Exception {
    try {
      if (process.isAlive() && log().contains("Metrics and health are on port")) {
        ProcessAtRest.check(port("Metrics and health are on port (\\d+)"));
      }
    } finally {
      process.destroyForcibly().waitFor();
    }
  }
}
