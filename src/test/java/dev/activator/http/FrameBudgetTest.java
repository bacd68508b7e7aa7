package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrameBudgetTest {

  private final VirtualLoop loop = new VirtualLoop();
  private final FrameBudget budget = new FrameBudget(loop);

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
    assertThat(take(FrameBudget.BURST - 1)).isTrue();
    assertThat(take(1)).isTrue();
    assertThat(take(1)).isFalse();
  }

  @Test
  void takesSomeInEachSecondForEver() {
    take(FrameBudget.BURST);
    for (int second = 0; second < 1_000; second++) {
      loop.advance(Duration.ofSeconds(1));
      assertThat(take(FrameBudget.PER_SECOND)).isTrue();
    }
    assertThat(take(1)).isFalse();
  }

  @Test
  void savesNoMoreThanABurstWhileNothingComes() {
    loop.advance(Duration.ofDays(3));
    assertThat(take(FrameBudget.BURST + 1)).isFalse();
  }

  @Test
  void acceptsMoreControlFrames_whenResponseBytesEarnBudget() {
    take(FrameBudget.BURST);
    budget.earn(16 << 10);
    assertThat(take(FrameBudget.PER_RESPONSE_FRAME + 16)).isTrue();
    assertThat(take(1)).isFalse();
  }

  @Test
  void savesALimitedNumberFromResponses() {
    for (int i = 0; i < 100_000; i++) {
      budget.earn(1 << 20);
    }
    assertThat(take(FrameBudget.MAX_SAVED)).isTrue();
    assertThat(take(1)).isFalse();
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
      var passed = Duration.ofNanos(random.nextLong(Duration.ofMillis(200).toNanos()));
      now += passed.toNanos();
      loop.advance(passed);
      if (random.nextInt(10) == 0) {
        budget.earn(0);
        earned += FrameBudget.PER_RESPONSE_FRAME;
      }
      int frames = random.nextInt(40);
      // At least the rate is taken as well.
      boolean allowed = take(frames);
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
  private boolean take(int frames) {
    boolean allowed = true;
    for (int i = 0; i < frames; i++) {
      allowed = budget.take();
    }
    return allowed;
  }
}
