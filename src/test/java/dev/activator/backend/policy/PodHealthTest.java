package dev.activator.backend.policy;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.backend.policy.PodHealth.State;
import dev.activator.backend.policy.PodHealth.LastProbe;
import dev.activator.backend.policy.ProbeQueue.Urgency;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodHealthTest {
  private static final Duration NOW = ofSeconds(100);

  private static PodHealth failed(PodHealth pod) {
    return pod.failed(
        new LastProbe(new ProbeVerdict(Kind.NO_ANSWER, "refused"), NOW, Duration.ZERO));
  }

  private static PodHealth unreachable() {
    return PodHealth.fresh(true, Duration.ZERO).became(State.UNREACHABLE, NOW);
  }

  @Test
  void isEjectedUntilAProbeHasEnded() {
    assertThat(PodHealth.fresh(true, NOW).isEjected()).isFalse();
    assertThat(unreachable().isEjected()).isTrue();
    assertThat(failed(unreachable()).isEjected()).isFalse();
  }

  @Test
  void isGivenUpAfterTwentySecondsOfSilenceWhereAProbeHasFailed() {
    assertThat(failed(unreachable()).isGivenUp(ofSeconds(120).minusMillis(1))).isFalse();
    assertThat(failed(unreachable()).isGivenUp(ofSeconds(120))).isTrue();
    assertThat(unreachable().isGivenUp(ofSeconds(120))).isFalse();
  }

  @Test
  void acceptsConnectionsSinceTheFirstProbeAfterTheLastRefusal() {
    var pod = PodHealth.fresh(false, ofSeconds(1));
    assertThat(pod.accepts()).isNull();

    var silent = pod.failed(probe(new ProbeVerdict(Kind.NO_ANSWER, "no answer"), 2));
    assertThat(silent.accepts()).isEqualTo(ofSeconds(1));

    var refused = silent.failed(probe(new ProbeVerdict(Kind.REFUSED, "refused"), 3));
    assertThat(refused.accepts()).isNull();

    var wrong = refused.failed(probe(ProbeVerdict.of(503, ""), 5));
    assertThat(wrong.succeeded(probe(ProbeVerdict.ANSWERS, 9)).accepts())
        .isEqualTo(ofSeconds(4));
  }

  @Test
  void acceptsNothingWhileNothingAnswersAConnect() {
    var dropped = PodHealth.fresh(false, ofSeconds(1))
        .failed(probe(new ProbeVerdict(Kind.NO_CONNECTION, "no answer within 300 ms"), 2));
    assertThat(dropped.accepts()).isNull();

    var open = dropped
        .failed(probe(new ProbeVerdict(Kind.NO_ANSWER, "no answer within 300 ms"), 5));
    var later = open
        .failed(probe(new ProbeVerdict(Kind.NO_CONNECTION, "no answer within 300 ms"), 9));
    assertThat(later.accepts()).isEqualTo(ofSeconds(4));
  }

  /** One that took a second. */
  private static LastProbe probe(ProbeVerdict verdict, int second) {
    return new LastProbe(verdict, ofSeconds(second), ofSeconds(1));
  }

  @ParameterizedTest(name = "after {0} ms {1}")
  @CsvSource({"0, STARTING", "29999, STARTING", "30000, FAILING_LONG", "3600000, FAILING_LONG"})
  void isProbedWithLessUrgencyTheLongerItFails(long millis, Urgency urgency) {
    var pod = PodHealth.fresh(false, NOW);

    assertThat(pod.urgency(NOW.plusMillis(millis))).isEqualTo(Urgency.FIRST);
    assertThat(failed(pod).urgency(NOW.plusMillis(millis))).isEqualTo(urgency);
  }
}
