package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NamesTest {
  @Test
  void aPrivateServiceHasTheRevisionsNameUpTo55Characters() {
    assertThat(Names.privateService("hello-00001")).isEqualTo("hello-00001-private");
    assertThat(Names.privateService("f".repeat(55))).isEqualTo("f".repeat(55) + "-private");
  }

  @Test
  void aLongerNameIsCutAndHashed() {
    assertThat(Names.privateService("f".repeat(63)))
        .isEqualTo("f".repeat(23) + "105d7597f637e83cc711605ac3ea4957-private");
  }
}
