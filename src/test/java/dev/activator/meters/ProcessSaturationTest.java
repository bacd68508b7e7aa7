package dev.activator.meters;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopDelay;
import dev.activator.observability.Meters;
import dev.activator.testing.Scrape;
import dev.activator.testing.VirtualLoop;
import java.util.List;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessSaturationTest {
  private static double saturation(DoubleSupplier processors, DoubleSupplier memory,
      List<LoopDelay> loops) {
    var meters = new Meters();
    new ActivatorMeters(meters).saturation(new ProcessSaturation(processors, memory, loops));
    var line = Scrape.of(meters, "activator_saturation").getFirst();
    return Double.parseDouble(line.substring(line.indexOf(' ') + 1));
  }

  @ParameterizedTest(name = "processors {0}, memory {1}: {2}")
  @CsvSource({"0.2, 0.1, 0.2", "0.2, 0.9, 0.9", "0, 0, 0", "-1, 0.3, 0.3", "NaN, 0.3, 0.3",
      "0.4, 1.7, 1"})
  void isTheShareOfTheNearestLimit(double processors, double memory, double expected) {
    assertThat(saturation(() -> processors, () -> memory, List.of())).isEqualTo(expected);
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

    assertThat(saturation(() -> 0, () -> 0, List.of(delay))).isEqualTo(0.2);
  }
}
