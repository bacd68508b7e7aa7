package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ExitTest {
  @Test
  void namesTheCodeAndTheLineWithTheError() {
    assertThat(Exit.code("hello-00001", 3, "no such file")).isEqualTo(new Exit("ExitCode3",
        "process of hello-00001 ended with exit code 3: no such file", 3));
    assertThat(Exit.code("hello-00001", 3, ""))
        .isEqualTo(new Exit("ExitCode3", "process of hello-00001 ended with exit code 3", 3));
  }

  @Test
  void saysWhyAProcessCannotRun() {
    assertThat(Exit.cannotRun("hello-00001", "not a program")).isEqualTo(
        new Exit("CannotRun", "process of hello-00001 cannot run: not a program", -1));
  }
}
