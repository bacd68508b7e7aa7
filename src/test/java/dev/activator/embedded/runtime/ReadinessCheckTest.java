package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class ReadinessCheckTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final List<Duration> readyAt = new ArrayList<>();
  private int attempts;

  @Test
  void isReadyAtTheFirstAttemptThatSucceeds() {
    check(1, () -> loop.elapsed().toMillis() >= 420);

    // attempts at 0, 50, … 400, 450
    assertThat(readyAt).containsExactly(Duration.ofMillis(450));
    assertThat(attempts).isEqualTo(10);
  }

  @Test
  void goesOnForAsLongAsItTakes() {
    check(1, () -> loop.elapsed().toSeconds() >= 50);

    assertThat(readyAt).containsExactly(Duration.ofSeconds(50));
  }

  @Test
  void countsSuccessesInARow() {
    // given an attempt that fails after two that succeed
    check(3, () -> attempts != 3);

    assertThat(readyAt).containsExactly(Duration.ofMillis(250));
  }

  @Test
  void isNeverReadyOnceStopped() {
    var check = new ReadinessCheck(loop, Runnable::run, () -> {
      attempts++;
      return true;
    }, 2, () -> readyAt.add(loop.elapsed()));
    check.start();

    check.stop();
    loop.advance(Duration.ofSeconds(20));

    assertThat(readyAt).isEmpty();
    assertThat(attempts).isEqualTo(1);
  }

  private void check(int successThreshold, BooleanSupplier passes) {
    new ReadinessCheck(loop, Runnable::run, () -> {
      attempts++;
      return passes.getAsBoolean();
    }, successThreshold, () -> readyAt.add(loop.elapsed())).start();
    loop.advance(Duration.ofSeconds(60));
  }
}
