package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.throttle.policy.Loads;
import org.junit.jupiter.api.Test;

class NarrowedTest {
  private static final Destination A = new Destination("10.0.0.1", 8012);

  private final Narrowed narrowed = new Narrowed();

  private static Destination other(int number) {
    return new Destination("10.1.0." + number % 250, 1 + number);
  }

  @Test
  void knowsADestinationOnce() {
    narrowed.remember(A, 2);

    assertThat(narrowed.take(A)).isEqualTo(2);
    assertThat(narrowed.take(A)).isEqualTo(Loads.UNLIMITED);
  }

  @Test
  void forgetsThoseThatWereRememberedFirst() {
    narrowed.remember(A, 2);
    narrowed.remember(other(0), 3);
    narrowed.remember(A, 1);
    for (int i = 1; i < Narrowed.REMEMBERED; i++) {
      narrowed.remember(other(i), 4);
    }

    assertThat(narrowed.take(other(0))).isEqualTo(Loads.UNLIMITED);
    assertThat(narrowed.take(A)).isEqualTo(1);
  }
}
