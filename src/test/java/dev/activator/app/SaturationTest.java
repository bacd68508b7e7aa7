package dev.activator.app;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopDelay;
import dev.activator.testing.VirtualLoop;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SaturationTest {
  @ParameterizedTest(name = "processors {0}, memory {1}: {2}")
  @CsvSource({"0.2, 0.1, 0.2", "0.2, 0.9, 0.9", "0, 0, 0", "-1, 0.3, 0.3", "NaN, 0.3, 0.3",
      "0.4, 1.7, 1"})
  void isTheShareOfTheNearestLimit(double processors, double memory, double expected) {
    assertThat(new Saturation(() -> processors, () -> memory, List.of()).now())
        .isEqualTo(expected);
  }

  @Test
  void isReachedByALoopThatIsLate() {
    // given a loop whose tasks wait for 10 ms, of the 50 that are too many
    var clock = new VirtualLoop();
    var busy = new VirtualLoop();
    var delay = new LoopDelay(busy, clock, ofSeconds(1));
    delay.start();
    clock.run();
    clock.advance(ofMillis(10));

    assertThat(new Saturation(() -> 0, () -> 0, List.of(delay)).now()).isEqualTo(0.2);
  }
}
