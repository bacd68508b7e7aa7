package dev.activator.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrendTest {
  @Test
  void growthIsThatOfALine() {
    assertThat(Trend.growth(new double[]{3, 5, 7, 9})).isEqualTo(6);
  }

  @Test
  void growthIgnoresOutliers() {
    var samples = IntStream.range(0, 60).mapToDouble(i -> 10 + i % 2).toArray();
    for (int i = 45; i < 60; i++) {
      samples[i] = 1_000;
    }
    assertThat(Trend.growth(samples)).isLessThan(3);
  }

  @Test
  void growthIsFoundInNoise() {
    var random = new Random(1);
    var samples = IntStream.range(0, 60)
        .mapToDouble(i -> 20 + i / 59.0 * 3 + random.nextGaussian() * 0.5).toArray();
    assertThat(Trend.growth(samples)).isCloseTo(3, within(0.7));
  }

  @Test
  void growthIsZero_whenThereIsOneSample() {
    assertThat(Trend.growth(new double[]{5})).isZero();
  }

  @Test
  void medianIsTheMiddle() {
    assertThat(Trend.median(new double[]{9, 1, 5})).isEqualTo(5);
    assertThat(Trend.median(new double[]{9, 1, 5, 7})).isEqualTo(6);
  }

  @Test
  void secondHalfHasTheMiddleSample() {
    assertThat(Trend.secondHalf(new double[]{1, 2, 3, 4, 5})).containsExactly(3, 4, 5);
  }
}
