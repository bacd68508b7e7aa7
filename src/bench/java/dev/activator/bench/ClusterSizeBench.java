package dev.activator.bench;

import dev.activator.testing.FreePort;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.Certificate;
import dev.activator.testing.SecureApi;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.testing.activators.ActivatorProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/**
 * What an activator costs in clusters of several sizes: to take them in, while nothing happens, and while
 * Endpoints change. The API, over TLS and with a token, and the pods are in this process, the activator is
 * in another. {@code bench/backends cluster} runs it.
 */
final class ClusterSizeBench {
  private static final int CHANGES_PER_SECOND = 1_000;
  private static final int IDLE_CONNECTION_SECONDS = 95;
  private static final long SECOND = 1_000_000_000;

  private final int seconds;
  private final Path program;
  private final List<String> flags;
  private final StatsServer autoscaler;
  private final BenchPod pod = BenchPod.listening(0);
  /** Heap of a cluster without revisions. */
  private double emptyMebibytes;

  private ClusterSizeBench(int seconds, String program) throws IOException {
    this.seconds = seconds;
    var words = program.split(" ");
    this.program = Path.of(words[0]).toAbsolutePath();
    this.flags = Arrays.asList(words).subList(1, words.length);
    var loops = LoopResources.create("autoscaler", 1, true);
    this.autoscaler = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress("127.0.0.1", 0), _ -> {
        });
    autoscaler.start();
  }

  /** @param args seconds of each part, a jar or folder with flags, then sizes as 2000x5 pods */
  public static void main(String[] args) {
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws Exception {
    var bench = new ClusterSizeBench(Integer.parseInt(args[0]), args[1]);
    System.out.printf("| revisions x pods | s until settled | CPU s | heap MiB | KiB a revision "
        + "| %% of a core, idle | scraped each 15 s | %,d changes a second | later |%n%s%n",
        CHANGES_PER_SECOND, "|---".repeat(9) + "|");
    for (var size : Arrays.asList(args).subList(2, args.length)) {
      var parts = size.split("x");
      bench.run(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
    }
  }

  private void run(int revisions, int podsEach) throws Exception {
    try (var api = Certificate.rsa().api()) {
      DefaultConfigMapCreator.createIn(api.store());
      new ManyRevisions(api.store(), pod.port(), podsEach).create(revisions);
      int port = FreePort.next();
      int management = FreePort.next();
      long begun = System.nanoTime();
      var all = new ArrayList<>(flags);
      all.add("-Dserver.port=" + management);
      var process = ActivatorProcess.of(program, all, api.kubeconfig(), port,
          "ws://127.0.0.1:" + autoscaler.port());
      try {
        ActivatorProcess.awaitReady(port, process);
        settle(process.pid());
        double settled = (System.nanoTime() - begun) / 1e9 - 5;
        double cpu = ProcessCost.cpuMicros(process.pid()) / 1e6;
        double idle = percent(process.pid(), () -> pause(seconds));
        double scraped = percent(process.pid(), () -> scrape(management));
        // Until connections of probes are closed.
        pause(Math.max(0, IDLE_CONNECTION_SECONDS - 2 * seconds));
        double heap = ProcessCost.liveHeapMebibytes(process.pid());
        if (revisions == 0) {
          emptyMebibytes = heap;
        }
        double first = revisions == 0 ? 0 : percent(process.pid(), () -> change(api, revisions));
        double storm = revisions == 0 ? 0 : percent(process.pid(), () -> change(api, revisions));
        System.out.printf(Locale.ROOT,
            "| %,d x %d | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.1f | %.1f |%n",
            revisions, podsEach, settled, cpu, heap,
            revisions == 0 ? 0 : (heap - emptyMebibytes) * 1024 / revisions, idle, scraped, first,
            storm);
      } finally {
        process.destroyForcibly().waitFor();
      }
    }
  }

  /** Until it has used less than a twentieth of a core for five seconds. */
  private static void settle(long pid) throws IOException {
    long before;
    do {
      before = ProcessCost.cpuMicros(pid);
      pause(5);
    } while (ProcessCost.cpuMicros(pid) - before > 250_000);
  }

  private interface Part {
    void run() throws Exception;
  }

  private static double percent(long pid, Part part) throws Exception {
    long begun = System.nanoTime();
    long before = ProcessCost.cpuMicros(pid);
    part.run();
    return (ProcessCost.cpuMicros(pid) - before) * 1e5 / (System.nanoTime() - begun);
  }

  private void scrape(int port) throws IOException {
    for (int i = 0; i < seconds / 15; i++) {
      try (var in = URI.create("http://127.0.0.1:" + port + "/metrics").toURL()
          .openStream()) {
        in.transferTo(OutputStream.nullOutputStream());
      }
      pause(15);
    }
  }

  /** One address of one revision at a time leaves or comes back. */
  private void change(SecureApi api, int revisions) {
    var random = new Random(1);
    var gone = new HashMap<String, JsonNode>();
    long begun = System.nanoTime();
    for (long i = 0; i < (long) seconds * CHANGES_PER_SECOND; i++) {
      long early = begun + i * (SECOND / CHANGES_PER_SECOND) - System.nanoTime();
      if (early > 0) {
        LockSupport.parkNanos(early);
      }
      var name = ManyRevisions.name(random.nextInt(revisions)) + "-private";
      api.store().edit(BuiltInKinds.ENDPOINTS, ManyRevisions.NAMESPACE, name, endpoints -> {
        var addresses = (ArrayNode) endpoints.get("subsets").get(0).get("addresses");
        var left = gone.remove(name);
        if (left == null) {
          gone.put(name, addresses.remove(0));
        } else {
          addresses.add(left);
        }
        return endpoints;
      });
    }
    System.err.printf("%.0f changes a second%n",
        seconds * CHANGES_PER_SECOND * 1e9 / (System.nanoTime() - begun));
  }

  private static void pause(int seconds) {
    long until = System.nanoTime() + seconds * SECOND;
    while (System.nanoTime() < until) {
      LockSupport.parkNanos(until - System.nanoTime());
    }
  }
}
