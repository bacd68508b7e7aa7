package dev.activator.bench;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.testing.EmbeddedApi;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the embedded Kubernetes API costs under load: this process is the server and the writer,
 * the watches are in another. {@code bench/watch-cache} runs it.
 */
public final class WatchServerBench {
  private static final int OBJECTS = 10_000;
  private static final int NAMESPACES = 50;
  /** Before what is measured, by the same processes: one that is not compiled yet falls behind. */
  private static final int WARM_UP_SECONDS = 10;
  /** For what was written to arrive. */
  private static final long REST_NANOS = 1_000_000_000;

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final ObjectNode[] objects = new ObjectNode[OBJECTS];

  /** Runs all phases, or those that are named. */
  public static void main(String[] args) {
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws Exception {
    var phases = args.length == 0
        ? List.of("list", "floor", "stress", "idle")
        : List.of(args);
    var bench = new WatchServerBench();
    bench.fill();
    if (phases.contains("list")) {
      bench.list();
    }
    System.out.printf("%n%-30s %10s %12s %9s %9s %9s %9s %7s %9s %9s %7s %8s%n", "load", "writes/s",
        "events/s", "p50 ms", "p90 ms", "p99 ms", "max ms", "ended", "heap MB", "RSS MB", "cores",
        "clients'");
    if (phases.contains("floor")) {
      bench.load(20, 3_000, 15, "20 watches");
    }
    if (phases.contains("stress")) {
      bench.load(100, 5_000, 30, "100 watches");
    }
    if (phases.contains("idle")) {
      bench.load(1_000, 0, 5, "1,000 idle watches");
    }
  }

  private void fill() {
    for (int i = 0; i < OBJECTS; i++) {
      objects[i] = endpoints(i);
      store.create(BuiltInKinds.ENDPOINTS, objects[i]);
    }
  }

  private void list() throws Exception {
    System.out.printf("%-30s %10s %12s%n", "list of " + OBJECTS, "ms", "bytes");
    try (var client = HttpClient.newHttpClient()) {
      for (int i = 1; i <= 10; i++) {
        long start = System.nanoTime();
        var answer = client.send(
            HttpRequest.newBuilder(URI.create(api.url() + "/api/v1/endpoints")).build(),
            BodyHandlers.ofByteArray());
        System.out.printf("%-30s %10.1f %12d%n", "  time " + i,
            (System.nanoTime() - start) / 1e6, answer.body().length);
      }
    }
  }

  private void load(int watches, int writesPerSecond, int seconds, String name) throws Exception {
    var clients = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java")
        .toString(), "-Xmx1g", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow", "-cp", System.getProperty("java.class.path"),
        WatchClients.class.getName(), Integer.toString(api.port()))
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    long idleHeap = heapAfterGc();
    try (var out = new OutputStreamWriter(clients.getOutputStream(), StandardCharsets.US_ASCII);
        var in = clients.inputReader(StandardCharsets.US_ASCII)) {
      ask(out, in, "open " + watches + " " + store.revision());
      write(writesPerSecond, WARM_UP_SECONDS);
      LockSupport.parkNanos(REST_NANOS);
      ask(out, in, "report");
      long cpu = cpuNanos();
      long clientsCpu = cpuNanos(clients);
      long start = System.nanoTime();
      long written = write(writesPerSecond, seconds);
      double took = (System.nanoTime() - start) / 1e9;
      double cores = (cpuNanos() - cpu) / 1e9 / took;
      double clientsCores = (cpuNanos(clients) - clientsCpu) / 1e9 / took;
      LockSupport.parkNanos(REST_NANOS);
      var report = ask(out, in, "report").split(" ");
      System.out.printf("%-30s %10.0f %12.0f %9.2f %9.2f %9.2f %9.2f %7s %9d %9d %7.2f %8.2f%n",
          name,
          written / took, Long.parseLong(report[0]) / took, millis(report[1]), millis(report[2]),
          millis(report[3]), millis(report[4]), report[5],
          writesPerSecond == 0 ? heapAfterGc() - idleHeap : heapAfterGc(),
          residentMegabytes(), cores, clientsCores);
    } finally {
      clients.destroy();
      clients.waitFor();
    }
  }

  private static double millis(String nanos) {
    return Long.parseLong(nanos) / 1e6;
  }

  private static String ask(Writer out, BufferedReader in, String command) throws IOException {
    out.write(command + "\n");
    out.flush();
    return in.readLine();
  }

  /** Writes at this rate; what is late is made up for. */
  private long write(int perSecond, int seconds) {
    long start = System.nanoTime();
    long end = start + seconds * 1_000_000_000L;
    long written = 0;
    while (System.nanoTime() < end) {
      long due = (System.nanoTime() - start) * perSecond / 1_000_000_000L;
      while (written < due) {
        var object = objects[(int) (written * 7_919 % OBJECTS)];
        ((ObjectNode) object.get("metadata").get("annotations")).put("stamp",
            Long.toString(System.nanoTime()));
        store.writes().update(BuiltInKinds.ENDPOINTS, object);
        written++;
      }
      LockSupport.parkNanos(500_000);
    }
    return written;
  }

  private static ObjectNode endpoints(int number) {
    var object = Json.object();
    var metadata = object.putObject("metadata").put("name", "revision-" + number + "-private")
        .put("namespace", "ns-" + number % NAMESPACES);
    metadata.putObject("labels").put("serving.knative.dev/revision", "revision-" + number)
        .put("serving.knative.dev/service", "service-" + number / 2)
        .put("networking.internal.knative.dev/serviceType", "Private")
        .put("serving.knative.dev/revisionUID",
            "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f" + number % 10);
    metadata.putObject("annotations").put("stamp", "0");
    var subset = object.putArray("subsets").addObject();
    var addresses = subset.putArray("addresses");
    for (int pod = 0; pod < 4; pod++) {
      addresses.addObject().put("ip", "10." + number % 256 + "." + pod + ".7")
          .putObject("targetRef")
          .put("kind", "Pod").put("name", "revision-" + number + "-deployment-" + pod);
    }
    subset.putArray("ports").addObject().put("name", "http").put("port", 8_012);
    return object;
  }

  private static long heapAfterGc() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20;
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory
        .getOperatingSystemMXBean()).getProcessCpuTime();
  }

  private static long cpuNanos(Process process) {
    return process.toHandle().info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
  }

  private static long residentMegabytes() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines.filter(line -> line.startsWith("VmRSS")).findFirst()
          .map(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10).orElse(0L);
    }
  }
}
