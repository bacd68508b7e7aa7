package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Embedded mode with the clients that people have: {@code local_platform.py} runs through it with
 * kubectl and Python's kubernetes client. Skipped where one of them is not installed.
 */
class LocalPlatformIT {
  private static final String KUBECTL = "/usr/bin/kubectl";
  private static final String PYTHON = "/usr/bin/python3";

  @Test
  void doesWhatManifestsSayOrWarns() throws Exception {
    assumeTrue(Files.isExecutable(Path.of(KUBECTL)), "there is no " + KUBECTL);
    assumeTrue(Files.isExecutable(Path.of(PYTHON)) && run("-c", "import kubernetes").code() == 0,
        PYTHON + " has no package kubernetes");
    try (var activator = ActivatorProcess.started().ready()) {
      var run = run("src/test/python/local_platform.py", activator.api(),
          String.valueOf(activator.requestPort()), KUBECTL);

      assertThat(run.code()).as("%s%n%s", run.output(), activator.log()).isZero();
      assertThat(run.output()).contains("ok     sixty", "ok     takeover");
    }
  }

  private record Run(int code, String output) {}

  private static Run run(String... arguments) throws Exception {
    var command = new ArrayList<>(List.of(PYTHON));
    command.addAll(List.of(arguments));
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    var output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return new Run(process.exitValue(), output);
  }
}
