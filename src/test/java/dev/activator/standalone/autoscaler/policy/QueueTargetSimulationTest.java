package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.autoscaler.policy.ScalingSettings.Aim;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Bounds;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Idle;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Limits;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Metric;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Windows;
import dev.activator.revision.QueueTimeHistogram;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A queue before pods of which each takes one request at a time, and whose number a Decider chooses by the
 * times in the queue. Arrivals and lengths of requests are random; pods take seconds to start.
 */
class QueueTargetSimulationTest {
  private static final double TARGET_SECONDS = 0.2;
  private static final double STEP = 0.01;
  /** So large that concurrency alone would leave the pods too few. */
  private static final double CONCURRENCY = 3;
  private static final ScalingSettings SETTINGS = new ScalingSettings(
      List.of(new Aim(Metric.CONCURRENCY, CONCURRENCY)),
      Duration.ofMillis((long) (TARGET_SECONDS * 1_000)),
      Windows.of(Duration.ofSeconds(60), 10, 2, false), Limits.DEFAULT, new Bounds(0, 0, 0),
      Idle.DEFAULT, Regime.YIELDING);

  private static final class Queue {
    private final Random random;
    private final ScaleDecider decider = new ScaleDecider(0, 0, SETTINGS.windows());
    private final ArrayDeque<Double> waiting = new ArrayDeque<>();
    private final PriorityQueue<Double> ends = new PriorityQueue<>();
    private final PriorityQueue<Double> starts = new PriorityQueue<>();
    private int[] waits = new int[QueueTimeHistogram.BUCKETS];
    private double now;
    private double firstReady = -1;
    private int ready;
    private int arrived;
    private double open;
    private int slow;
    private int served;
    private int most;

    Queue(long seed) {
      random = new Random(seed);
    }

    /** @param rate requests a second, each of which takes half a second on average */
    void run(int seconds, double rate) {
      slow = 0;
      served = 0;
      most = ready;
      for (int step = 0; step < seconds / STEP; step++) {
        now += STEP;
        if (random.nextDouble() < rate * STEP) {
          waiting.add(now);
          arrived++;
        }
        serve();
        open += (waiting.size() + ends.size()) * STEP;
        if (Math.floor(now) > Math.floor(now - STEP)) {
          report();
        }
      }
    }

    private void serve() {
      while (!ends.isEmpty() && ends.peek() <= now) {
        ends.remove();
      }
      while (!starts.isEmpty() && starts.peek() <= now) {
        starts.remove();
        ready++;
        firstReady = firstReady < 0 ? now : firstReady;
      }
      most = Math.max(most, ready);
      while (!waiting.isEmpty() && ends.size() < ready) {
        // As in the activator, without the time in which no pod was ready.
        double waited = now - Math.max(waiting.remove(), firstReady);
        waits[QueueTimeHistogram.bucket(Duration.ofNanos((long) (waited * 1e9)))]++;
        slow += waited > TARGET_SECONDS ? 1 : 0;
        served++;
        ends.add(now - 0.5 * Math.log(1 - random.nextDouble()));
      }
    }

    private void report() {
      long nanos = (long) (now * 1e9);
      decider.record(nanos, new LoadSample("a", open, arrived, QueueTimeHistogram.of(waits)),
          SETTINGS);
      waits = new int[QueueTimeHistogram.BUCKETS];
      arrived = 0;
      open = 0;
      int wanted = decider.decide(nanos, ready, SETTINGS).pods();
      while (ready + starts.size() < wanted) {
        starts.add(now + 1 + 3 * random.nextDouble());
      }
      while (ready + starts.size() > wanted && !starts.isEmpty()) {
        starts.remove();
      }
      ready = Math.min(ready, Math.max(wanted, ends.size()));
    }

    /** Of requests that waited for longer than the target. */
    double slowPart() {
      return served == 0 ? 1 : (double) slow / served;
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void podsAreAddedUntilFewWaitForLonger_andNotManyMoreThanThat(long seed) {
    var queue = new Queue(seed);
    // From zero, with a backlog that no pod could have prevented.
    queue.run(120, 10);
    queue.run(600, 10);

    // Ten a second of half a second each keep five pods busy all the time.
    assertThat(queue.slowPart()).as("part that waits too long").isLessThan(0.15);
    assertThat(queue.most).as("most pods").isBetween(6, 25);

    queue.run(300, 0.5);
    queue.run(60, 0);
    queue.run(300, 0);
    assertThat(queue.ready).isZero();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {11, 12, 13, 14, 15})
  void aBacklogAfterAColdStartDoesNotDoubleThePodsAgainAndAgain(long seed) {
    var queue = new Queue(seed);
    queue.run(3, 60);
    queue.run(60, 2);

    assertThat(queue.most).isLessThan(80);
    queue.run(300, 2);
    assertThat(queue.ready).isLessThan(12);
  }
}
