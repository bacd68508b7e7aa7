package dev.activator.embedded.runtime.serving;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NamesTest {
  @Test
  void numberRevisionsWithFiveDigits() {
    assertThat(Names.revision("hello", 7)).isEqualTo("hello-00007");
  }

  @Test
  void appendPrivateWhileThatFitsALabel() {
    assertThat(Names.privateService("foo")).isEqualTo("foo-private");
    assertThat(Names.privateService("f".repeat(55))).isEqualTo("f".repeat(55) + "-private");
  }

  @Test
  void putADigestInThePlaceOfTheEndOfALongOne() {
    assertThat(Names.privateService("f".repeat(63)))
        .isEqualTo("f".repeat(23) + "105d7597f637e83cc711605ac3ea4957-private");
  }
}
