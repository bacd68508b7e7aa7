package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Seeds;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrameBudgetTest {

  private final FrameBudget budget = new FrameBudget(0);

  @ParameterizedTest(name = "{0}")
  @CsvSource({"DATA, 0, 0, 1, false", "DATA that is empty, 0, 0, 0, true",
      "DATA that only ends its stream, 0, 1, 0, false", "HEADERS, 1, 4, 20, false",
      "HEADERS without a field, 1, 4, 0, true", "PRIORITY, 2, 0, 5, true",
      "RST_STREAM, 3, 0, 4, true", "SETTINGS, 4, 0, 6, true",
      "SETTINGS that acknowledge, 4, 1, 0, true", "PING, 6, 0, 8, true",
      "PING that answers, 6, 1, 8, true", "GOAWAY, 7, 0, 8, true", "WINDOW_UPDATE, 8, 0, 4, true",
      "CONTINUATION, 9, 0, 20, false", "CONTINUATION without a field, 9, 0, 0, true",
      "PRIORITY_UPDATE, 16, 0, 8, true", "a type nobody knows, 200, 0, 16384, true"})
  void chargesWhatCarriesNeitherAHeadNorABody(String what, int type, int flags, int length,
      boolean charged) {
    assertThat(FrameBudget.isCharged(type, flags, length)).isEqualTo(charged);
  }

  @Test
  void takesABurstAndNotOneMore() {
    assertThat(take(FrameBudget.BURST - 1, 0)).isTrue();
    assertThat(take(1, 0)).isTrue();
    assertThat(take(1, 0)).isFalse();
  }

  @Test
  void takesSomeInEachSecondForEver() {
    long now = 0;
    take(FrameBudget.BURST, now);
    for (int second = 0; second < 1_000; second++) {
      now += Duration.ofSeconds(1).toNanos();
      assertThat(take(FrameBudget.PER_SECOND, now)).isTrue();
    }
    assertThat(take(1, now)).isFalse();
  }

  @Test
  void savesNoMoreThanABurstWhileNothingComes() {
    long later = Duration.ofDays(3).toNanos();
    assertThat(take(FrameBudget.BURST + 1, later)).isFalse();
  }

  @Test
  void acceptsMoreControlFrames_whenResponseBytesEarnBudget() {
    take(FrameBudget.BURST, 0);
    budget.earn(16 << 10);
    assertThat(take(FrameBudget.PER_RESPONSE_FRAME + 16, 0)).isTrue();
    assertThat(take(1, 0)).isFalse();
  }

  @Test
  void savesALimitedNumberFromResponses() {
    for (int i = 0; i < 100_000; i++) {
      budget.earn(1 << 20);
    }
    assertThat(take(FrameBudget.MAX_SAVED, 0)).isTrue();
    assertThat(take(1, 0)).isFalse();
  }

  @Test
  void neverTakesMoreThanBurstAndRateAndResponsesAllow() {
    Seeds.each(seed -> new FrameBudgetTest().neverTakesMoreThanBurstAndRateAndResponsesAllow(seed));
  }

  private void neverTakesMoreThanBurstAndRateAndResponsesAllow(long seed) {
    var random = new Random(seed);
    long now = 0;
    long taken = 0;
    long earned = 0;
    for (int i = 0; i < 500; i++) {
      now += random.nextLong(Duration.ofMillis(200).toNanos());
      if (random.nextInt(10) == 0) {
        budget.earn(0);
        earned += FrameBudget.PER_RESPONSE_FRAME;
      }
      int frames = random.nextInt(40);
      // At least the rate is taken as well.
      boolean allowed = take(frames, now);
      long most = FrameBudget.BURST + earned + FrameBudget.PER_SECOND * now / 1_000_000_000L;
      if (!allowed) {
        assertThat(taken + frames).isGreaterThan(FrameBudget.BURST);
        return;
      }
      taken += frames;
      assertThat(taken).isLessThanOrEqualTo(most);
    }
  }

  /** Whether the last of them is allowed. */
  private boolean take(int frames, long now) {
    boolean allowed = true;
    for (int i = 0; i < frames; i++) {
      allowed = budget.take(now);
    }
    return allowed;
  }
}
