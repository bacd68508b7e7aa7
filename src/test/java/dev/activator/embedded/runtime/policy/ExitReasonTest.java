package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExitReasonTest {
  @Test
  void namesTheCodeAndTheLineWithTheError() {
    assertThat(ExitReason.code("hello-00001", 3, "no such file"))
        .isEqualTo(new ExitReason("ExitCode3",
            "process of hello-00001 ended with exit code 3: no such file", "no such file", 3));
    assertThat(ExitReason.code("hello-00001", 3, ""))
        .isEqualTo(
            new ExitReason("ExitCode3", "process of hello-00001 ended with exit code 3", "", 3));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "serve|''|error: 2 (No such file or directory) |there is no program \"serve\" in PATH",
      "./serve|''|error: 2 (No such file or directory) |there is no program \"./serve\"",
      "serve --port 1|''|error: 2 (No such file or directory) |there is no program \"serve --port 1\"; a command is a list with an entry for each word",
      "serve|/app|error: 2 (No such file or directory) |there is no folder \"/app\" to run it in",
      "./notes|''|error: 13 (Permission denied) |\"./notes\" is not a program that may be executed",
      "serve|''|error: 12 (Cannot allocate memory) |error: 12 (Cannot allocate memory)",
      "''|''|its container has no command|its container has no command"})
  void saysWhyAProgramDoesNotStart(String program, String folder, String error, String reason) {
    assertThat(ExitReason.sentence(program, folder, error)).isEqualTo(reason);
  }

  @Test
  void saysWhyAProcessCannotRun() {
    assertThat(ExitReason.cannotRun("hello-00001", "not a program")).isEqualTo(
        new ExitReason("CannotRun", "process of hello-00001 cannot run: not a program",
            "process of hello-00001 cannot run: not a program", -1));
  }
}
