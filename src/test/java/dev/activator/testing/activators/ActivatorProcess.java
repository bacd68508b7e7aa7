package dev.activator.testing.activators;

import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.EmbeddedApi;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** An activator in a process of its own, in cluster mode, on an API of this process. */
public final class ActivatorProcess {
  /** What the manifest allows: heap, collector and threads follow from it. */
  public static final String MEMORY_LIMIT = "-XX:MaxRAM=600m";
  /** Where Knative's activator takes requests. */
  public static final int REFERENCE_PORT = 8012;
  /** The name that an activator knows its autoscaler by. */
  private static final String AUTOSCALER = "autoscaler.knative-serving.svc.cluster.local";
  private static final int AUTOSCALER_PORT = 8080;

  /** The kernel kills it when this process is gone, however it ended. */
  private static final List<String> END_WITH_THIS_PROCESS = Files
      .isExecutable(Path.of("/usr/bin/setpriv"))
          ? List.of("/usr/bin/setpriv", "--pdeathsig", "KILL")
          : List.of();

  private static final HttpClient CLIENT = HttpClient.newBuilder()
      .version(HttpClient.Version.HTTP_1_1).build();

  private ActivatorProcess() {}

  /**
   * Starts one.
   *
   * @param program the end of the command line: a jar or a class, and where it is
   * @param flags of its JVM
   * @param port that it takes requests on; its others are any that are free
   */
  public static Process start(String api, List<String> program, List<String> flags, int port)
      throws IOException {
    var command = new ArrayList<>(ownHosts());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(flags);
    command.addAll(program);
    var builder = new ProcessBuilder(command);
    builder.environment().putAll(environment(kubeconfig(api), port));
    var log = File.createTempFile("activator", ".log");
    System.out.println("an activator logs to " + log);
    var process = builder.redirectErrorStream(true).redirectOutput(log).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    return process;
  }

  /**
   * Starts the one of a folder that {@code bin/image-root} made, as the image does.
   *
   * @param autoscaler the address of its WebSocket
   */
  public static Process ofImage(Path folder, String api, int port, String autoscaler)
      throws IOException {
    return of(folder, List.of(), kubeconfig(api), port, autoscaler);
  }

  /**
   * Starts that of such a folder, or of a jar.
   *
   * @param flags of its JVM, besides those of the folder
   * @param autoscaler the address of its WebSocket
   */
  public static Process of(Path folder, List<String> flags, Path kubeconfig, int port,
      String autoscaler)
      throws IOException {
    return of(END_WITH_THIS_PROCESS, folder, flags, kubeconfig, port, autoscaler);
  }

  /** The same for a cluster without Knative. */
  public static Process standalone(Path folder, List<String> flags, Path kubeconfig, int port)
      throws IOException {
    return start(END_WITH_THIS_PROCESS, folder, flags, kubeconfig, port,
        Map.of("ACTIVATOR_MODE", "standalone"));
  }

  /** The same by a command that runs others, such as in another network. */
  public static Process of(List<String> runner, Path folder, List<String> flags, Path kubeconfig,
      int port, String autoscaler)
      throws IOException {
    return start(runner, folder, flags, kubeconfig, port,
        Map.of("ACTIVATOR_CLUSTER_AUTOSCALER", autoscaler));
  }

