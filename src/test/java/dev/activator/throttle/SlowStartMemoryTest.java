package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.throttle.policy.DestinationSubset;
import org.junit.jupiter.api.Test;

class SlowStartMemoryTest {
  private static final Destination A = new Destination("10.0.0.1", 8012);

  private final RevisionPermits.SlowStartMemory memory = new RevisionPermits.SlowStartMemory();

  private static Destination other(int number) {
    return new Destination("10.1.0." + number % 250, 1 + number);
  }

  @Test
  void knowsADestinationOnce() {
    memory.remember(A, 2);

    assertThat(memory.take(A)).isEqualTo(2);
    assertThat(memory.take(A)).isEqualTo(DestinationSubset.UNLIMITED);
  }

  @Test
  void forgetsThoseThatWereRememberedFirst() {
    memory.remember(A, 2);
    memory.remember(other(0), 3);
    memory.remember(A, 1);
    for (int i = 1; i < RevisionPermits.SlowStartMemory.REMEMBERED; i++) {
      memory.remember(other(i), 4);
    }

    assertThat(memory.take(other(0))).isEqualTo(DestinationSubset.UNLIMITED);
    assertThat(memory.take(A)).isEqualTo(1);
  }
}
