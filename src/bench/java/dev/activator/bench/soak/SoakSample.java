package dev.activator.bench.soak;

import dev.activator.bench.ProcessCost;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * What an activator holds at a moment, after a collection.
 *
 * @param seconds since the load began
 * @param heap bytes of all objects that live, without the chunks of Netty's pool, which is their cache
 * @param resident MiB
 * @param direct bytes of direct memory that Netty has reserved
 * @param gauges what must be zero when there is no request, by name; sums over their series
 * @param series names of revisions that meters have series of
 * @param objects live objects of each class: how many, and their bytes
 */
record SoakSample(double seconds, long heap, double resident, long descriptors, long threads,
    long direct, Map<String, Double> gauges, Set<String> series, Map<String, long[]> objects) {
  /** Of a request, of a message or of a connection: all are gone when the callers are. */
  private static final List<String> ZERO_AT_REST = List.of("kn_revision_request_queued",
      "kn_revision_request_active", "activator_queue_depth", "activator_queue_oldest_age_seconds",
      "activator_queue_newest_first", "activator_held_memory_bytes",
      "activator_unread_memory_bytes", "activator_informer_queued",
      "activator_informer_handler_pending");
  private static final String USED = "netty_allocator_memory_used";
  private static final String PINNED = "netty_allocator_memory_pinned";
  /** What the serial collector fills gaps with that it does not close. */
  private static final String GAP = "[Ljdk.internal.vm.FillerElement;";
  private static final Pattern ROW = Pattern.compile("\\s*\\d+:\\s+(\\d+)\\s+(\\d+)\\s+(\\S+).*");
  private static final Pattern REVISION = Pattern.compile("kn_revision_name=\"([^\"]*)\"");
  private static final Pattern IN_FLIGHT = Pattern.compile("\"inFlight\":(\\d+)");
  private static final Path JCMD = Path.of(System.getProperty("java.home"), "bin", "jcmd");

  /** @param management the port of its metrics */
  static SoakSample of(long pid, int management, double seconds) throws IOException {
    var objects = objects(pid);
    var gauges = new TreeMap<String, Double>();
    ZERO_AT_REST.forEach(name -> gauges.put(name, 0.0));
    var series = new TreeSet<String>();
    double direct = 0;
    double pooled = 0;
    for (var line : lines(management, "/metrics")) {
      int end = line.lastIndexOf(' ');
      int labels = line.indexOf('{');
      if (line.startsWith("#") || end < 0) {
        continue;
      }
      var name = line.substring(0, labels < 0 ? end : labels);
      double value = Double.parseDouble(line.substring(end + 1));
      var revision = REVISION.matcher(line);
      if (revision.find()) {
        series.add(revision.group(1));
      }
      if (name.startsWith(PINNED)) {
        gauges.merge(PINNED, value, Double::sum);
      } else if (gauges.containsKey(name)) {
        gauges.merge(name, value, Double::sum);
      } else if (name.startsWith(USED) && line.contains("memory_type=\"direct\"")) {
        direct += value;
      } else if (name.startsWith(USED)) {
        pooled += value;
      }
    }
    long heap = objects.values().stream().mapToLong(each -> each[1]).sum();
    return new SoakSample(seconds, heap - (long) pooled, ProcessCost.residentMebibytes(pid),
        descriptors(pid),
        threads(pid), (long) direct, gauges, series, objects);
  }

  /** Permits that are taken of these revisions; for the last question, since its first answer loads classes. */
  static List<String> permits(int management, Set<String> revisions) throws IOException {
    var taken = new ArrayList<String>();
    for (var revision : new TreeSet<>(revisions)) {
      var report = String.join("", lines(management,
          "/actuator/activator/" + SoakCluster.NAMESPACE + "/" + revision));
      int permits = IN_FLIGHT.matcher(report).results()
          .mapToInt(found -> Integer.parseInt(found.group(1))).max().orElse(-1);
      if (permits != 0) {
        taken.add("permits of " + revision + " that are taken: " + permits);
      }
    }
    return taken;
  }

  /** Live objects only, which makes the JVM collect first. */
  private static Map<String, long[]> objects(long pid) throws IOException {
    var jcmd = new ProcessBuilder(JCMD.toString(), "-J-XX:TieredStopAtLevel=1",
        "-J-XX:+UseSerialGC", Long.toString(pid), "GC.class_histogram").redirectErrorStream(true)
        .start();
    var objects = new HashMap<String, long[]>();
    try (var lines = jcmd.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        var row = ROW.matcher(line);
        if (row.matches() && !row.group(3).equals(GAP)) {
          objects.put(row.group(3),
              new long[]{Long.parseLong(row.group(1)), Long.parseLong(row.group(2))});
        }
      }
    }
    if (objects.isEmpty()) {
      throw new IOException("jcmd gives no objects of process " + pid);
    }
    return objects;
  }

  private static List<String> lines(int management, String path) throws IOException {
    try (var in = URI.create("http://127.0.0.1:" + management + path).toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  private static long descriptors(long pid) throws IOException {
    try (var all = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      return all.count();
    }
  }

  private static long threads(long pid) throws IOException {
    try (var all = Files.list(Path.of("/proc/" + pid + "/task"))) {
      return all.count();
    }
  }

  double heapMebibytes() {
    return heap / 1048576.0;
  }

  double directMebibytes() {
    return direct / 1048576.0;
  }

  long count(String type) {
    return objects.getOrDefault(type, new long[2])[0];
  }

  long bytes(String type) {
    return objects.getOrDefault(type, new long[2])[1];
  }

  /** What is not zero, or belongs to a revision that is gone; empty at rest. */
  List<String> remains(Set<String> revisions) {
    var remains = new ArrayList<String>();
    gauges.forEach((name, value) -> {
      if (value != 0) {
        remains.add("%s is %.0f".formatted(name, value));
      }
    });
    var gone = new TreeSet<>(series);
    gone.removeAll(revisions);
    if (!gone.isEmpty()) {
      remains.add("series of " + gone.size() + " deleted revisions, such as " + gone.first());
    }
    return remains;
  }
}
