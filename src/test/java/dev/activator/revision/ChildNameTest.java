package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ChildNameTest {
  @Test
  @DisplayName("it is named after the revision")
  void isNamedAfterTheRevision() {
    assertThat(ChildName.ofPrivateService("foo")).isEqualTo("foo-private");
    assertThat(ChildName.ofPrivateService("f".repeat(55))).isEqualTo("f".repeat(55) + "-private");
  }

  @Test
  @DisplayName("a name that would be too long is cut and hashed")
  void isCutAndHashedWhereTheNameWouldBeTooLong() {
    assertThat(ChildName.ofPrivateService("f".repeat(63)))
        .isEqualTo("f".repeat(23) + "105d7597f637e83cc711605ac3ea4957-private").hasSize(63);
    assertThat(ChildName.ofPrivateService("f".repeat(56))).hasSize(63).endsWith("-private");
  }
}
