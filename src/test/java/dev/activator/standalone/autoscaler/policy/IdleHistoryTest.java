package dev.activator.standalone.autoscaler.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ScalingView.KeepWarmEffect;
import dev.activator.revision.ScalingView.KeepWarmEffect.Range;
import java.time.Duration;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdleHistoryTest {
  private static final Duration WINDOW = Duration.ofMinutes(1);
  private static final Duration MAX = Duration.ofHours(1);

  private static IdleHistory after(int times, Supplier<Duration> idle) {
    var history = new IdleHistory(MAX);
    IntStream.range(0, times).forEach(_ -> history.ended(idle.get(), WINDOW));
    return history;
  }

  private static IdleHistory after(int times, int minutes) {
    return after(times, () -> Duration.ofMinutes(minutes));
  }

  @ParameterizedTest
  @CsvSource({"9, 10, ,", "10, 10, 540, 726", "10, 1, 54, 132", "10, 59, 3186, 3600",
      "10, 60, ,", "10, 600, ,"})
  void aPodIsKeptAroundTheTimesThatAreLikely(int times, int minutes, @Nullable Long from,
      @Nullable Long to) {
    assertThat(after(times, minutes).range()).isEqualTo(from == null
        ? null
        : new Range(Duration.ofSeconds(from), Duration.ofSeconds(to)));
  }

  @Test
  void timesWithinTheUsualWindowDoNotCount() {
    assertThat(after(1_000, () -> Duration.ofSeconds(59)).range()).isNull();
  }

  @Test
  void theUsualWindowHolds_whenMostTimesAreTooLong() {
    var history = after(20, 10);
    IntStream.range(0, 21).forEach(_ -> history.ended(Duration.ofHours(3), WINDOW));

    assertThat(history.range()).isNull();
  }

  @Test
  void theUsualWindowHolds_whenAnyTimeIsAsLikely() {
    var random = new Random(1);

    assertThat(after(100, () -> Duration.ofSeconds(60 + random.nextInt(3_540))).range()).isNull();
  }

  @Test
  void aFewOddTimesDoNotWidenIt() {
    var history = after(150, 10);
    history.ended(Duration.ofMinutes(50), WINDOW);

    assertThat(history.range().to()).isEqualTo(Duration.ofSeconds(726));
  }

  @Test
  void aNewHabitIsLearnt() {
    var history = after(200, 10);
    IntStream.range(0, 600).forEach(_ -> history.ended(Duration.ofMinutes(30), WINDOW));

    assertThat(history.range().contains(Duration.ofMinutes(30))).isTrue();
    assertThat(history.range().from()).isGreaterThan(Duration.ofMinutes(20));
  }

  @Test
  void countsWhatItSavesAndCosts() {
    var history = after(10, 10);
    history.ended(Duration.ofMinutes(10), WINDOW); // found a pod that came after 540 s
    history.ended(Duration.ofMinutes(40), WINDOW); // which left at 726 s
    history.ended(Duration.ofMinutes(5), WINDOW); // before it came

    var view = history.view(true);
    assertThat(view.predicted()).isEqualTo(3);
    assertThat(view.saved()).isEqualTo(1);
    assertThat(view.cost()).isEqualTo(Duration.ofSeconds(60 + 186));
    assertThat(view.sentence())
        .startsWith("by idle times, would have saved 1 of 3 starts for 246 s of a pod");
  }

  /** Replays callers, and compares with a pod that is kept for the longest time after each request. */
  private static KeepWarmEffect replay(Supplier<Duration> idle) {
    return after(500, idle).view(true);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void ofRegularCallersAlmostAllStartsAreSaved_forAFractionOfTheTime(long seed) {
    var random = new Random(seed);
    long[] all = new long[1];
    var view = replay(() -> {
      var idle = Duration.ofSeconds((long) (1_800 + 60 * random.nextGaussian()));
      all[0] += idle.toSeconds() - WINDOW.toSeconds();
      return idle;
    });

    assertThat(view.saved()).isGreaterThan(475);
    assertThat(view.cost().toSeconds()).isLessThan(all[0] / 4);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void ofRareCallersAtRandomTimesNothingIsPaid(long seed) {
    var random = new Random(seed);
    var view = replay(
        () -> Duration.ofSeconds((long) (-7_200 * Math.log(1 - random.nextDouble()))));

    assertThat(view.cost()).isLessThan(Duration.ofHours(2));
  }
}
