package dev.activator.bench;

import dev.activator.standalone.autoscaler.StatsServer;
import dev.activator.embedded.runtime.DefaultConfigMapCreator;
import dev.activator.testing.Certificate;
import dev.activator.testing.FreePort;
import dev.activator.testing.activators.ActivatorProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import reactor.netty.resources.LoopResources;

/**
 * What one start in cluster mode does, in order: from its log, with Spring's lines about beans, and from the JVM's
 * about classes. Writing them makes the start longer, so only the proportions count. {@code bench/start-up --explain}
 * runs it.
 */
final class StartUpTimeline {
  private static final Pattern LINE = Pattern.compile(
      "\"timestamp\":\"([^\"]+)\".*?\"message\":\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final Pattern BEAN = Pattern
      .compile("Creating shared instance of singleton bean '([^']+)'");
  private static final Pattern CLASS = Pattern
      .compile("\\[([0-9.]+)s\\]\\s*(?:\\[[^]]*\\]\\s*)*([\\w.$/+]+) source: (.*)");
  private static final int SLICE_MILLIS = 100;
  private static final int SHOWN = 25;

  private StartUpTimeline() {}

  /** @param millis since the process began */
  record Step(double millis, String what) {}

  /** @param millis since the JVM began */
  record LoadedClass(double millis, String name, boolean fromCache) {}

  /** @param args the number of revisions, then a folder or jar with flags */
  public static void main(String[] args) {
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws Exception {
    var words = args[1].split(" ");
    var classes = Files.createTempFile("classes", ".log");
    var flags = new ArrayList<>(Arrays.asList(words).subList(1, words.length));
    flags.add("-Xlog:class+load=info:file=" + classes + ":uptime:filecount=0");
    flags.add("-Dlogging.level.org.springframework.beans.factory.support=DEBUG");
    flags.add("-Dlogging.level.dev.activator.lifecycle=DEBUG");
    flags.add("-Dactivator.endpoints-source=auto");
    var loops = LoopResources.create("autoscaler", 1, true);
    var autoscaler = new StatsServer(loops.onServer(LoopResources.DEFAULT_NATIVE),
        new InetSocketAddress("127.0.0.1", 0), _ -> {
        });
    autoscaler.start();
    try (var api = Certificate.rsa().api().forbidSlices(); var pods = BenchPod.listening(0)) {
      DefaultConfigMapCreator.createIn(api.store());
      new ManyRevisions(api.store(), pods.port(), 2).create(Integer.parseInt(args[0]));
      // The second is shown: the server's side must be warm.
      for (int round = 0; round < 2; round++) {
        int port = FreePort.next();
        var begun = Instant.now();
        var process = ActivatorProcess.of(Path.of(words[0]).toAbsolutePath(), flags,
            api.kubeconfig(), port, "ws://127.0.0.1:" + autoscaler.port());
        try {
          ActivatorProcess.awaitReady(port, process);
          double ready = millis(begun, Instant.now());
          double cpu = ProcessCost.cpuMicros(process.pid()) / 1e3;
          if (round == 1) {
            var log = Path.of("/proc/" + process.pid() + "/fd/1").toRealPath();
            print(ready, cpu, steps(begun, Files.readAllLines(log)),
                classes(Files.readAllLines(classes)));
          }
        } finally {
          process.destroyForcibly().waitFor();
        }
      }
    }
  }

  private static double millis(Instant from, Instant to) {
    return Duration.between(from, to).toNanos() / 1e6;
  }

  /** Beans by name, other lines as they are. */
  static List<Step> steps(Instant begun, List<String> log) {
    var steps = new ArrayList<Step>();
    for (var line : log) {
      var found = LINE.matcher(line);
      if (found.find()) {
        var bean = BEAN.matcher(found.group(2));
        steps.add(new Step(millis(begun, Instant.parse(found.group(1))),
            bean.find() ? "bean " + bean.group(1) : found.group(2)));
      }
    }
    return steps;
  }

  static List<LoadedClass> classes(List<String> log) {
    return log.stream().map(CLASS::matcher).filter(found -> found.find())
        .map(found -> new LoadedClass(Double.parseDouble(found.group(1)) * 1e3, found.group(2),
            found.group(3).contains("shared objects file")))
        .toList();
  }

  private static void print(double ready, double cpu, List<Step> steps,
      List<LoadedClass> classes) throws IOException {
    System.out.printf(Locale.ROOT, "ready after %.0f ms, %.0f ms of CPU%n%n", ready, cpu);
    printSlices(ready, steps, classes);
    System.out.printf("%nThe longest steps: from a line to the next one%n%n| at ms | ms | step |%n"
        + "|---|---|---|%n");
    longest(ready, steps).forEach((step, took) -> System.out.printf(Locale.ROOT,
        "| %.0f | %.0f | %s |%n", step.millis(), took, shortened(step.what())));
    System.out.printf("%n| classes | in the cache | loaded from jars |%n|---|---|---|%n");
    byPackage(classes).forEach((name, count) -> System.out.printf("| %s | %d | %d |%n", name,
        count[0], count[1]));
  }

  private static void printSlices(double ready, List<Step> steps, List<LoadedClass> classes) {
    System.out.printf("| ms | classes in the cache | from jars | beans | last step |%n"
        + "|---|---|---|---|---|%n");
    for (int from = 0; from < ready; from += SLICE_MILLIS) {
      int begin = from;
      var loaded = classes.stream().filter(one -> isIn(one.millis(), begin)).toList();
      var done = steps.stream().filter(step -> isIn(step.millis(), begin)).toList();
      System.out.printf("| %d | %d | %d | %d | %s |%n", from,
          loaded.stream().filter(LoadedClass::fromCache).count(),
          loaded.stream().filter(one -> !one.fromCache()).count(),
          done.stream().filter(step -> step.what().startsWith("bean ")).count(),
          done.isEmpty() ? "" : shortened(done.getLast().what()));
    }
  }

  private static boolean isIn(double millis, int begin) {
    return millis >= begin && millis < begin + SLICE_MILLIS;
  }

  /** Steps and their milliseconds, the longest first; what comes before the first line is one, too. */
  static Map<Step, Double> longest(double ready, List<Step> steps) {
    var all = new ArrayList<>(List.of(new Step(0, "until the first line")));
    steps.stream().filter(step -> step.millis() <= ready)
        .sorted(Comparator.comparingDouble(Step::millis)).forEach(all::add);
    var took = new LinkedHashMap<Step, Double>();
    for (int i = 0; i < all.size(); i++) {
      double end = i + 1 < all.size() ? all.get(i + 1).millis() : ready;
      took.put(all.get(i), end - all.get(i).millis());
    }
    return took.entrySet().stream()
        .sorted(Map.Entry.<Step, Double>comparingByValue().reversed()).limit(SHOWN)
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (one, _) -> one,
            LinkedHashMap::new));
  }

  /** By the first two parts of the name. */
  private static Map<String, int[]> byPackage(List<LoadedClass> classes) {
    var counts = new TreeMap<String, int[]>();
    for (var one : classes) {
      var parts = one.name().split("[./]");
      var name = parts.length > 2 ? parts[0] + "." + parts[1] : parts[0];
      counts.computeIfAbsent(name, _ -> new int[2])[one.fromCache() ? 0 : 1]++;
    }
    return counts.entrySet().stream()
        .sorted(Comparator.comparingInt(entry -> -entry.getValue()[0] - entry.getValue()[1]))
        .limit(SHOWN).collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue,
            (one, _) -> one, LinkedHashMap::new));
  }

  private static String shortened(String text) {
    return text.length() > 90 ? text.substring(0, 90) + "…" : text;
  }
}
