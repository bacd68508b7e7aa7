package dev.activator.bench;

import dev.activator.bench.Contestant.Pods;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.activators.ActivatorProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import reactor.netty.resources.LoopResources;

/** Pods, an API that lists them, an autoscaler that listens, and the proxies in front of all that. */
final class ProxyStage {
  private static final int FIRST_ACTIVATOR_PORT = 18_300;
  private static final int LARGE_BYTES = 64 << 10;
  private static final List<String> PODS = List.of("127.0.1.1", "127.0.1.2", "127.0.1.3",
      "127.0.1.4");

  private final Path peers = Path.of("bench", "peers").toAbsolutePath();
  private final Path work = Files.createDirectories(Path.of("target", "bench", "pods"))
      .toAbsolutePath();
  private final EmbeddedApi api = ActivatorProcess.cluster();
  private final List<Contestant> contestants = new ArrayList<>();

  ProxyStage() throws IOException {
    startPods();
    startAutoscaler();
    revision(Pods.HTTP1, 18_100, "http");
    revision(Pods.FEW, 18_100, "http");
    revision(Pods.H2C, 18_110, "http2");
    startHaproxy();
  }

  List<Contestant> contestants() {
    return contestants;
  }

  /** An activator more, of this jar. */
  void activator(String name, String jar, String flags) throws IOException {
    int port = FIRST_ACTIVATOR_PORT + contestants.size();
    var options = new ArrayList<>(List.of(ActivatorProcess.MEMORY_LIMIT));
    Arrays.stream(flags.split(" ")).filter(flag -> !flag.isEmpty()).forEach(options::add);
    var process = ActivatorProcess.start(api.url(), List.of("-jar", jar), options, port);
    var ports = new EnumMap<Pods, Integer>(Pods.class);
    Arrays.stream(Pods.values()).forEach(pods -> ports.put(pods, port));
    contestants.add(new Contestant(name, process.pid(), ports, true));
  }

  private void startPods() throws IOException {
    Files.write(work.resolve("large"), new byte[LARGE_BYTES]);
    Files.deleteIfExists(work.resolve("sink.sock"));
    var asRoot = System.getProperty("user.name").equals("root") ? "user root;" : "";
    start("nginx", "-p", work.toString(), "-c", peers.resolve("nginx.conf").toString(), "-g",
        asRoot);
  }

  private void startHaproxy() throws IOException {
    var process = start("haproxy", "-db", "-f", peers.resolve("haproxy.cfg").toString());
    contestants.add(new Contestant("haproxy", process.pid(),
        Map.of(Pods.HTTP1, 18_200, Pods.FEW, 18_201, Pods.H2C, 18_202), false));
  }

  private Process start(String... command) throws IOException {
    var log = File.createTempFile(command[0], ".log");
    var process = new ProcessBuilder(command).directory(work.toFile()).redirectErrorStream(true)
        .redirectOutput(log).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    return process;
  }

  private static void startAutoscaler() throws IOException {
    var loops = LoopResources.create("autoscaler", 1, true);
    new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        ActivatorProcess.autoscaler(), _ -> {
        }).start();
  }

  /** A revision that never has a pod. */
  void revisionAtZero(String name) {
    revision(name, 0, "http1");
  }

  private void revision(String name, int containerConcurrency, String portName) {
    api.store().create(BuiltInKinds.REVISION, Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': 'bench', 'name': '%s'},
         'spec': {'timeoutSeconds': 3600, 'containerConcurrency': %d, 'containers':
                  [{'image': 'nginx', 'ports': [{'name': '%s', 'containerPort': 8080}]}]}}
        """.formatted(name, containerConcurrency, portName)));
  }

  private void revision(Pods pods, int port, String portName) {
    revision(pods.revision(), pods.containerConcurrency(),
        portName.equals("http") ? "http1" : "h2c");
    var metadata = """
        'metadata': {'namespace': 'bench', 'name': '%s-private', 'labels':
         {'serving.knative.dev/revision': '%s', 'serving.knative.dev/revisionUID': 'uid',
          'networking.internal.knative.dev/serviceType': 'Private'}}
        """.formatted(pods.revision(), pods.revision());
    var ports = "'ports': [{'name': '" + portName + "', 'port': " + port + "}]";
    api.store().create(BuiltInKinds.SERVICE, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Service', %s, 'spec': {'clusterIP': 'None', %s}}
        """.formatted(metadata, ports)));
    var addresses = PODS.stream().map(ip -> "{'ip': '" + ip + "'}").toList();
    api.store().create(BuiltInKinds.ENDPOINTS, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints', %s, 'subsets': [{'addresses': %s, %s}]}
        """.formatted(metadata, addresses, ports)));
  }
}
