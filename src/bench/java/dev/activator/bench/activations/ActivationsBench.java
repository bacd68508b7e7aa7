package dev.activator.bench.activations;

import dev.activator.bench.Measurement;
import dev.activator.bench.PodSource;
import dev.activator.bench.ProcessCost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Many revisions start from zero each second: what the activator's part of it takes. Each activator has a cluster
 * of its own; they take turns. {@code bench/activations} runs it.
 */
final class ActivationsBench {
  private static final int SECONDS = 10;
  private static final int LOST_AFTER_SECONDS = 30;
  private static final int WARM_UP_RATE = 100;
  private static final double BOUND_MILLIS = 50;

  private final int revisions;
  private final List<ClusterAtZero> clusters = new ArrayList<>();
  private final Random random = new Random(1);
  /** The highest rate at which p99 was within the bound, by contestant. */
  private final Map<String, Integer> withinBound = new LinkedHashMap<>();

  private ActivationsBench(PodSource source, int revisions, double startMillis,
      List<String> programs) throws Exception {
    this.revisions = revisions;
    for (var program : programs) {
      clusters.add(new ClusterAtZero(program, source, revisions,
          new StartDelays(revisions, startMillis, 1)));
    }
  }

  /** @param args rates or "trace", endpoints or slices, then a folder or jar with flags each */
  public static void main(String[] args) {
    Measurement.runAndExit(() -> measure(args));
  }

  private static void measure(String[] args) throws Exception {
    var programs = new ArrayList<>(Arrays.asList(args).subList(2, args.length));
    if (System.getenv("REFERENCE") != null) {
      programs.addFirst(ClusterAtZero.REFERENCE);
    }
    var bench = new ActivationsBench(PodSource.of(args[1]), (int) setting("REVISIONS", 5_000),
        setting("START", -1), programs);
    for (var cluster : bench.clusters) {
      bench.stage(cluster, WARM_UP_RATE);
    }
    if (args[0].equals("trace")) {
      new TraceStage((long) setting("SEED", 1), bench.revisions, setting("RATE", 200),
          setting("SECONDS", 60)).run(bench.clusters);
    } else {
      bench.run(Arrays.stream(args[0].split(",")).map(Integer::parseInt).toList());
    }
  }

  private static double setting(String name, double usual) {
    var value = System.getenv(name);
    return value == null ? usual : Double.parseDouble(value);
  }

  private void run(List<Integer> rates) throws Exception {
    System.out.println("| a second | activator | lost | statistic - arrival: p50, p99 ms "
        + "| first byte - pod listens: p50, p90, p99, max ms | CPU us each | connections each "
        + "| bench: CPU us each, late p99 ms: requests, pods |\n" + "|---".repeat(8) + "|");
    for (int rate : rates) {
      for (var cluster : clusters) {
        var result = stage(cluster, rate);
        System.out.println("| " + rate + " | " + cluster.program() + " | " + result.text());
        if (result.p99() <= BOUND_MILLIS) {
          withinBound.merge(cluster.program(), rate, Math::max);
        }
      }
    }
    withinBound.forEach((program, rate) -> System.out
        .println("p99 within " + (int) BOUND_MILLIS + " ms up to " + rate + " a second: "
            + program));
  }

  private record Result(int count, long lost, Sorted reported, Sorted reaction, double cpuMicros,
      double connections, double benchMicros, Sorted lateRequests, Sorted latePods) {
    double p99() {
      return lost > 0 ? Double.POSITIVE_INFINITY : reaction.at(0.99);
    }

    String text() {
      return String.format(Locale.ROOT, "%d of %d | %s | %s | %.0f | %.1f | %.0f, %s, %s |", lost,
          count, reported.text(0.5, 0.99), reaction.text(0.5, 0.9, 0.99, 1), cpuMicros,
          connections, benchMicros, lateRequests.text(0.99), latePods.text(0.99));
    }
  }

  /** Requests to different revisions at random times, each of which starts its revision. */
  private Result stage(ClusterAtZero cluster, int rate) throws Exception {
    int count = Math.min(revisions, rate * SECONDS);
    var order = new ArrayList<>(IntStream.range(0, revisions).boxed().toList());
    Collections.shuffle(order, random);
    var all = new Measured[count];
    var ended = new CountDownLatch(count);
    long self = ProcessHandle.current().pid();
    long cpu = ProcessCost.cpuMicros(cluster.pid());
    long benchCpu = ProcessCost.cpuMicros(self);
    int connections = cluster.connectionsToPods();
    long due = System.nanoTime() + 10_000_000;
    for (int i = 0; i < count; i++) {
      due += (long) (-Math.log(1 - random.nextDouble()) * 1e9 / rate);
      sleepUntil(due);
      int revision = order.get(i);
      all[i] = new Measured(cluster.activation(revision, due), ended);
      cluster.send(revision, "/", all[i]);
    }
    if (!ended.await(LOST_AFTER_SECONDS, TimeUnit.SECONDS)) {
      System.err.println(ended.getCount() + " requests had no answer");
    }
    cluster.awaitReadiness();
    cpu = ProcessCost.cpuMicros(cluster.pid()) - cpu;
    benchCpu = ProcessCost.cpuMicros(self) - benchCpu;
    connections = cluster.connectionsToPods() - connections;
    cluster.scaleToZero();
    // What follows from it is not part of the next stage.
    LockSupport.parkNanos(2_000_000_000);
    return new Result(count, Arrays.stream(all).filter(each -> !each.succeeded).count(),
        new Sorted(Arrays.stream(all).filter(each -> each.activation.reportedNanos != 0)
            .mapToDouble(each -> millis(each.activation.reportedNanos
                - each.activation.arrivedNanos))),
        new Sorted(Arrays.stream(all).filter(each -> each.succeeded)
            .mapToDouble(each -> millis(each.firstByteNanos - each.activation.listensNanos))),
        (double) cpu / count, (double) connections / count, (double) benchCpu / count,
        new Sorted(Arrays.stream(all)
            .mapToDouble(each -> millis(each.sentNanos - each.activation.arrivedNanos))),
        new Sorted(Arrays.stream(all).filter(each -> each.activation.listensNanos != 0)
            .mapToDouble(each -> millis(each.activation.listensNanos
                - each.activation.startsNanos))));
  }

  private static double millis(long nanos) {
    return nanos / 1e6;
  }

  static void sleepUntil(long nanos) {
    for (long early = nanos - System.nanoTime(); early > 0; early = nanos - System.nanoTime()) {
      LockSupport.parkNanos(early);
    }
  }

  private static final class Measured implements OpenLoopCallers.Answer {
    private final Activation activation;
    private final CountDownLatch all;
    private volatile long sentNanos;
    private volatile long firstByteNanos;
    private volatile boolean succeeded;

    Measured(Activation activation, CountDownLatch all) {
      this.activation = activation;
      this.all = all;
    }

    @Override
    public void sent(long nanos) {
      sentNanos = nanos;
    }

    @Override
    public void firstByte(long nanos) {
      firstByteNanos = nanos;
    }

    @Override
    public void ended(boolean success) {
      succeeded = success;
      all.countDown();
    }
  }
}
