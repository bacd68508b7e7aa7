package dev.activator.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.ActivatorMode;
import dev.activator.config.CommandLine;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.Certificate;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import dev.activator.testing.Make;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A dry run finds what would end a start. */
@Isolated("Spring Boot sets up the log")
class SettingsDryRunTest {
  @TempDir
  Path directory;

  private static final List<String> FREE_PORTS = List.of("--activator.port.http1=0",
      "--activator.port.h2c=0", "--activator.port.https=0", "--server.port=0",
      "--activator.embedded.api-port=0", "--activator.embedded.autoscaler-port=0",
      "--activator.profiling.port=0");

  private static int run(ActivatorMode mode, String... arguments) {
    var all = Stream.concat(FREE_PORTS.stream(), Stream.of(arguments)).toArray(String[]::new);
    return SettingsDryRun.of(CommandLine.parse(UnknownSettings::problem, all), mode,
        (_, _) -> Make.scaledServices());
  }

  private static String printed(Runnable task) {
    var printed = new ByteArrayOutputStream();
    var out = System.out;
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      task.run();
    } finally {
      System.setOut(out);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }

  /** Otherwise, a newcomer waits five minutes for a program that listens on another port. */
  @Test
  void requestsWaitThirtySecondsInEmbeddedMode() {
    assertThat(printed(() -> run(ActivatorMode.EMBEDDED)))
        .contains("activator.serving.queue-timeout: 30s");
    assertThat(printed(
        () -> run(ActivatorMode.EMBEDDED, "--activator.serving.queue-timeout=2m")))
        .contains("activator.serving.queue-timeout: 2m");
  }

  @ParameterizedTest(name = "{0} and {1}, the key another''s: {2}")
  @CsvSource({"activator.metrics-server.tls-cert, activator.metrics-server.tls-key, false, 0",
      "activator.metrics-server.tls-cert, activator.metrics-server.tls-key, true, 1",
      "activator.tls.certificate, activator.tls.key, false, 0",
      "activator.tls.certificate, activator.tls.key, true, 1"})
  void readsTheFilesOfCertificates(String chain, String key, boolean isAnothers, int code)
      throws Exception {
    var one = directory.resolve("tls.crt");
    var other = directory.resolve("tls.key");
    Certificate.ec().write(one, other, "PKCS#8");
    if (isAnothers) {
      Certificate.ec().write(directory.resolve("another.crt"), other, "PKCS#8");
    }

    assertThat(run(ActivatorMode.EMBEDDED, "--" + chain + "=" + one, "--" + key + "=" + other))
        .isEqualTo(code);
  }

  @Test
  void saysWhichValueIsInvalid() {
    var printed = printed(() -> assertThatThrownBy(
        () -> run(ActivatorMode.EMBEDDED, "--activator.probe.timeout=soon"))
        .hasRootCauseInstanceOf(IllegalArgumentException.class));

    // Spring Boot reports what ends the run of an application, but not what fails later.
    assertThat(printed).doesNotContain("mode: ");
  }

  @ParameterizedTest(name = "of an API without EndpointSlices, {0}: {1}")
  @CsvSource({"auto, 0", "endpoints, 0", "endpointslices, 1"})
  void listsWhatTheSettingsSay(String source, int code) {
    try (var api = EmbeddedApi.start()) {
      for (var name : List.of("config-network", "config-logging", "config-observability")) {
        var map = Json.object();
        ObjectMeta.of(map).put("namespace", "knative-serving").put("name", name);
        api.store().create(BuiltInKinds.CONFIG_MAP, map);
      }
      api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.ENDPOINT_SLICE),
          Fault.Answer.status(403));

      assertThat(run(ActivatorMode.CLUSTER, "-server=" + api.url(),
          "--activator.endpoints-source=" + source, "--activator.lending.port=0",
          "--activator.identity.pod-name=activator-1", "--activator.identity.pod-ip=10.0.0.1",
          "--activator.identity.system-namespace=knative-serving")).isEqualTo(code);
      api.faults().heal();
    }
  }
}
