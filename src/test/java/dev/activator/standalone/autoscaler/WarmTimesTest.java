package dev.activator.standalone.autoscaler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.LeadershipCheck;
import dev.activator.revision.ScalingView.ActiveCondition;
import dev.activator.standalone.decode.KeepWarmSettingsReader;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.policy.ScaledServiceSpec;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A workload that has pods without requests: by a schedule, or by the times it was idle before. */
class WarmTimesTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment",
      "web");
  /** A Monday. */
  private static final Instant START = Instant.parse("2026-11-23T07:00:00Z");

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakeScales scales = new FakeScales();
  private final Autoscaler autoscaler = new Autoscaler(loop, scales, LeadershipCheck.ALONE,
      new ScalingListener() {
      }, new Random(1), new Clock() {
        @Override
        public ZoneId getZone() {
          return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
          return this;
        }

        @Override
        public Instant instant() {
          return START.plus(loop.elapsed());
        }
      });

  @BeforeEach
  void start() {
    scales.set(WEB, 0);
    autoscaler.members(Map.of("a", true));
    autoscaler.start();
    loop.run();
  }

  private void target(OptionalInt max, int replicas) {
    target(max, atLeast(replicas));
  }

  private static Map<String, Object> atLeast(int replicas) {
    return Map.of("schedule", Map.of("windows", List.of(
        Map.of("start", "08:00", "end", "18:00", "days", List.of("Mon"), "minReplicas",
            replicas))));
  }

  private void target(OptionalInt max, Map<String, Object> spec) {
    target(max, OptionalInt.empty(), spec);
  }

  private void target(OptionalInt max, OptionalInt lastDesired, Map<String, Object> spec) {
    var times = KeepWarmSettingsReader.read(spec);
    autoscaler.target(
        new ScaledServiceSpec(WEB, WORKLOAD, 0, max, false,
            TestValues.concurrency(OptionalInt.of(20)), 0,
            Duration.ofSeconds(60), Duration.ofSeconds(300), lastDesired, times,
            ConflictSpec.NONE, ""));
    loop.run();
  }

  private void pass(Duration time) {
    for (long i = 0; i < time.toSeconds(); i++) {
      loop.advance(Duration.ofSeconds(1));
      autoscaler.received(new ReportBatch("a", OptionalDouble.of(100_000), List.of()));
      autoscaler.pods(WEB, scales.replicas(WEB));
      loop.run();
    }
  }

  @Test
  void hasItsPodsFromTheStartOfTheWindow_andGoesToZeroAfterItsEnd() {
    target(OptionalInt.of(5), 2);
    pass(Duration.ofMinutes(59));
    assertThat(scales.writes).isEmpty();

    pass(Duration.ofMinutes(1).plusSeconds(3));
    assertThat(scales.writes).containsExactly(2);
    assertThat(autoscaler.view(WEB).explanation())
        .startsWith("2, the minimum of its schedule (Mon 08:00 to 18:00); ");

    pass(Duration.ofHours(10).minusMinutes(1));
    assertThat(scales.writes).containsExactly(2);

    pass(Duration.ofMinutes(3));
    assertThat(scales.writes.getLast()).isZero();
    assertThat(scales.replicas(WEB)).isZero();
  }

  @Test
  void isActiveWithItsMaximum_whenTheWindowRequestsMore() {
    target(OptionalInt.of(3), 5);
    pass(Duration.ofHours(2));

    assertThat(scales.writes).containsExactly(3);
    assertThat(autoscaler.view(WEB).active().state()).isEqualTo(ActiveCondition.State.TRUE);
  }

  /** A request every ten minutes, and how many of them found a pod. */
  private int warm(int requests) {
    int warm = 0;
    for (int i = 0; i < requests; i++) {
      pass(Duration.ofMinutes(10));
      warm += scales.replicas(WEB) > 0 ? 1 : 0;
      autoscaler.received(new ReportBatch("a", OptionalDouble.empty(),
          List.of(new ReportBatch.Entry(WEB, TestValues.sample("a", 1, 1)))));
      loop.run();
    }
    return warm;
  }

  @Test
  void startsAPodBeforeARequestIsLikely_onceItHasLearntWhen() {
    target(OptionalInt.of(3), Map.of("keepWarm", Map.of("mode", "on")));
    // the first time is unknown: nothing came before
    assertThat(warm(11)).isZero();

    assertThat(warm(10)).isEqualTo(10);
    loop.advance(Duration.ofMillis(100));

    var view = autoscaler.view(WEB).keptWarm();
    assertThat(view.saved()).isEqualTo(10);
    assertThat(view.cost()).isEqualTo(Duration.ofMinutes(10));
    pass(Duration.ofMinutes(5));
    assertThat(scales.replicas(WEB)).isZero();
    pass(Duration.ofMinutes(4).plusSeconds(10));
    assertThat(scales.replicas(WEB)).isEqualTo(1);
    assertThat(autoscaler.view(WEB).explanation())
        .startsWith("1, kept warm because earlier requests came");
    // none comes this time
    pass(Duration.ofMinutes(5));
    assertThat(scales.replicas(WEB)).isZero();
  }

  @Test
  void onlyCounts_whenItObserves() {
    target(OptionalInt.empty(), Map.of("keepWarm", Map.of("mode", "observe")));
    assertThat(warm(21)).isZero();
    loop.advance(Duration.ofMillis(100));

    assertThat(autoscaler.view(WEB).keptWarm().sentence()).isEqualTo("by idle times, would have"
        + " saved 10 of 10 starts for 600 s of a pod; a pod is likely to be needed 540 s to 726 s"
        + " after the last request");
  }

  @Test
  void withoutAMaximumThereIsAtMostOne() {
    target(OptionalInt.empty(), 2);
    pass(Duration.ofMinutes(61));

    assertThat(scales.writes).containsExactly(1);
  }

  @Test
  void theMaximumHoldsInAWindow_andTheLoadMayWantMore() {
    target(OptionalInt.of(3), 5);
    pass(Duration.ofMinutes(61));
    assertThat(scales.writes).containsExactly(3);

    target(OptionalInt.of(9), 2);
    for (int i = 0; i < 10; i++) {
      loop.advance(Duration.ofSeconds(1));
      autoscaler.received(new ReportBatch("a", OptionalDouble.of(100_000),
          List.of(new ReportBatch.Entry(WEB, TestValues.sample("a", 150, 150)))));
      loop.run();
    }
    assertThat(scales.replicas(WEB)).isGreaterThan(3);
  }

  @Test
  void hasItsPodsFromTheStartOfTheWindow_whateverAnotherClientHasSetBefore() {
    target(OptionalInt.of(5), 2);
    pass(Duration.ofMinutes(50));
    while (scales.replicas(WEB) < 3) {
      busy(1, 50);
    }
    scales.set(WEB, 1);
    busy(60 * 9, 50);
    assertThat(scales.replicas(WEB)).as("the number of another client").isOne();

    busy(120, 50);

    assertThat(loop.elapsed()).isGreaterThan(Duration.ofHours(1));
    assertThat(scales.replicas(WEB)).isEqualTo(3);
  }

  private void busy(int seconds, double concurrency) {
    for (int i = 0; i < seconds; i++) {
      loop.advance(Duration.ofSeconds(1));
      autoscaler.received(new ReportBatch("a", OptionalDouble.of(100_000),
          List.of(new ReportBatch.Entry(WEB, TestValues.sample("a", concurrency, 1)))));
      autoscaler.pods(WEB, scales.replicas(WEB));
      loop.run();
    }
  }

  @Test
  void keepsWhatAnotherClientSetInTheWindow_underTheNextLeader() {
    target(OptionalInt.of(5), 2);
    pass(Duration.ofMinutes(70));
    scales.set(WEB, 4);
    pass(Duration.ofMinutes(5));
    assertThat(scales.replicas(WEB)).as("the number of another client").isEqualTo(4);

    autoscaler.stop();
    loop.run();
    target(OptionalInt.of(5), OptionalInt.of(2), atLeast(2));
    autoscaler.start();
    pass(Duration.ofMinutes(5));

    assertThat(scales.replicas(WEB)).isEqualTo(4);
  }
}
