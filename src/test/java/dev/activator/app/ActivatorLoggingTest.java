package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import tools.jackson.databind.json.JsonMapper;

class ActivatorLoggingTest {
  /** Logging is set up once in a process: this is the one whose lines are looked at. */
  static final class Logs {
    public static void main(String[] args) {
      ActivatorLogging.use();
      new SpringApplicationBuilder(Logs.class).web(WebApplicationType.NONE).profiles(args[0])
          .properties("spring.main.log-startup-info=false").run();
      LoggerFactory.getLogger(Logs.class).info("It is {}", args[0]);
    }
  }

  private record Printed(String output, String errors) {}

  private static Printed logIn(String profile) throws IOException, InterruptedException {
    var builder = new ProcessBuilder(
        List.of(ProcessHandle.current().info().command().orElseThrow(), "-cp",
            System.getProperty("java.class.path"), "-XX:TieredStopAtLevel=1", Logs.class.getName(),
            profile));
    builder.environment().putAll(Map.of("POD_NAME", "activator-1", "ACTIVATOR_COMMIT",
        "abc123"));
    var process = builder.start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    var errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(errors).isZero();
    return new Printed(output, errors);
  }

  @Test
  void writesLinesOfJsonToTheErrorStreamInACluster() throws Exception {
    var printed = logIn("cluster");

    assertThat(printed.output()).isEmpty();
    var line = JsonMapper.shared().readTree(printed.errors());
    assertThat(line.get("message").asString()).isEqualTo("It is cluster");
    assertThat(line.get("knative.dev/pod").asString()).isEqualTo("activator-1");
    assertThat(line.get("commit").asString()).isEqualTo("abc123");
  }

  @Test
  void writesLinesForPeopleElsewhere() throws Exception {
    assertThat(logIn("embedded").output().strip()).contains(" INFO ")
        .endsWith(" It is embedded");
  }
}
