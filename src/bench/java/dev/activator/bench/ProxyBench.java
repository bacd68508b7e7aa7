package dev.activator.bench;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.bench.Contestant.Pods;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleFunction;
import org.slf4j.LoggerFactory;

/** The activator next to HAProxy, in turns. {@code bench/proxy} runs it. */
public final class ProxyBench {
  private static final long MILLI = 1_000_000;
  private static final int ROUNDS = setting("ROUNDS", 5);
  private static final int SECONDS = setting("SECONDS", 5);
  private static final int WARM_UP_RUNS = setting("WARM_UP", 12);
  private static final int IDLE_CONNECTIONS = 10_000;
  /** Enough connections that neither proxy waits for the client, few enough to be spread evenly. */
  private static final int PACED_CONNECTIONS = 50;

  private final ProxyStage stage = new ProxyStage();
  private final List<Contestant> contestants = stage.contestants();

  private ProxyBench() throws IOException {}

  /** One run of a load against a proxy. */
  private interface Run {
    Load of(Contestant contestant) throws IOException;
  }

  /** What one run has cost. */
  private record Cost(Load load, double cpuMicros, double residentMebibytes) {}

  public static void main(String[] args) {
    ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws IOException {
    var bench = new ProxyBench();
    bench.start();
    var wanted = args.length == 0
        ? List.of("small", "few", "large", "upload", "h2c", "grpc", "half", "garbage", "idle")
        : List.of(args);
    System.out.printf("%n%d rounds of %d s, medians; load average before: %s%n%n", ROUNDS, SECONDS,
        Files.readString(Path.of("/proc/loadavg")).substring(0, 14));
    System.out.printf("%-28s %-10s %10s %9s %7s %8s %8s %8s %8s %7s%n", "", "", "requests/s",
        "CPU µs", "ratio", "p50 ms", "p90 ms", "p99 ms", "RSS MiB", "errors");
    for (var one : wanted) {
      bench.run(one);
    }
  }

  /** A number in the environment. */
  static int setting(String name, int otherwise) {
    var value = System.getenv(name);
    return value == null ? otherwise : Integer.parseInt(value);
  }

  private void start() throws IOException {
    var environment = System.getenv();
    var flags = environment.getOrDefault("ACTIVATOR_FLAGS", "");
    var other = environment.get("OTHER");
    if (other != null) {
      stage.activator("other", other, environment.getOrDefault("OTHER_FLAGS", flags));
    }
    stage.activator("activator", "target/activator.jar", flags);
    for (var contestant : contestants) {
      for (var pods : Pods.values()) {
        if (pods != Pods.H2C) {
          awaitServed(contestant, pods);
        }
      }
    }
  }

  static void awaitServed(Contestant contestant, Pods pods) throws IOException {
    for (int i = 0; i < 1_200; i++) {
      try {
        var request = (HttpURLConnection) URI.create(contestant.url(pods, "/")).toURL()
            .openConnection();
        contestant.headers(pods)
            .forEach(text -> request.setRequestProperty(text.substring(0, text.indexOf(':')),
                text.substring(text.indexOf(':') + 2)));
        if (request.getResponseCode() == HttpURLConnection.HTTP_OK) {
          return;
        }
      } catch (IOException notYet) {
        // It still starts.
      }
      LockSupport.parkNanos(100 * MILLI);
    }
    throw new IOException(contestant.name() + " does not serve " + pods);
  }

  private void run(String what) throws IOException {
    var upload = Path.of("bench", "peers", "upload.lua").toString();
    switch (what) {
      case "small" -> rounds("GET 100 B, HTTP/1.1", wrk(64, Pods.HTTP1, "/"));
      case "few" -> rounds("  the same, 4 x 10 at once", wrk(64, Pods.FEW, "/"));
      case "large" -> rounds("GET 64 KiB, HTTP/1.1", wrk(64, Pods.HTTP1, "/large"));
      case "upload" -> rounds("POST 1 MiB, HTTP/1.1",
          wrk(16, Pods.HTTP1, "/upload", "-s", upload));
      case "h2c" -> rounds("GET 100 B, HTTP/2", h2load("/"));
      case "grpc" -> rounds("unary call as gRPC's", h2load("/grpc.Service/Unary", "-d", message(),
          "-H", "content-type: application/grpc", "-H", "te: trailers"));
      case "half" -> half();
      case "garbage" -> garbage();
      case "idle" -> idle();
      default -> throw new IllegalArgumentException("no such measurement: " + what);
    }
  }

  private static String message() throws IOException {
    var file = Files.createTempFile("message", "");
    Files.write(file, new byte[25]);
    return file.toString();
  }

  private static Run wrk(int connections, Pods pods, String path, String... more) {
    return contestant -> {
      var arguments = new ArrayList<>(List.of("-c" + connections, "-d" + SECONDS + "s"));
      arguments.addAll(List.of(more));
      arguments.addAll(contestant.headerOptions(pods));
      arguments.add(contestant.url(pods, path));
      return Load.wrk(arguments);
    };
  }

  private static Run h2load(String path, String... more) {
    return contestant -> {
      var arguments = new ArrayList<>(List.of("-c8", "-m8", "-D" + SECONDS));
      arguments.addAll(List.of(more));
      arguments.addAll(contestant.headerOptions(Pods.H2C));
      arguments.add(contestant.url(Pods.H2C, path));
      return Load.h2load(arguments);
    };
  }

  private static Run paced(double perSecond) {
    return contestant -> {
      var arguments = new ArrayList<>(List.of("--h1", "-c" + PACED_CONNECTIONS, "-D" + SECONDS,
          "--rps=" + Math.max(1, Math.round(perSecond / PACED_CONNECTIONS))));
      arguments.addAll(contestant.headerOptions(Pods.HTTP1));
      arguments.add(contestant.url(Pods.HTTP1, "/"));
      return Load.h2load(arguments);
    };
  }

  /** Delays at half the rate that the slower one reaches. */
  private void half() throws IOException {
    double slowest = Double.MAX_VALUE;
    for (var contestant : contestants) {
      var full = wrk(64, Pods.HTTP1, "/");
      full.of(contestant);
      slowest = Math.min(slowest, full.of(contestant).perSecond());
    }
    rounds("at half load, HTTP/1.1", paced(slowest / 2));
  }

  private void rounds(String label, Run run) throws IOException {
    warmUp(run);
    Map<Contestant, List<Cost>> costs = new LinkedHashMap<>();
    for (int i = 0; i < ROUNDS; i++) {
      for (var contestant : contestants) {
        costs.computeIfAbsent(contestant, _ -> new ArrayList<>()).add(cost(contestant, run));
      }
    }
    double peer = median(costs.get(contestants.getFirst()), Cost::cpuMicros);
    costs.forEach((contestant, each) -> System.out.printf(Locale.ROOT,
        "%-28s %-10s %10.0f %9.1f %7.2f %8.2f %8.2f %8.2f %8.1f %7d%n", label, contestant.name(),
        median(each, one -> one.load().perSecond()), median(each, Cost::cpuMicros),
        median(each, Cost::cpuMicros) / peer, median(each, one -> one.load().p50()),
        median(each, one -> one.load().p90()), median(each, one -> one.load().p99()),
        each.stream().mapToDouble(Cost::residentMebibytes).max().orElseThrow(),
        each.stream().mapToLong(one -> one.load().errors()).sum()));
  }

  /** Until the compilers have done what they can, which on a busy machine takes a while. */
  private void warmUp(Run run) throws IOException {
    for (var contestant : contestants) {
      double before = Double.MAX_VALUE;
      double now = cost(contestant, run).cpuMicros();
      for (int i = 1; i < WARM_UP_RUNS && now < 0.95 * before; i++) {
        before = now;
        now = cost(contestant, run).cpuMicros();
      }
    }
  }

  private static Cost cost(Contestant contestant, Run run) throws IOException {
    long before = ProcessCost.cpuMicros(contestant.pid());
    var load = run.of(contestant);
    long used = ProcessCost.cpuMicros(contestant.pid()) - before;
    return new Cost(load, used / (double) load.requests(),
        ProcessCost.residentMebibytes(contestant.pid()));
  }

  private static double median(List<Cost> costs, ToDoubleFunction<Cost> of) {
    var sorted = costs.stream().mapToDouble(of).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  /** What a request leaves for the collector. */
  private void garbage() throws IOException {
    var loads = new LinkedHashMap<String, Run>();
    loads.put("GET 100 B, HTTP/1.1", wrk(64, Pods.HTTP1, "/"));
    loads.put("GET 100 B, HTTP/2", h2load("/"));
    System.out.printf("%n%-28s %-10s %10s%n", "", "", "B/request");
    for (var load : loads.entrySet()) {
      for (var contestant : contestants) {
        if (contestant.isOurs()) {
          load.getValue().of(contestant);
          long before = ProcessCost.allocatedBytes(contestant.pid());
          var seen = load.getValue().of(contestant);
          System.out.printf(Locale.ROOT, "%-28s %-10s %10.0f%n", load.getKey(), contestant.name(),
              (ProcessCost.allocatedBytes(contestant.pid()) - before) / (double) seen.requests());
        }
      }
    }
  }

  /** What connections cost that had one request and are kept open. */
  private void idle() throws IOException {
    System.out.printf("%n%-28s %-10s %10s %10s%n", IDLE_CONNECTIONS + " idle connections", "",
        "MiB more", "MiB");
    for (var contestant : contestants) {
      double before = ProcessCost.residentMebibytes(contestant.pid());
      try (var connections = IdleConnections.open(IDLE_CONNECTIONS,
          contestant.ports().get(Pods.HTTP1), contestant.headers(Pods.HTTP1))) {
        double after = ProcessCost.residentMebibytes(contestant.pid());
        System.out.printf(Locale.ROOT, "%-28s %-10s %10.1f %10.1f%n", connections.count(),
            contestant.name(), after - before, after);
      }
    }
  }
}
