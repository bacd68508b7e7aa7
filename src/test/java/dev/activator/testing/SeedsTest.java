package dev.activator.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class SeedsTest {
  @Test
  void namesTheFirstSeedThatFails() {
    var seen = new ArrayList<Long>();

    assertThatThrownBy(() -> Seeds.each(seed -> {
      seen.add(seed);
      assertThat(seed).isLessThan(3);
    })).isInstanceOf(AssertionError.class).hasMessageStartingWith("seed 3 (-Dseed=3): ");

    assertThat(seen).containsExactly(0L, 1L, 2L, 3L);
  }
}
