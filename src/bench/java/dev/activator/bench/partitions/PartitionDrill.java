package dev.activator.bench.partitions;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.bench.Measurement;
import dev.activator.bench.partitions.Road.Direction;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.LoggerFactory;

/**
 * What callers get while one road of the first activator is cut, and for how long. {@code bench/drills/partitions} runs it,
 * in namespaces that it makes.
 */
public final class PartitionDrill {
  private static final int CALLERS_EACH = 4;
  private static final Duration WARM_UP = Duration.ofSeconds(6);
  private static final Duration BEFORE = Duration.ofSeconds(5);
  private static final Duration CUT = Duration.ofSeconds(25);
  private static final Duration AFTER = Duration.ofSeconds(15);
  /** The part of the earlier rate that counts as normal, over this time. */
  private static final double NORMAL = 0.8;
  private static final long WINDOW = TimeUnit.SECONDS.toNanos(2);

  private final List<RoadCallers> callers = new ArrayList<>();

  private PartitionDrill() {}

  /** @param args name and prefix of the network, the program, how many activators, {@code exact} or {@code queue-proxy}, rows such as {@code PEER:BOTH} */
  public static void main(String[] args) {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
    Measurement.runAndExit(() -> new PartitionDrill().run(new Network(args[0], args[1]),
        Path.of(args[2]).toAbsolutePath(), Integer.parseInt(args[3]), args[4],
        List.of(args).subList(5, args.length)));
  }

  private void run(Network network, Path program, int activators, String kind, List<String> rows)
      throws Exception {
    try (var cluster = new PartitionedCluster(network, kind.equals("exact"))) {
      cluster.start(program, activators);
      for (int number = 1; number <= activators; number++) {
        callers.add(new RoadCallers(network, number, CALLERS_EACH));
      }
      pause(WARM_UP);
      System.out.printf("%s, %d activators, %s%n", program.getFileName(), activators, kind);
      System.out.println(
          "| road | dropped | served a second before: cut off, others | in the cut | failed"
              + " | waiting at its end | normal in the cut after | served after it | failed | normal after |");
      System.out.println("|---|---|---|---|---|---|---|---|---|---|");
      for (var row : rows) {
        var parts = row.split(":");
        row(network, activators, Road.valueOf(parts[0]), Direction.valueOf(parts[1]));
      }
      System.out.println("most requests at once at a pod: " + cluster.highestConcurrency());
      callers.forEach(RoadCallers::close);
    }
  }

  private void row(Network network, int activators, Road road, Direction direction)
      throws Exception {
    long before = System.nanoTime();
    pause(BEFORE);
    long cut = System.nanoTime();
    road.apply("add", direction, network, activators);
    pause(CUT);
    var waiting = callers.getFirst().running() + ", " + running(1);
    long healed = System.nanoTime();
    road.apply("del", direction, network, activators);
    pause(AFTER);
    long end = System.nanoTime();
    double usual = NORMAL * count(0, callers.size(), before, cut, true)
        / (double) (cut - before);
    System.out.printf("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |%n", road, direction,
        rates(before, cut), rates(cut, healed), failures(cut, healed), waiting,
        normal(cut, healed, usual), rates(healed, end), failures(healed, end),
        normal(healed, end, usual));
  }

  private int running(int from) {
    return callers.subList(from, callers.size()).stream().mapToInt(RoadCallers::running).sum();
  }

  private int count(int from, int to, long begin, long end, boolean ok) {
    return callers.subList(from, to).stream().mapToInt(one -> one.count(begin, end, ok)).sum();
  }

  private String rates(long begin, long end) {
    double seconds = (end - begin) / 1e9;
    return String.format(Locale.ROOT, "%.0f, %.0f", count(0, 1, begin, end, true) / seconds,
        count(1, callers.size(), begin, end, true) / seconds);
  }

  private String failures(long begin, long end) {
    return count(0, 1, begin, end, false) + ", " + count(1, callers.size(), begin, end, false);
  }

  /** After which the rate of all stays normal, in seconds. */
  private String normal(long begin, long end, double usual) {
    long normalFrom = end;
    for (long at = end - WINDOW; at - begin >= 0; at -= WINDOW / 4) {
      if (count(0, callers.size(), at, at + WINDOW, true) < usual * WINDOW) {
        break;
      }
      normalFrom = at;
    }
    return normalFrom == end
        ? "not"
        : String.format(Locale.ROOT, "%.1f s", (normalFrom - begin) / 1e9);
  }

  private static void pause(Duration time) {
    LockSupport.parkNanos(time.toNanos());
  }
}
