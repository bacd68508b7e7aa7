package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrivateServiceTest {
  @Test
  void isNamedAfterTheRevision() {
    assertThat(PrivateService.nameOf("foo")).isEqualTo("foo-private");
    assertThat(PrivateService.nameOf("f".repeat(55))).isEqualTo("f".repeat(55) + "-private");
  }

  @Test
  void isCutAndHashedWhereTheNameWouldBeTooLong() {
    assertThat(PrivateService.nameOf("f".repeat(63)))
        .isEqualTo("f".repeat(23) + "105d7597f637e83cc711605ac3ea4957-private").hasSize(63);
    assertThat(PrivateService.nameOf("f".repeat(56))).hasSize(63).endsWith("-private");
  }
}
