package dev.activator.acceptance;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The packaged activator, in a process of its own, as a user starts it. */
final class ActivatorProcess implements AutoCloseable {
  private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java")
      .toString();
  private static final Map<String, String> FREE_PORTS = Map.of("SERVER_PORT", "0",
      "ACTIVATOR_PORT_HTTP1", "0", "ACTIVATOR_PORT_H2C", "0", "ACTIVATOR_PORT_HTTPS", "0",
      "ACTIVATOR_PROFILING_PORT", "0", "ACTIVATOR_EMBEDDED_APIPORT", "0",
      "ACTIVATOR_EMBEDDED_AUTOSCALERPORT", "0", "ACTIVATOR_LENDING_PORT", "0");

  /** With the first compiler tier alone: most processes end before the second would pay. */
  private static final List<String> PACKAGED = List.of(JAVA, "-XX:TieredStopAtLevel=1",
      "--enable-native-access=ALL-UNNAMED",
      "--sun-misc-unsafe-memory-access=allow", "-jar", System.getProperty("activator.jar"));

  private final Process process;
  private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<Void> ready = new CompletableFuture<>();

  private ActivatorProcess(List<String> arguments, Map<String, String> environment) {
    this(PACKAGED, Path.of("."), arguments, environment);
  }

  private ActivatorProcess(List<String> program, Path directory, List<String> arguments,
      Map<String, String> environment) {
    var command = new ArrayList<>(program);
    command.addAll(arguments);
    var builder = new ProcessBuilder(command).directory(directory.toFile())
        .redirectErrorStream(true);
    builder.environment().keySet().removeAll(List.of("KUBECONFIG", "KUBERNETES_SERVICE_HOST"));
    builder.environment().putAll(FREE_PORTS);
    builder.environment().putAll(environment);
    try {
      process = builder.start();
    } catch (IOException failure) {
      throw new AssertionError("no activator from " + command, failure);
    }
    Thread.ofVirtual().start(this::read);
  }

  /** One that was started with free ports and these arguments, which win over them. */
  static ActivatorProcess started(String... arguments) {
    return new ActivatorProcess(List.of(arguments), Map.of());
  }

  static ActivatorProcess startedIn(Map<String, String> environment, String... arguments) {
    return new ActivatorProcess(List.of(arguments), environment);
  }

  /** One that this program is, started in this directory. */
  static ActivatorProcess startedAs(List<String> program, Path directory,
      Map<String, String> environment) {
    return new ActivatorProcess(program, directory, List.of(), environment);
  }

  /** Waits until it says how to try it. */
  ActivatorProcess ready() throws Exception {
    ready.get(2, TimeUnit.MINUTES);
    return this;
  }

  /** Where requests are taken. */
  int requestPort() {
    return port("Try: curl http://hello\\.default\\.localhost:(\\d+)/");
  }

  /** The base URL of its Kubernetes API. */
  String api() {
    return "http://127.0.0.1:" + port("List: kubectl -s http://127\\.0\\.0\\.1:(\\d+)");
  }

  /** Waits for its end. */
  int exitCode() throws Exception {
    if (!process.waitFor(2, TimeUnit.MINUTES)) {
      throw new AssertionError("still runs:\n" + log());
    }
    ready.exceptionally(_ -> null).join();
    return process.exitValue();
  }

  /** All it has logged. */
  String log() {
    return String.join("\n", lines);
  }

  /** Processes it started that still run. */
  List<ProcessHandle> children() {
    return process.descendants().toList();
  }

  long pid() {
    return process.pid();
  }

  /** SIGTERM. What it logs from then on is read, as it would not be after {@code destroy()}. */
  void terminate() {
    process.toHandle().destroy();
  }

  /** The port that the log names behind this. */
  int port(String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(log());
    if (!found.find()) {
      throw new AssertionError("no line like " + pattern + " in:\n" + log());
    }
    return Integer.parseInt(found.group(1));
  }

  private void read() {
    try (BufferedReader output = process.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        lines.add(line);
        if (line.contains("Try: curl")) {
          ready.complete(null);
        }
      }
    } catch (IOException closed) {
      lines.add("(log closed: " + closed + ")");
    }
    ready.completeExceptionally(new AssertionError("ended before it was ready:\n" + log()));
  }

  @Override
  public void close() throws Exception {
    try {
      if (process.isAlive() && log().contains("Metrics and health are on port")) {
        ProcessAtRest.check(port("Metrics and health are on port (\\d+)"));
      }
    } finally {
      end();
    }
  }

  private void end() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
  }
}
