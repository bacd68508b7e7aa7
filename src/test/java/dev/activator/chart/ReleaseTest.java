package dev.activator.chart;

import static org.assertj.core.api.Assertions.assertThat;

import com.marcnuri.helm.Helm;
import dev.activator.embedded.api.schema.ProtobufSchemaValidator;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** What a release has in addition to the chart, and what the chart says of itself. */
class ReleaseTest {
  private static final YAMLMapper YAML = new YAMLMapper();

  private static JsonNode annotation(String name) throws Exception {
    var chart = YAML.readTree(Files.readString(Chart.SOURCE.resolve("Chart.yaml")));
    return YAML.readTree(chart.path("annotations").path("artifacthub.io/" + name).asString());
  }

  @Test
  void namesTheImageThatItInstalls() throws Exception {
    var images = annotation("images");

    assertThat(images.findValuesAsString("image"))
        .containsExactly(Chart.replacing().container().path("image").asString());
  }

  @Test
  void namesItsDefinition() throws Exception {
    var definition = YAML.readTree(Chart.SOURCE.resolve("files/scaledservices.yaml").toFile());

    var named = annotation("crds").path(0);

    assertThat(named.path("name")).isEqualTo(definition.at("/metadata/name"));
    assertThat(named.path("kind")).isEqualTo(definition.at("/spec/names/kind"));
    assertThat(named.path("version")).isEqualTo(definition.at("/spec/versions/0/name"));
  }

  @Test
  void showsAnExampleThatKubernetesAccepts() throws Exception {
    var example = (ObjectNode) annotation("crdsExamples").path(0);
    var store = new ApiStore(Clock.systemUTC());
    ScaledServiceCrd.createIn(store);
    var kind = ScaledServiceCrd.of(store);

    assertThat(ProtobufSchemaValidator.of(kind, example).unknown()).isEmpty();
    assertThat(store.create(kind, example).at("/metadata/uid").asString()).isNotEmpty();
  }

  @Test
  void saysWhatChangedInWordsThatArtifactHubKnows() throws Exception {
    assertThat(annotation("changes")).isNotEmpty().allSatisfy(change -> {
      assertThat(change.path("kind").asString())
          .isIn("added", "changed", "deprecated", "removed", "fixed", "security");
      assertThat(change.path("description").asString()).isNotBlank();
    });
  }

