package dev.activator.bench.activations;

import dev.activator.bench.ProcessCost;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A trace of requests, of which each revision that has been idle for a while has none left: its slowdown. A
 * request's slowdown is the time to its answer, divided by the time that its pod takes to answer; next to the
 * ideal, that time includes what was left of the pod's start.
 */
final class TraceStage {
  private static final long IDLE_MILLIS = 2_000;
  private static final int LOST_AFTER_SECONDS = 60;

  private final List<Trace.Arrival> arrivals;
  private final AtomicIntegerArray inFlight;
  /** How many requests each revision had, to notice that one came. */
  private final AtomicIntegerArray requests;

  TraceStage(long seed, int revisions, double perSecond, double seconds) {
    arrivals = Trace.of(seed, revisions, perSecond, seconds);
    inFlight = new AtomicIntegerArray(revisions);
    requests = new AtomicIntegerArray(revisions);
  }

  void run(List<ClusterAtZero> clusters) throws Exception {
    System.out.println("| activator | requests | lost | from zero | slowdown: p50, p90, p99 "
        + "| next to the ideal: p50, p90, p99 | CPU s |\n" + "|---".repeat(7) + "|");
    for (var cluster : clusters) {
      run(cluster);
    }
  }

  private void run(ClusterAtZero cluster) throws Exception {
    var idle = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().factory());
    var all = new Traced[arrivals.size()];
    var ended = new CountDownLatch(all.length);
    long cpu = ProcessCost.cpuMicros(cluster.pid());
    long begun = System.nanoTime() + 10_000_000;
    for (int i = 0; i < all.length; i++) {
      var arrival = arrivals.get(i);
      long due = begun + arrival.nanos();
      ActivationsBench.sleepUntil(due);
      int revision = arrival.revision();
      inFlight.incrementAndGet(revision);
      requests.incrementAndGet(revision);
      all[i] = new Traced(cluster.activation(revision, due), arrival, due, () -> {
        ended.countDown();
        if (inFlight.decrementAndGet(revision) == 0) {
          int known = requests.get(revision);
          idle.schedule(() -> {
            if (inFlight.get(revision) == 0 && requests.get(revision) == known) {
              cluster.scaleToZero(revision);
            }
          }, IDLE_MILLIS, TimeUnit.MILLISECONDS);
        }
      });
      cluster.send(revision, "/" + arrival.serviceNanos() / 1_000, all[i]);
    }
    if (!ended.await(LOST_AFTER_SECONDS, TimeUnit.SECONDS)) {
      System.err.println(ended.getCount() + " requests had no answer");
    }
    cpu = ProcessCost.cpuMicros(cluster.pid()) - cpu;
    idle.shutdownNow();
    cluster.scaleToZero();
    print(cluster, all, cpu);
  }

  private static void print(ClusterAtZero cluster, Traced[] all, long cpu) {
    var answered = Arrays.stream(all).filter(each -> each.succeeded).toList();
    System.out.printf(Locale.ROOT, "| %s | %d | %d | %d | %s | %s | %.1f |%n", cluster.program(),
        all.length, all.length - answered.size(),
        answered.stream().filter(each -> each.activation.arrivedNanos == each.dueNanos).count(),
        new Sorted(answered.stream().mapToDouble(Traced::slowdown)).text(0.5, 0.9, 0.99),
        new Sorted(answered.stream().mapToDouble(Traced::slowdownToIdeal)).text(0.5, 0.9, 0.99),
        cpu / 1e6);
  }

  private static final class Traced implements OpenLoopCallers.Answer {
    private final Activation activation;
    private final Trace.Arrival arrival;
    private final long dueNanos;
    private final Runnable whenEnded;
    private volatile long endedNanos;
    private volatile boolean succeeded;

    Traced(Activation activation, Trace.Arrival arrival, long dueNanos, Runnable whenEnded) {
      this.activation = activation;
      this.arrival = arrival;
      this.dueNanos = dueNanos;
      this.whenEnded = whenEnded;
    }

    double slowdown() {
      return (double) (endedNanos - dueNanos) / arrival.serviceNanos();
    }

    double slowdownToIdeal() {
      long start = Math.max(0, activation.listensNanos - dueNanos);
      return (double) (endedNanos - dueNanos) / (start + arrival.serviceNanos());
    }

    @Override
    public void sent(long nanos) {}

    @Override
    public void firstByte(long nanos) {}

    @Override
    public void ended(boolean success) {
      endedNanos = System.nanoTime();
      succeeded = success;
      whenEnded.run();
    }
  }
}
