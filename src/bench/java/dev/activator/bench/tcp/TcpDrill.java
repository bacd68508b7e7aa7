package dev.activator.bench.tcp;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.activator.bench.Drill;
import dev.activator.bench.Measurement;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.LoggerFactory;

/**
 * Whether connections over TCP lose a byte or get one twice, whether a pod ever has more than its limit, and what is
 * left behind, while pods and activators are killed, the leader changes, and the workload goes to zero.
 * {@code bench/drills/tcp} runs it.
 */
public final class TcpDrill extends Drill {
  /** More than all pods may have. */
  private static final int CLIENTS = 2 * TcpCluster.LIMIT * TcpCluster.MAX_PODS;
  private static final int BURST = 180;
  /** While one is replaced, two are left. */
  private static final int ACTIVATORS = 3;
  private static final Duration REST = Duration.ofSeconds(90);
  /** The limit of a part, however often something happened. */
  private static final Duration LIMIT = Duration.ofMinutes(10);
  /** One of so many kills of an activator waits until the others have its permits. */
  private static final int MEASURED_KILLS = 20;

  /** What happens meanwhile, again and again; returns how often it has happened. */
  private interface Trouble {
    int cause(TcpCluster cluster, Random random) throws Exception;
  }

  private final Path program;
  private final int count;
  /** How long after some kills of an activator the others had all places of the pods. */
  private final List<Long> untilFull = new ArrayList<>();

  private TcpDrill(Path program, int count) {
    this.program = program;
    this.count = count;
  }

  /** @param args a folder or a jar, then how often it happens in each part, then the parts */
  public static void main(String[] args) {
    // Connections that are reset are part of it.
    ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
    Measurement.checkAndExit(
        () -> new TcpDrill(Path.of(args[0]).toAbsolutePath(), Integer.parseInt(args[1]))
            .run(List.of(args).subList(2, args.length)));
  }

  private boolean run(List<String> parts) throws Exception {
    System.out.println("| part | connections | whole | left early | in a killed pod | in a killed"
        + " activator | lost | at once at a pod | first byte in ms: median | 99th percentile"
        + " | longest | while a place was free: median | 99th percentile"
        + " | a pod listens until it has a client: median | 90th percentile | |");
    System.out.println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (var part : parts) {
      switch (part) {
        case "calm" -> load(part, "pauses of 10 ms", (_, _) -> {
          pause(10);
          return 1;
        });
        case "pods" -> load(part, "pods killed", (cluster, random) -> {
          int before = cluster.podKills();
          cluster.killPod();
          pause(random.nextInt(100));
          return cluster.podKills() - before;
        });
        case "activators" -> {
          load(part, "activators killed", (cluster, random) -> {
            pause(random.nextInt(500));
            var one = cluster.activators().get(random.nextInt(cluster.activators().size()));
            cluster.kill(one);
            if (random.nextInt(MEASURED_KILLS) == 0) {
              awaitFull(cluster);
            }
            cluster.replace(one);
            return 1;
          });
          var nanos = untilFull.stream().mapToLong(Long::longValue).sorted().toArray();
          System.out.printf(Locale.ROOT, "the others have all places after, in ms: median %.0f,"
              + " longest %.0f, %d times%n", millis(nanos, 0.5), millis(nanos, 1), nanos.length);
        }
        case "leader" -> load(part, "changes of the leader", (cluster, random) -> {
          pause(random.nextInt(100));
          var others = cluster.activators().stream()
              .filter(one -> !one.name.equals(cluster.leader())).toList();
          cluster.changeLeader(others.get(random.nextInt(others.size())));
          return 1;
        });
        case "zero" -> zero();
        default -> throw new IllegalArgumentException(
            part + " is none of calm, pods, activators, leader and zero");
      }
    }
    return isPassed();
  }

