package dev.activator.embedded.runtime.serving;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NamesTest {
  @Test
  void numberRevisionsWithFiveDigits() {
    assertThat(Names.revision("hello", 7)).isEqualTo("hello-00007");
  }

  @Test
  void fitALabelHoweverLongTheServiceIs() {
    assertThat(Names.deployment(Names.revision("s".repeat(63), 1))).hasSize(63)
        .endsWith("-deployment");
  }
}
