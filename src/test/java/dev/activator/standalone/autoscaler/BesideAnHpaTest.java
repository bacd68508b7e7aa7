package dev.activator.standalone.autoscaler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.LeadershipCheck;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.revision.ScalingListener;
import dev.activator.testing.Seeds;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A workload that an HPA with {@code minReplicas: 0} scales, too: bursts of requests, and a metric
 * that counts them, some time later.
 *
 * <p><b>Source.</b> KEP-2021, and {@code horizontal.go} of Kubernetes 1.37: at zero, an HPA acts
 * only if it has set that zero itself (the condition {@code ScaledToZero}).
 */
class BesideAnHpaTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment",
      "web");
  private static final int BURSTS = 170;
  private static final int PER_POD = 5;
  private static final int SYNC = 15;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<String> events = new ArrayList<>();
  private final FakeScales scales = new FakeScales();
  private final Autoscaler autoscaler = new Autoscaler(loop, scales, LeadershipCheck.ALONE,
      new ScalingListener() {
        @Override
        public void happened(RevisionId id, boolean warning, String reason, String message) {
          events.add(reason);
        }
      }, new Random(1));
  /** The requests in flight, each second. */
  private final List<Integer> load = new ArrayList<>();
  private int bursts;
  private int zeros;
  /** Whether the HPA may act at zero. */
  private boolean scaledToZero;

  /** 60 seeds of 170 bursts: 10,200 times from zero and back. */
  @Test
  void eachCrossingOfZeroCostsTwoWritesAtMost() {
    Seeds.each(seed -> new BesideAnHpaTest().run(new Random(seed)));
  }

  private void run(Random random) {
    int lag = random.nextBoolean() ? 0 : random.nextInt(40);
    int window = List.of(0, 30, 300).get(random.nextInt(3));
    begin();
    for (int i = 0; i < BURSTS; i++) {
      bursts++;
      int requests = 1 + random.nextInt(30);
      second(1 + random.nextInt(40), requests, lag, window);
      second(1 + random.nextInt(2 * SYNC), 0, lag, window);
    }
    assertThat(events).doesNotContain("ScaledByOther");
    assertThat(scales.writes).as("ours").containsOnly(1);
    assertThat(scales.writes.size()).as("each answers a zero of the HPA")
        .isLessThanOrEqualTo(zeros + 1);
    if (lag == 0) {
      assertThat(zeros).isLessThanOrEqualTo(bursts);
      assertThat(scales.writes.size() + zeros).isLessThanOrEqualTo(2 * bursts);
    }
  }

  private void begin() {
    scales.set(WEB, 0);
    autoscaler.members(Map.of("a", true));
    autoscaler.start();
    var base = TestValues.scaledTarget(WEB, WORKLOAD, 0, OptionalInt.empty(),
        OptionalInt.of(PER_POD), 0, Duration.ofSeconds(6), Duration.ofSeconds(300),
        OptionalInt.empty());
    autoscaler.target(new ScaledServiceSpec(WEB, WORKLOAD, 0, OptionalInt.empty(), true,
        base.load(), 0, base.window(), base.requestTimeout(), OptionalInt.empty(),
        base.warmTimes(), base.conflicts(), ""));
    loop.run();
  }

  @Test
  void saysThatTheMetricDoesNotCountTheRequests_whoseLastPodTheHpaEnds() {
    begin();
    for (int i = 0; i < 20; i++) {
      second(3, 1, load.size() + 100, 0);
    }

    assertThat(zeros).isPositive();
    assertThat(events).contains("HpaEndsUsedPods").doesNotContain("ScaledByOther");
  }

  @Test
  void preparesTheRemovalOfPodsOnceAMinute_asTheHpaMayRemoveThemAtAnyTime() {
    begin();
    second(300, 40, 0, 0);

    assertThat(scales.replicas(WEB)).isEqualTo(8);
    assertThat(scales.preparations).isBetween(4, 5);
  }

  private void second(int seconds, int requests, int lag, int window) {
    for (int i = 0; i < seconds; i++) {
      int before = scales.replicas(WEB);
      int written = scales.writes.size();
      loop.advance(Duration.ofSeconds(1));
      load.add(requests);
      autoscaler.received(new ReportBatch("a", OptionalDouble.of(1_000), requests == 0
          ? List.of()
          : List.of(new ReportBatch.Entry(WEB, TestValues.sample("a", requests, 1)))));
      loop.run();
      autoscaler.pods(WEB, scales.replicas(WEB));
      loop.run();
      if (scales.writes.size() > written) {
        assertThat(before).as("replicas before our write").isZero();
        assertThat(requests).as("requests at our write").isPositive();
      }
      if (i > 3 && requests > 0) {
        assertThat(scales.replicas(WEB)).as("replicas while requests wait or run").isPositive();
      }
      if (load.size() % SYNC == 0) {
        sync(lag, window);
      }
    }
  }

  /** What the HPA's controller does every 15 s. */
  private void sync(int lag, int window) {
    int now = scales.replicas(WEB);
    if (now == 0 && !scaledToZero) {
      return;
    }
    int desired = 0;
    for (int back = 0; back <= window; back += SYNC) {
      int at = load.size() - 1 - lag - back;
      desired = Math.max(desired, at < 0 ? 0 : Math.min(10, Math.ceilDiv(load.get(at), PER_POD)));
    }
    if (desired != now) {
      scaledToZero = desired == 0;
      zeros += desired == 0 ? 1 : 0;
      scales.set(WEB, desired);
    }
  }
}