  private void load(String part, String what, Trouble trouble) throws Exception {
    var records = new PodRecords();
    try (var cluster = new TcpCluster(program, records)) {
      for (int i = 0; i < ACTIVATORS; i++) {
        cluster.start();
      }
      var clients = new NumberedClients(cluster, records, CLIENTS);
      var isOver = new AtomicBoolean();
      var sender = Thread.ofVirtual().start(() -> {
        while (!isOver.get()) {
          clients.connect();
        }
      });
      int times = 0;
      var random = new Random(1);
      for (long end = System.nanoTime() + LIMIT.toNanos(); times < count
          && System.nanoTime() < end;) {
        times += trouble.cause(cluster, random);
      }
      isOver.set(true);
      sender.join();
      clients.awaitEnd(CLIENTS);
      finish(part, cluster, records, clients, times + " " + what);
    }
  }

  /** The permits of an activator that was killed come to those that are left. */
  private void awaitFull(TcpCluster cluster) {
    long begun = System.nanoTime();
    // The pods have to see first that its connections have ended.
    pause(100);
    while (!cluster.isFull() && System.nanoTime() - begun < REST.toNanos()) {
      pause(1);
    }
    check(cluster.isFull(), "the permits of a killed activator did not come back");
    untilFull.add(System.nanoTime() - begun);
  }

  /** Bursts of connections begin when the workload is scaled to zero, or a moment before or after. */
  private void zero() throws Exception {
    var records = new PodRecords();
    try (var cluster = new TcpCluster(program, records)) {
      cluster.start();
      cluster.start();
      var clients = new NumberedClients(cluster, records, CLIENTS);
      var zeros = new LinkedBlockingQueue<Long>();
      cluster.onZero(() -> zeros.add(System.nanoTime()));
      var random = new Random(1);
      long end = System.nanoTime() + LIMIT.toNanos();
      for (int i = 0; cluster.zeros() < count && System.nanoTime() < end; i++) {
        for (int j = 0; j < BURST; j++) {
          clients.connect();
        }
        clients.awaitEnd(CLIENTS);
        if (i % 2 == 0) {
          check(zeros.poll(REST.toSeconds(), TimeUnit.SECONDS) != null,
              "it was not scaled to zero");
          pause(random.nextInt(30));
        } else {
          // A little before or after the window of six seconds.
          pause(5500 + random.nextInt(1500));
        }
        zeros.clear();
      }
      finish("zero", cluster, records, clients, cluster.zeros() + " times at zero");
    }
  }

  private void finish(String part, TcpCluster cluster, PodRecords records, NumberedClients clients,
      String note) throws Exception {
    var left = left(cluster);
    clients.checkWhole();
    var waits = clients.waits();
    var besideFree = clients.waitsBesideFree();
    var untilFirst = cluster.nanosUntilFirst();
    System.out.printf(Locale.ROOT, "| %s | %d | %s | %d | %d | %.1f | %.1f | %.1f | %.1f"
        + " | %.1f | %.1f | %.1f | %s |%n", part,
        clients.connections(), clients.counts(), clients.lost().size(), records.most(),
        millis(waits, 0.5), millis(waits, 0.99), millis(waits, 1),
        millis(besideFree, 0.5), millis(besideFree, 0.99),
        millis(untilFirst, 0.5), millis(untilFirst, 0.9), note);
    clients.lost().stream().limit(10).forEach(System.out::println);
    records.wrong().stream().limit(10).forEach(System.out::println);
    check(clients.lost().isEmpty(), "connections were lost");
    check(records.wrong().isEmpty(), "bytes were lost, or came twice");
    check(records.most() <= TcpCluster.LIMIT, "a pod had more than its limit");
    check(left.isEmpty(), "it is not at rest: " + left);
  }

  /** What does not end within the time for it. */
  private static List<String> left(TcpCluster cluster) throws Exception {
    for (long end = System.nanoTime() + REST.toNanos();; pause(200)) {
      var left = new ArrayList<String>(cluster.wantedPods() == 0 ? List.of() : List.of("pods"));
      for (var one : cluster.activators()) {
        left.addAll(cluster.notAtRest(one));
      }
      if (left.isEmpty() || System.nanoTime() > end) {
        return left;
      }
    }
  }

  private static void pause(long millis) {
    LockSupport.parkNanos(millis * 1_000_000);
  }
}
