package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.activator.testing.FreePort;
import dev.activator.embedded.api.store.BuiltInKinds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A start that cannot succeed: exit code 1, and one line that says what is wrong, and where. */
class BadStartIT {
  @TempDir
  Path directory;

  @Test
  void namesThePropertyThatIsInvalid() throws Exception {
    try (var activator = ActivatorProcess.started("--activator.port.http1=eighty")) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString().contains("activator.port.http1")
          .contains("eighty");
    }
  }

  @Test
  void namesThePropertyThatIsOutOfRange() throws Exception {
    try (var activator = ActivatorProcess.started("--activator.embedded.api-port=70000")) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString()
          .contains("activator.embedded.api-port is 70000, but a port is 0 to 65535");
    }
  }

  @Test
  void namesThePortsThatAreInUseAndADryRunDoesToo() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        var other = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      var ports = List.of("--activator.port.http1=" + taken.getLocalPort(),
          "--server.port=" + other.getLocalPort());
      for (var more : List.of(List.<String>of(), List.of("--dry-run"))) {
        try (var activator = ActivatorProcess.started(
            Stream.concat(ports.stream(), more.stream()).toArray(String[]::new))) {
          assertThat(activator.exitCode()).isEqualTo(1);
          assertThat(errors(activator)).singleElement().asString()
              .contains("activator.port.http1 is " + taken.getLocalPort(),
                  "server.port is " + other.getLocalPort());
        }
      }
    }
  }

  @Test
  void namesTheVariableThatIsMissingInACluster() throws Exception {
    var kubeconfig = kubeconfig(1);
    try (var activator = ActivatorProcess.startedIn(Map.of("KUBECONFIG", kubeconfig.toString()))) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString()
          .contains("POD_NAME, POD_IP, SYSTEM_NAMESPACE");
    }
  }

  @Test
  void namesTheKubeconfigThatIsNotThere() throws Exception {
    try (var activator = ActivatorProcess.startedIn(CLUSTER, "--kubeconfig=/nowhere/config")) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString().contains("/nowhere/config");
    }
    try (var activator = ActivatorProcess.startedIn(Map.of("KUBECONFIG", "/nowhere/config"))) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(activator.log().lines()).allMatch(line -> line.startsWith("{")).last().asString()
          .contains("Cannot start: there is no readable kubeconfig at /nowhere/config");
    }
  }

  @Test
  void namesTheApiThatCannotBeReached() throws Exception {
    int nobody = FreePort.next();
    try (var activator = ActivatorProcess.startedIn(CLUSTER,
        "--kubeconfig=" + kubeconfig(nobody), "--activator.cluster.api-timeout=2s")) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString()
          .contains("http://127.0.0.1:" + nobody);
    }
  }

  @Test
  @DisplayName("names the variable that is invalid, and its value")
  void namesTheVariableThatIsInvalid() throws Exception {
    var environment = new HashMap<>(CLUSTER);
    environment.put("KUBECONFIG", kubeconfig(1).toString());
    environment.put("PROBE_TIMEOUT", "soon");
    try (var activator = ActivatorProcess.startedIn(environment)) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString().contains(
          "PROBE_TIMEOUT is 'soon', but must be a duration such as 300ms, more than 0");
    }
  }

  @Test
  void namesTheArgumentThatMeansNothing() throws Exception {
    try (var activator = ActivatorProcess.started("-kubeconfg=/x")) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString()
          .contains("the argument '-kubeconfg=/x' is unknown");
    }
  }

  @Test
  @DisplayName("names the ConfigMaps that are missing, or wrong; and so does a dry run")
  void namesTheConfigMapsThatAreMissingOrWrong() throws Exception {
    try (var cluster = new FakeCluster()) {
      var config = "--kubeconfig=" + kubeconfig(cluster.api.port());
      cluster.configMap("config-network", Map.of("rollout-duration", "soon"));
      for (var more : List.of(List.of(config), List.of(config, "--dry-run"))) {
        try (var activator = ActivatorProcess.startedIn(CLUSTER, more.toArray(String[]::new))) {
          assertThat(activator.exitCode()).isEqualTo(1);
          assertThat(errors(activator)).singleElement().asString()
              .contains("the ConfigMap config-network: rollout-duration is 'soon'");
        }
      }
      cluster.api.store().delete(BuiltInKinds.CONFIG_MAP, FakeCluster.SYSTEM, "config-network");
      try (var activator = ActivatorProcess.startedIn(CLUSTER, config)) {
        assertThat(activator.exitCode()).isEqualTo(1);
        assertThat(errors(activator)).singleElement().asString()
            .contains("there is no ConfigMap knative-serving/config-network");
      }
    }
  }

  @Test
  void aDryRunSaysWhatWouldHoldAndStartsNothing() throws Exception {
    try (var activator = ActivatorProcess.started("--dry-run",
        "--activator.serving.queue-capacity=7")) {
      assertThat(activator.exitCode()).isZero();
      assertThat(activator.log()).contains("mode: embedded")
          .contains("activator.serving.queue-capacity: 7  # command line")
          .contains("activator.port.http1: 0  # environment ACTIVATOR_PORT_HTTP1")
          .contains("activator.probe.timeout: 300ms  # default").doesNotContain("listens")
          .doesNotContain("Listening for requests");
    }
    try (var activator = ActivatorProcess.started("--dry-run", "--activator.port.h2c=x")) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString()
          .contains("activator.port.h2c is 'x', but must be a whole number");
    }
  }

  @Test
  void anOlderJavaSaysInOneSentenceWhichIsNeeded() throws Exception {
    var old = olderJava();
    assumeThat(old).as("a Java from 17 to 24 in /usr/lib/jvm").isPresent();
    var process = new ProcessBuilder(old.get().resolve("bin/java").toString(), "-jar",
        System.getProperty("activator.jar")).redirectErrorStream(true).start();

    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).isEqualTo(1);
    assertThat(output.lines()).singleElement().asString().startsWith("Cannot start: this is Java ")
        .endsWith("needs Java 25 or later.");
  }

  private static Optional<Path> olderJava() throws IOException {
    try (var all = Files.list(Path.of("/usr/lib/jvm"))) {
      return all.filter(BadStartIT::isOlder).findAny();
    }
  }

  private static boolean isOlder(Path home) {
    try {
      return Files.isExecutable(home.resolve("bin/java"))
          && Files.readString(home.resolve("release"))
              .matches("(?s).*JAVA_VERSION=\"(1[7-9]|2[0-4])[.\"].*");
    } catch (IOException e) {
      return false;
    }
  }

  private static final Map<String, String> CLUSTER = Map.of("POD_NAME", "activator-1", "POD_IP",
      "10.0.0.1", "SYSTEM_NAMESPACE", "knative-serving");

  private static List<String> errors(ActivatorProcess activator) {
    return activator.log().lines().filter(BadStartIT::isError).toList();
  }

  /** As people are told, or as programs are, in a cluster. */
  private static boolean isError(String line) {
    return line.contains(" ERROR ") || line.contains("\"severity\":\"ERROR\"");
  }

  private Path kubeconfig(int port) throws Exception {
    return Files.writeString(directory.resolve("config"), """
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
        contexts: [{name: c, context: {cluster: c, user: u}}]
        current-context: c
        users: [{name: u, user: {}}]
        """.formatted(port));
  }
}
