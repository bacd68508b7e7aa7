package dev.activator.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
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
  void namesThePortThatIsInUse() throws Exception {
    try (var taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      for (String property : new String[]{"activator.port.http1", "activator.embedded.api-port",
          "activator.embedded.autoscaler-port", "server.port"}) {
        try (var activator = ActivatorProcess
            .started("--" + property + "=" + taken.getLocalPort())) {
          assertThat(activator.exitCode()).isEqualTo(1);
          assertThat(errors(activator)).as(property).singleElement().asString()
              .contains(String.valueOf(taken.getLocalPort()));
        }
      }
    }
  }

  @Test
  void namesTheVariableThatIsMissingInACluster() throws Exception {
    var kubeconfig = kubeconfig(1);
    try (var activator = ActivatorProcess.startedIn(Map.of("KUBECONFIG", kubeconfig.toString()))) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString().contains("POD_NAME");
    }
  }

  @Test
  void namesTheKubeconfigThatIsNotThere() throws Exception {
    try (var activator = ActivatorProcess.startedIn(CLUSTER, "--kubeconfig=/nowhere/config")) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString().contains("/nowhere/config");
    }
  }

  @Test
  void namesTheApiThatCannotBeReached() throws Exception {
    int nobody;
    try (var free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      nobody = free.getLocalPort();
    }
    try (var activator = ActivatorProcess.startedIn(CLUSTER,
        "--kubeconfig=" + kubeconfig(nobody), "--activator.cluster.api-timeout=2s")) {
      assertThat(activator.exitCode()).isEqualTo(1);
      assertThat(errors(activator)).singleElement().asString()
          .contains("http://127.0.0.1:" + nobody);
    }
  }

  private static final Map<String, String> CLUSTER = Map.of("POD_NAME", "activator-1", "POD_IP",
      "10.0.0.1", "SYSTEM_NAMESPACE", "knative-serving");

  private static java.util.List<String> errors(ActivatorProcess activator) {
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
