package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestValues;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LastActivatorReportsTest {
  private static final Duration BOUND = Duration.ofSeconds(6);

  private final ReportCompleteness activators = new ReportCompleteness(0);
  private final LastActivatorReports reports = new LastActivatorReports();

  private static long nanos(double seconds) {
    return Math.round(seconds * 1e9);
  }

  private void batch(double at) {
    activators.batch(nanos(at), "a", OptionalDouble.of(1_000), Set.of());
  }

  private boolean report(double at) {
    return reports.add(nanos(at), TestValues.sample("a", 7, 3));
  }

  private String repeated(double now) {
    return reports.repeated(nanos(now), activators, BOUND).stream()
        .map(one -> String.valueOf(one.second())).collect(Collectors.joining(" "));
  }

  @ParameterizedTest(name = "batches at {0}, now {1}")
  @CsvSource({
      "0.5,            0.9, ''",
      "0.5,            1.9, ''",
      "0.5,            2.0, 1",
      "0.99,           2.4, ''",
      "0.99,           2.5, 1",
      "0.5,            4.5, 1 2 3",
      "0.5,            6.4, 1 2 3 4 5",
      "0.5,            6.6, ''",
      "0.5 1.5 2.5,    3.9, ''",
      "0.99 2.01 2.99, 4.0, ''",
      "0.5 1.5,        3.5, 2"})
  void repeatsTheLastReport_forEachSecondWithoutOne(String batches, double now, String seconds) {
    Arrays.stream(batches.split(" ")).map(Double::valueOf).forEach(at -> {
      batch(at);
      report(at);
    });

    assertThat(repeated(now)).isEqualTo(seconds);
    assertThat(repeated(now)).as("only once").isEmpty();
  }

  @Test
  void repeatsWhatWasReported() {
    batch(0.5);
    report(0.5);

    assertThat(reports.repeated(nanos(2.5), activators, BOUND))
        .containsExactly(new LastActivatorReports.Repeated(1, TestValues.sample("a", 7, 3)));
  }

  @Test
  void repeatsNothing_whereALaterBatchHadNone() {
    batch(0.5);
    report(0.5);
    batch(1.5);

    assertThat(repeated(4.5)).isEmpty();
  }

  @Test
  void repeatsNothing_ofAnActivatorThatHasEnded() {
    batch(0.5);
    report(0.5);
    activators.members(nanos(1), Map.of("b", true));

    assertThat(repeated(2.5)).isEmpty();
  }

  @Test
  void repeatsNothing_ofAReportBeforeTheFirstBatch() {
    report(0.5);

    assertThat(repeated(2.5)).isEmpty();
  }

  /** They were under way for long, and come together. */
  @Test
  void countsNoLateReport_thatWasMadeUpFor() {
    batch(0.5);
    report(0.5);
    assertThat(repeated(3.5)).isEqualTo("1 2");

    assertThat(report(3.5)).as("of this second").isTrue();
    assertThat(report(3.5)).as("made up for").isFalse();
    assertThat(report(3.51)).as("made up for").isFalse();
    assertThat(report(3.52)).isTrue();
  }

  @Test
  void countsOneReport_ofMany_afterALongSilence() {
    batch(0.5);
    report(0.5);
    assertThat(repeated(10.5)).as("for too long").isEmpty();

    assertThat(report(10.5)).isTrue();
    for (int i = 0; i < 9; i++) {
      assertThat(report(10.5)).isFalse();
    }
    assertThat(report(10.6)).isTrue();
  }

  @Test
  void countsAllReports_onceTheyComeEachSecondAgain() {
    batch(0.5);
    report(0.5);
    assertThat(repeated(3.5)).isEqualTo("1 2");
    report(3.5);
    report(4.5);

    assertThat(report(4.6)).isTrue();
  }
}