  /** Of the kinds whose fields are known: typing errors, and values of another type. */
  @ParameterizedTest
  @ValueSource(strings = {"replace", "beside", "standalone"})
  void isWhatKubernetesSchemaAllows(String mode) {
    var chart = Chart.installed("trial", mode.equals("replace") ? "knative-serving" : "edge",
        "mode: " + mode, "serviceMonitor: {enabled: true}", "prometheusRule: {enabled: true}",
        "dashboard: {enabled: true}", "console: {auth: token}",
        "autoscaling: {saturation: {enabled: true}}",
        "certificate: {enabled: true, metrics: true, issuerRef: {name: ca}}");
    var checked = new TreeSet<String>();

    for (var object : chart.objects()) {
      BuiltInKinds.all().stream()
          .filter(kind -> kind.apiVersion().equals(object.path("apiVersion").asString())
              && kind.kind().equals(object.path("kind").asString()))
          .forEach(kind -> {
            checked.add(kind.kind());
            var findings = ProtobufSchemaValidator.of(kind, (ObjectNode) object);
            assertThat(findings.unknown()).as(Chart.name(object)).isEmpty();
            assertThat(findings.wrong()).as(Chart.name(object)).isEmpty();
          });
    }
    assertThat(checked).contains("Deployment", "HorizontalPodAutoscaler", "Service",
        "ServiceAccount");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void manifestsAreNotBegunWithoutHelm(@TempDir Path folder) throws Exception {
    var out = folder.resolve("out");
    var builder = new ProcessBuilder("/bin/bash", "bin/manifests", out.toString())
        .redirectErrorStream(true);
    Files.createSymbolicLink(folder.resolve("dirname"), Path.of("/usr/bin/dirname"));
    builder.environment().put("PATH", folder.toString());

    var run = builder.start();

    assertThat(new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("bin/manifests: there is no helm in PATH\n");
    assertThat(run.waitFor()).isOne();
    assertThat(out).doesNotExist();
  }

  /** With a program in the place of Helm, which prints what Helm would. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void manifestsAreTheChartWithoutHelm(@TempDir Path folder) throws Exception {
    var values = folder.resolve("values.yaml");
    Files.writeString(values, "mode: standalone\n");
    var rendered = new Helm(Chart.SOURCE).template().withName("activator")
        .withNamespace("activator").withKubeVersion("1.29.0").withValuesFile(values).call();
    Files.writeString(folder.resolve("all"), rendered);
    Files.writeString(folder.resolve("definition"), Stream.of(rendered.split("(?m)^---\n"))
        .filter(document -> document.contains("kind: CustomResourceDefinition")).findFirst()
        .orElseThrow());
    var helm = folder.resolve("helm");
    Files.writeString(helm, """
        #!/usr/bin/env bash
        echo "$*" >> "$FOLDER/calls"
        case "$*" in *--show-only*) cat "$FOLDER/definition" ;; *) cat "$FOLDER/all" ;; esac
        """);
    assertThat(helm.toFile().setExecutable(true)).isTrue();
    var builder = new ProcessBuilder("bash", "bin/manifests", folder.resolve("out").toString())
        .redirectErrorStream(true).redirectOutput(folder.resolve("log").toFile());
    builder.environment().put("PATH", folder + ":" + System.getenv("PATH"));
    builder.environment().put("FOLDER", folder.toString());

    assertThat(builder.start().waitFor()).as(Files.readString(folder.resolve("log"))).isZero();

    assertThat(Files.readAllLines(folder.resolve("calls"))).containsExactly(
        "template activator helm/activator --namespace activator --kube-version 1.29.0"
            + " --skip-tests --set mode=standalone",
        "template activator helm/activator --namespace activator --kube-version 1.29.0"
            + " --skip-tests --set mode=standalone --show-only templates/scaledservices.yaml");
    var installed = names(folder.resolve("out/install.yaml"));
    assertThat(installed).first().isEqualTo("Namespace activator");
    assertThat(installed.subList(1, installed.size()))
        .containsExactlyInAnyOrderElementsOf(
            Chart.installed("activator", "activator", "mode: standalone").names());
    assertThat(names(folder.resolve("out/crds.yaml")))
        .containsExactly("CustomResourceDefinition scaledservices.activator.dev");
    assertThat(Files.readString(folder.resolve("out/install.yaml"))
        + Files.readString(folder.resolve("out/crds.yaml")))
        .doesNotContain("Helm", "helm.sh").contains("managed-by: kubectl");
  }

  private static List<String> names(Path file) throws Exception {
    try (var documents = YAML.readerFor(JsonNode.class)
        .<JsonNode>readValues(Files.readString(file))) {
      return new ArrayList<>(documents.readAll().stream().filter(JsonNode::isObject)
          .map(Chart::name).toList());
    }
  }

  @Test
  void vexNamesTestsThatThereAre() throws Exception {
    var vex = JsonMapper.shared()
        .readTree(Files.readString(Path.of("security", "activator.openvex.json")));
    List<String> tests;
    try (var files = Files.walk(Path.of("src/test/java"))) {
      tests = files.map(file -> file.getFileName().toString().replace(".java", "")).toList();
    }

    assertThat(vex.path("@context").asString()).isEqualTo("https://openvex.dev/ns/v0.2.0");
    assertThat(vex.path("statements")).isNotEmpty().allSatisfy(statement -> {
      assertThat(statement.at("/vulnerability/name").asString()).matches("CVE-\\d{4}-\\d+|VU#\\d+");
      assertThat(statement.path("products")).isNotEmpty();
      assertThat(statement.path("status").asString()).isEqualTo("not_affected");
      assertThat(statement.path("justification").asString()).isIn("component_not_present",
          "vulnerable_code_not_present", "vulnerable_code_not_in_execute_path",
          "vulnerable_code_cannot_be_controlled_by_adversary", "inline_mitigations_already_exist");
      assertThat(Pattern.compile("\\w+Test\\b")
          .matcher(statement.path("impact_statement").asString()).results()
          .map(found -> found.group()).toList()).isNotEmpty().isSubsetOf(tests);
    });
  }

  @Test
  void verifiesWithTheNamesThatTheWorkflowSigns() throws Exception {
    var page = Files.readString(Path.of("docs", "releases.md"));
    var workflow = Files.readString(Path.of(".github", "workflows", "release.yml"));

    assertThat(workflow).contains("cosign sign --yes", "cosign sign-blob --yes --bundle",
        "--type cyclonedx", "--type openvex", "attest-build-provenance", "bin/manifests");
    assertThat(page).contains("cosign verify ", "cosign verify-blob", "--bundle",
        "cosign verify-attestation", "gh attestation verify", "workflows/release.yml@refs/tags/v");
  }
}