  private static Process start(List<String> runner, Path folder, List<String> flags,
      Path kubeconfig, int port, Map<String, String> environment)
      throws IOException {
    var command = new ArrayList<>(runner);
    boolean isFolder = Files.isDirectory(folder);
    command.add(isFolder
        ? folder.resolve("opt/java/bin/java").toString()
        : Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(MEMORY_LIMIT);
    if (isFolder) {
      for (var line : Files.readAllLines(folder.resolve("app/java.options"))) {
        if (line.startsWith("-") && !line.startsWith("-jar")) {
          command.addAll(List.of(line.split(" ")));
        }
      }
    }
    command.addAll(flags);
    command.addAll(List.of("-jar", isFolder ? "activator.jar" : folder.toString()));
    var builder = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(File.createTempFile("activator", ".log"));
    if (isFolder) {
      builder.directory(folder.resolve("app").toFile());
    }
    builder.environment().putAll(environment(kubeconfig, port));
    builder.environment().putAll(environment);
    builder.environment().put("MALLOC_ARENA_MAX", "2");
    var process = builder.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    return process;
  }

  /**
   * Starts Knative's own, whose ports are fixed.
   *
   * @param binary what its {@code cmd/activator} builds; its autoscaler is the one on port 8080
   */
  public static Process reference(Path binary, Path kubeconfig) throws IOException {
    return reference(ownHosts(), binary, kubeconfig, "127.0.0.1");
  }

  /**
   * The same by a command that runs others.
   *
   * @param address its own, by which it finds its part of the pods
   */
  public static Process reference(List<String> runner, Path binary, Path kubeconfig,
      String address)
      throws IOException {
    var command = new ArrayList<>(runner);
    command.addAll(List.of(binary.toString(), "-kubeconfig", kubeconfig.toString()));
    var builder = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(File.createTempFile("reference", ".log"));
    builder.environment().putAll(environment(kubeconfig, REFERENCE_PORT));
    builder.environment().putAll(Map.of("CONFIG_LOGGING_NAME", "config-logging",
        "CONFIG_OBSERVABILITY_NAME", "config-observability", "METRICS_DOMAIN",
        "knative.dev/internal/serving", "POD_IP", address));
    var process = builder.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    return process;
  }

  /** Returns when it is ready. */
  public static void awaitReady(int port, Process process)
      throws IOException, InterruptedException {
    awaitReady("127.0.0.1", port, process);
  }

  /** The same for one that listens on another address of loopback. */
  public static void awaitReady(String host, int port, Process process)
      throws IOException, InterruptedException {
    var probe = HttpRequest.newBuilder(URI.create("http://" + host + ":" + port + "/"))
        .header("K-Kubelet-Probe", "activator").build();
    while (process.isAlive()) {
      try {
        if (CLIENT.send(probe, BodyHandlers.discarding()).statusCode() == 200) {
          return;
        }
      } catch (IOException early) {
        // It does not listen yet.
      }
      LockSupport.parkNanos(5_000_000);
    }
    throw new IOException("the activator has ended");
  }

  /** An API with what every activator reads at its start. */
  public static EmbeddedApi cluster() {
    var api = EmbeddedApi.start();
    DefaultConfigMapCreator.createIn(api.store());
    return api;
  }

  public static Path kubeconfig(String api) throws IOException {
    return Files.writeString(Files.createTempFile("kubeconfig", ".yaml"), """
        apiVersion: v1
        kind: Config
        current-context: here
        clusters: [{name: here, cluster: {server: '%s'}}]
        contexts: [{name: here, context: {cluster: here, user: me}}]
        users: [{name: me, user: {}}]
        """.formatted(api));
  }

  private static Map<String, String> environment(Path kubeconfig, int port) {
    var environment = new HashMap<>(Map.of("KUBECONFIG", kubeconfig.toString(), "ACTIVATOR_MODE",
        "cluster", "POD_NAME", "activator", "POD_IP", "127.0.0.1", "SYSTEM_NAMESPACE",
        "knative-serving", "CLUSTER_DOMAIN", "cluster.local", "SERVER_PORT", "0"));
    environment.putAll(Map.of("ACTIVATOR_PORT_HTTP1", Integer.toString(port), "ACTIVATOR_PORT_H2C",
        "0", "ACTIVATOR_PORT_HTTPS", "0", "PROFILING_PORT", "0", "ACTIVATOR_CONSOLE_PORT", "0",
        "ACTIVATOR_LENDING_PORT", "0", "ACTIVATOR_ENDPOINTS_SOURCE", "endpoints"));
    return environment;
  }

  /** Where an activator that knows its autoscaler by name looks for it. */
  public static InetSocketAddress autoscaler() throws IOException {
    return new InetSocketAddress(
        InetAddress.getByAddress(AUTOSCALER, InetAddress.getByName("127.0.0.1").getAddress()),
        AUTOSCALER_PORT);
  }

  /** What makes a program find the autoscaler on this machine; nothing where that is not allowed. */
  private static List<String> ownHosts() throws IOException {
    var hosts = Files.createTempFile("hosts", "");
    Files.writeString(hosts, "127.0.0.1 localhost " + AUTOSCALER + "\n");
    var prefix = List.of("unshare", "--map-root-user", "--mount", "sh", "-c",
        "mount --bind " + hosts + " /etc/hosts && exec \"$@\"", "sh");
    var trial = new ArrayList<>(prefix);
    trial.add("true");
    try {
      if (new ProcessBuilder(trial).start().waitFor() == 0) {
        return prefix;
      }
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
    System.out.println("no name of its own for the autoscaler: there will be no link to it");
    return List.of();
  }
}
