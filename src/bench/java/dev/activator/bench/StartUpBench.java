package dev.activator.bench;

import dev.activator.testing.FreePort;
import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.Certificate;
import dev.activator.testing.SecureApi;
import dev.activator.testing.activators.ActivatorProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import reactor.netty.resources.LoopResources;

/**
 * How long activators take to start in a cluster, what that costs, and how much memory they hold. The
 * API, over TLS and with a token, the autoscaler and the pods are in this process, and the activators, which
 * take turns, in another. {@code bench/start-up cluster} runs it.
 */
final class StartUpBench {
  private static final List<String> COLUMNS = List.of("s until ready", "CPU s", "MiB when ready",
      "of that files", "MiB after load", "of that files");

  private final int rounds;
  private final List<String> contestants;
  private final BenchPod pods = BenchPod.listening(0);
  private final StatsServer autoscaler;

  private record Memory(double all, double files) {}

  private record Round(double ready, double cpu, Memory start, Memory loaded) {
    List<Double> columns() {
      return List.of(ready, cpu, start.all(), start.files(), loaded.all(), loaded.files());
    }
  }

  private StartUpBench(int rounds, List<String> contestants) throws IOException {
    this.rounds = rounds;
    this.contestants = contestants;
    var loops = LoopResources.create("autoscaler", 1, true);
    this.autoscaler = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress("127.0.0.1", 0), _ -> {
        });
    autoscaler.start();
  }

  /** @param args the numbers of revisions, then rounds, then a folder or jar with flags each */
  public static void main(String[] args) {
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws Exception {
    var bench = new StartUpBench(Integer.parseInt(args[1]),
        List.of(args).subList(2, args.length));
    for (String revisions : args[0].split(",")) {
      bench.run(Integer.parseInt(revisions));
    }
  }

  private void run(int revisions) throws Exception {
    var results = new ArrayList<List<Round>>();
    contestants.forEach(_ -> results.add(new ArrayList<>()));
    try (var api = Certificate.rsa().api().forbidSlices()) {
      DefaultConfigMapCreator.createIn(api.store());
      new ManyRevisions(api.store(), pods.port(), 2).create(revisions);
      // The server's side must be warm before.
      once(api, contestants.getFirst(), revisions);
      for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < contestants.size(); i++) {
          var result = once(api, contestants.get(i), revisions);
          System.err.println(contestants.get(i) + " " + result);
          results.get(i).add(result);
        }
      }
    }
    print(revisions, results);
  }

  private void print(int revisions, List<List<Round>> results) {
    System.out.printf("%n| %,d revisions | %s | ratios to the first |%n|%s%n", revisions,
        String.join(" | ", COLUMNS), "---|".repeat(COLUMNS.size() + 2));
    for (int i = 0; i < contestants.size(); i++) {
      var row = new StringBuilder("| ").append(contestants.get(i));
      var ratios = new ArrayList<String>();
      for (int at = 0; at < COLUMNS.size(); at++) {
        int column = at;
        double value = median(results.get(i), round -> round.columns().get(column));
        double first = median(results.getFirst(), round -> round.columns().get(column));
        row.append(String.format(Locale.ROOT, column < 2 ? " | %.2f" : " | %.0f", value));
        ratios.add(String.format(Locale.ROOT, "%.2f", value / first));
      }
      System.out.println(row + " | " + String.join(", ", ratios) + " |");
    }
  }

  private static double median(List<Round> all, ToDoubleFunction<Round> value) {
    var sorted = all.stream().mapToDouble(value).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  private Round once(SecureApi api, String contestant, int revisions) throws Exception {
    int port = FreePort.next();
    var words = new ArrayList<>(List.of(contestant.split(" ")));
    // As users have it, who need not know which kind the ClusterRole allows.
    words.add("-Dactivator.endpoints-source=auto");
    long begun = System.nanoTime();
    var process = ActivatorProcess.of(Path.of(words.getFirst()).toAbsolutePath(),
        words.subList(1, words.size()), api.kubeconfig(), port,
        "ws://127.0.0.1:" + autoscaler.port());
    try {
      ActivatorProcess.awaitReady(port, process);
      double ready = (System.nanoTime() - begun) / 1e9;
      double cpu = ProcessCost.cpuMicros(process.pid()) / 1e6;
      var start = memory(process);
      if (revisions > 0) {
        load(port);
      }
      return new Round(ready, cpu, start, memory(process));
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private static Memory memory(Process process) throws IOException {
    return new Memory(ProcessCost.residentMebibytes(process.pid()),
        ProcessCost.residentFileMebibytes(process.pid()));
  }

  private static void load(int port) throws IOException, InterruptedException {
    int code = new ProcessBuilder("wrk", "-t1", "-c32", "-d5s", "-H",
        "Knative-Serving-Namespace: " + ManyRevisions.NAMESPACE, "-H",
        "Knative-Serving-Revision: " + ManyRevisions.name(0), "http://127.0.0.1:" + port + "/")
        .inheritIO().redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    if (code != 0) {
      throw new IOException("wrk ended with " + code);
    }
  }
}
