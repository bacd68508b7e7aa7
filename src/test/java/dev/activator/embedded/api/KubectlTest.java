package dev.activator.embedded.api;

import static dev.activator.embedded.api.Kinds.DEPLOYMENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.testing.EmbeddedApi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that people use; skipped where it is not installed. */
class KubectlTest {
  private static final Path KUBECTL = Path.of("/usr/bin/kubectl");
  private static final String DEPLOYMENT_YAML = """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: d}
      spec:
        replicas: 1
        selector: {matchLabels: {a: b}}
        template:
          metadata: {labels: {a: b}}
          spec: {containers: [{name: c, image: "%s"}]}
      """;
  private static final String SERVICE_YAML = """
      apiVersion: serving.knative.dev/v1
      kind: Service
      metadata: {name: hello}
      spec: {template: {spec: {containers: [{image: "%s"}]}}}
      """;
  private static final String ENDPOINTS_YAML = """
      apiVersion: v1
      kind: Endpoints
      metadata: {name: e}
      subsets: [{addresses: [{ip: "%s"}], ports: [{name: http, port: 80}]}]
      """;

  @TempDir
  private Path home;
  private EmbeddedApi api;

  @BeforeEach
  void start() {
    assumeTrue(Files.isExecutable(KUBECTL), "kubectl is not installed at " + KUBECTL);
    api = EmbeddedApi.start();
  }

  @AfterEach
  void stop() {
    if (api != null) {
      api.close();
    }
  }

  @Test
  void appliesWhatIsNewChangedAndUnchanged() throws Exception {
    for (var yaml : List.of(DEPLOYMENT_YAML, SERVICE_YAML, ENDPOINTS_YAML)) {
      var file = Files.writeString(home.resolve("it.yaml"), yaml.formatted("10.0.0.1"));
      assertThat(kubectl("apply", "-f", file.toString())).endsWith(" created");
      assertThat(kubectl("apply", "-f", file.toString())).endsWith(" unchanged");
      Files.writeString(file, yaml.formatted("10.0.0.2"));
      assertThat(kubectl("apply", "-f", file.toString())).endsWith(" configured");
    }
    assertThat(kubectl("get", "endpoints")).contains("10.0.0.2:80");
    assertThat(kubectl("get", "deployment", "d", "-o",
        "jsonpath={.spec.template.spec.containers[*].image}")).isEqualTo("10.0.0.2");
    assertThat(kubectl("get", "ksvc", "-o", "yaml")).contains("name: hello", "image: 10.0.0.2");
  }

  @Test
  void scalesPatchesLabelsAndDeletes() throws Exception {
    var file = Files.writeString(home.resolve("d.yaml"), DEPLOYMENT_YAML.formatted("i"));
    kubectl("apply", "-f", file.toString());

    assertThat(kubectl("scale", "deployment", "d", "--replicas=3"))
        .isEqualTo("deployment.apps/d scaled");
    kubectl("label", "deployment", "d", "x=y");
    kubectl("patch", "deployment", "d", "-p", "{\"spec\":{\"paused\":true}}");

    var d = api.store().find(DEPLOYMENT, "default", "d");
    assertThat(d.at("/spec/replicas").intValue()).isEqualTo(3);
    assertThat(d.at("/spec/paused").booleanValue()).isTrue();
    assertThat(d.at("/metadata/labels/x").stringValue()).isEqualTo("y");
    assertThat(kubectl("get", "deployments", "-l", "x=y")).contains("READY", "0/3");

    assertThat(kubectl("delete", "deployment", "d")).contains("\"d\" deleted");
    assertThat(kubectl("get", "deployment", "d")).contains("(NotFound)");
  }

  @Test
  void tellsWhichResourcesThereAre() throws Exception {
    assertThat(kubectl("api-resources")).contains("ksvc", "deployments", "endpoints");
    assertThat(kubectl("version")).contains("Server Version: v1.36.2");
    assertThat(kubectl("get", "--raw", "/readyz")).isEqualTo("ok");
    assertThat(kubectl("get", "pods", "-A")).isEqualTo("No resources found");
    assertThat(kubectl("get", "nothing")).contains("doesn't have a resource type");
  }

  @Test
  void watchesUntilItHasSeenEnough() throws Exception {
    // given a watch that ends by itself when the object is there
    var process = process("wait", "--for=jsonpath={.status.replicas}=1", "deployment/d",
        "--timeout=30s");
    var file = Files.writeString(home.resolve("d.yaml"), DEPLOYMENT_YAML.formatted("i"));
    kubectl("apply", "-f", file.toString());
    var waiting = process.start();

    // when its status comes
    api.store().updateStatus(DEPLOYMENT, "default", "d", d -> {
      d.putObject("status").put("replicas", 1);
      return d;
    });

    assertThat(output(waiting)).endsWith("condition met");
  }

  private String kubectl(String... arguments) throws IOException, InterruptedException {
    return output(process(arguments).start());
  }

  private ProcessBuilder process(String... arguments) {
    var command = new ArrayList<>(List.of(KUBECTL.toString(), "-s", api.url()));
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("HOME", home.toString());
    builder.environment().remove("KUBECONFIG");
    return builder;
  }

  private static String output(Process process) throws IOException, InterruptedException {
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return output.lines().filter(line -> !line.startsWith("WARNING: version difference")).toList()
        .stream().reduce((one, next) -> one + "\n" + next).orElse("").strip();
  }
}
