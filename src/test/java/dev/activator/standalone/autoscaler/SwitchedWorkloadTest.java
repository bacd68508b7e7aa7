package dev.activator.standalone.autoscaler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ScalingListener;
import dev.activator.revision.ScalingView;
import dev.activator.kube.LeadershipCheck;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A ScaledService whose spec names another workload from some moment on. */
class SwitchedWorkloadTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef BLUE = new ScaleTargetRef("apps/v1", "Deployment", "blue");
  private static final ScaleTargetRef GREEN = new ScaleTargetRef("apps/v1", "Deployment",
      "green");

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final Scales scales = new Scales();
  private final List<String> events = new ArrayList<>();
  private final List<ScalingView> views = new ArrayList<>();
  private final Autoscaler autoscaler = new Autoscaler(loop, scales, LeadershipCheck.ALONE,
      new ScalingListener() {
        @Override
        public void happened(RevisionId id, boolean warning, String reason, String message) {
          events.add(reason);
        }

        @Override
        public void changed(ScalingView view) {
          views.add(view);
        }
      }, new Random(1));
  private ScaleTargetRef workload = BLUE;

  /** The replicas of each workload; any version may be written. */
  private static final class Scales implements ScaleClient<ScaleTarget> {
    private final Map<ScaleTarget, Integer> replicas = new HashMap<>();
    /** Answers that the test sends; null to answer at once. */
    private @Nullable List<Runnable> later;

    private CompletableFuture<ScaleApiResult> answer(int now) {
      var found = new Found(now, now, "1");
      if (later == null) {
        return CompletableFuture.completedFuture(found);
      }
      var answer = new CompletableFuture<ScaleApiResult>();
      later.add(() -> answer.complete(found));
      return answer;
    }

    @Override
    public CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTarget workload) {
      return answer(replicas.get(workload));
    }

    @Override
    public CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTarget workload,
        Found read, int now) {
      replicas.put(workload, now);
      return answer(now);
    }

    void answerAll() {
      var waiting = List.copyOf(later);
      later = null;
      waiting.forEach(Runnable::run);
    }
  }

  @BeforeEach
  void start() {
    scales.replicas.put(BLUE, 0);
    scales.replicas.put(GREEN, 0);
    autoscaler.members(Map.of("a", true));
    autoscaler.start();
    target(BLUE, 0);
  }

  private void target(ScaleTargetRef now, int min) {
    workload = now;
    autoscaler
        .target(TestValues.scaledTarget(WEB, now, min, OptionalInt.of(20), OptionalInt.of(20), 0,
            Duration.ofSeconds(6), Duration.ofSeconds(300), OptionalInt.empty()));
    loop.run();
  }

  private void seconds(int seconds, double concurrency) {
    for (int i = 0; i < seconds; i++) {
      loop.advance(Duration.ofSeconds(1));
      autoscaler.received(new ReportBatch("a", OptionalDouble.of(1_000), concurrency == 0
          ? List.of()
          : List.of(new ReportBatch.Entry(WEB, TestValues.sample("a", concurrency, 1)))));
      autoscaler.pods(WEB, scales.replicas.get(workload));
      loop.run();
    }
  }

  @Test
  void scalesTheNewWorkloadByTheLoad_whateverTheOldOneHad() {
    seconds(10, 100);
    assertThat(scales.replicas).containsEntry(BLUE, 5);

    scales.replicas.put(GREEN, 1);
    target(GREEN, 0);
    seconds(10, 100);

    assertThat(scales.replicas).containsEntry(GREEN, 5);
    assertThat(events).doesNotContain("ScaledByOther");
  }

  @Test
  void publishesNothingOfTheOldWorkload_asTheNewOnes() {
    seconds(10, 100);
    scales.replicas.put(GREEN, 1);
    scales.later = new ArrayList<>();
    target(GREEN, 0);
    seconds(5, 100);
    assertThat(views).noneMatch(view -> view.workload().equals(GREEN));

    scales.answerAll();
    seconds(5, 100);

    assertThat(views).filteredOn(view -> view.workload().equals(GREEN)).isNotEmpty()
        .allMatch(view -> view.replicas().isPresent());
  }

  @Test
  void scalesAnIdleNewWorkloadToZero_whateverTheOldOneHad() {
    seconds(60, 0);
    scales.replicas.put(GREEN, 3);
    target(GREEN, 0);
    seconds(60, 0);

    assertThat(scales.replicas).containsEntry(GREEN, 0);
  }

  @Test
  void ignoresTheOldWorkloadsScale_whenItIsReadWhileTheNewOneIsNamed() {
    // given a read of the old workload, which has the replicas that the new one should have
    scales.replicas.put(BLUE, 1);
    scales.later = new ArrayList<>();
    target(BLUE, 1);
    seconds(400, 0);
    assertThat(scales.later).isNotEmpty();

    target(GREEN, 1);
    scales.answerAll();
    loop.run();
    seconds(3, 0);

    assertThat(scales.replicas).containsEntry(GREEN, 1);
  }

  @Test
  void ignoresTheAnswerToAWriteOfTheOldWorkload() {
    seconds(30, 0);
    scales.later = new ArrayList<>();
    target(BLUE, 1);
    scales.answerAll();
    scales.later = new ArrayList<>();
    loop.run();
    assertThat(scales.replicas).containsEntry(BLUE, 1);

    target(GREEN, 1);
    scales.answerAll();
    loop.run();
    seconds(3, 0);

    assertThat(scales.replicas).containsEntry(GREEN, 1);
  }

  @Test
  void stopsOnlyAfterTheLastWriteOfTheOldWorkload() {
    seconds(10, 100);
    var later = new ArrayList<Runnable>();
    scales.later = later;
    while (scales.replicas.get(BLUE) == 5) {
      seconds(1, 400);
      if (scales.replicas.get(BLUE) == 5) {
        List.copyOf(later).forEach(Runnable::run);
        later.clear();
        loop.run();
      }
    }
    var write = later.getLast();
    scales.later = null;
    target(GREEN, 0);

    var stopped = autoscaler.stop();
    loop.run();
    assertThat(stopped).isNotDone();

    write.run();
    loop.run();
    assertThat(stopped).isDone();
  }
}
