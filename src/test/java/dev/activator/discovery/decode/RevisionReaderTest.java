package dev.activator.discovery.decode;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.Yaml;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RevisionReaderTest {
  private static Revision read(String yaml) {
    return Objects.requireNonNull(Yaml.decoded(KnativeKinds.REVISIONS, yaml).value());
  }

  private static Revision withContainers(String containers) {
    return read("{metadata: {namespace: ns, name: rev}, spec: {containers: " + containers + "}}");
  }

  @Test
  void readsEverythingItNeeds() {
    assertThat(read("""
        metadata:
          namespace: ns
          name: rev
          uid: "1234"
          labels: {serving.knative.dev/service: hello}
          annotations: {features.knative.dev/http-full-duplex: Enabled}
          managedFields: [{manager: controller}]
        spec:
          containerConcurrency: 10
          timeoutSeconds: 60
          responseStartTimeoutSeconds: 30
          idleTimeoutSeconds: 20
          containers:
          - image: hello
            ports: [{name: h2c, containerPort: 8080}]
        """)).isEqualTo(new Revision(new RevisionId("ns", "rev"), "1234", PortProtocol.H2C, 10,
        new RequestTimeouts(ofSeconds(60), ofSeconds(30), ofSeconds(20)), true, null,
        Map.of("serving.knative.dev/service", "hello"),
        Map.of("features.knative.dev/http-full-duplex", "Enabled"), null));
  }

  @Test
  void whatIsNotSaidHasItsDefault() {
    assertThat(read("{metadata: {namespace: ns, name: rev}}"))
        .isEqualTo(Revision.of(new RevisionId("ns", "rev"), 0));
    assertThat(read("""
        metadata: {namespace: ns, name: rev, labels: null}
        spec: {containerConcurrency: null, timeoutSeconds: null, containers: null}
        """)).isEqualTo(Revision.of(new RevisionId("ns", "rev"), 0));
  }

  @ParameterizedTest(name = "{1}: {0}")
  @CsvSource(delimiter = '|', value = {
      "[{}]                                                            | HTTP1",
      "[{ports: [{name: http1}]}]                                      | HTTP1",
      "[{ports: [{containerPort: 80}]}]                                | HTTP1",
      "[{ports: [{name: h2c}]}]                                        | H2C",
      "[{ports: [{name: http1}, {name: h2c}]}]                         | HTTP1",
      "[{image: side}, {ports: [{name: h2c}]}, {ports: [{name: x}]}]   | H2C",
      "[{image: side}, {ports: [{name: x}]}, {ports: [{name: h2c}]}]   | HTTP1",
      "[{image: a}, {image: b}]                                        | HTTP1"})
  void theFirstPortOfTheServingContainerNamesTheProtocol(String containers, PortProtocol protocol) {
    assertThat(withContainers(containers).protocol()).isEqualTo(protocol);
  }

  @ParameterizedTest(name = "{1}: {0}")
  @CsvSource(delimiter = '|', value = {
      "[{readinessProbe: {tcpSocket: {port: 0}}}]                             | true",
      "[{readinessProbe: {exec: {command: [x]}}}]                             | false",
      "[{startupProbe: {httpGet: {path: /}}}]                                 | false",
      "[{ports: [{name: x}]}, {readinessProbe: {exec: {command: [x]}}}]       | true",
      "[{ports: [{name: x}]}, {startupProbe: {exec: {command: [x]}}}]         | false",
      "[{ports: [{name: x}], readinessProbe: {exec: {}}}, {image: side}]      | false",
      "[{readinessProbe: {grpc: {port: 1}}}]                                  | true",
      "[{livenessProbe: {exec: {command: [x]}}}]                              | true"})
  void ourProbeIsNotEnoughWhereACommandOrAStartupProbeDecides(String containers,
      boolean enough) {
    assertThat(withContainers(containers).probesBeforeReady()).isEqualTo(enough);
  }

  /** The queue-proxy asks by gRPC, too. */
  @Test
  void ourProbeIsNotEnoughWhereGrpcDecidesAndThereIsNoQueueProxy() {
    assertThat(read("""
        metadata: {namespace: ns, name: rev, annotations: {activator.dev/probe: container}}
        spec: {containers: [{readinessProbe: {grpc: {port: 1}}}]}
        """).probesBeforeReady()).isFalse();
  }

  @ParameterizedTest(name = "{1}: {0}")
  @CsvSource(delimiter = '|', value = {
      "{readinessProbe: {httpGet: {path: /up}}}                              | true",
      "{readinessProbe: {httpGet: {path: /up, port: 0}}}                     | true",
      "{readinessProbe: {httpGet: {path: /up, port: 8080}}}                  | true",
      "{ports: [{containerPort: 99}], readinessProbe: {tcpSocket: {port: 99}}} | true",
      "{readinessProbe: {httpGet: {path: /up, port: 8081}}}                  | false",
      "{readinessProbe: {httpGet: {path: /up, scheme: HTTPS}}}               | false",
      "{readinessProbe: {httpGet: {path: /up, host: db.example}}}            | false",
      "{readinessProbe: {httpGet: {path: /up}, successThreshold: 2}}         | false",
      "{readinessProbe: {tcpSocket: {}, initialDelaySeconds: 5}}             | false",
      "{ports: [{name: x}]}, {readinessProbe: {httpGet: {path: /side}}}      | false"})
  void ourProbeIsNotEnoughWhereItIsNotTheContainersOwn(String containers, boolean enough) {
    assertThat(read("{metadata: {namespace: ns, name: rev, annotations:"
        + " {activator.dev/probe: container}}, spec: {containers: [" + containers + "]}}")
        .probesBeforeReady()).isEqualTo(enough);
  }

  @Test
  void saysWhyContainersDoNotStart() {
    assertThat(read("""
        metadata: {namespace: ns, name: rev}
        status:
          conditions:
          - {type: Ready, status: "False", reason: Other}
          - {type: ResourcesAvailable, status: "False", reason: Unschedulable}
          - type: ContainerHealthy
            status: "False"
            reason: ExitCode1
            message: Container failed with exit code 1
            lastTransitionTime: "2026-01-02T03:04:05Z"
        """).startFailure()).isEqualTo(new RevisionStartFailure("ExitCode1",
        "Container failed with exit code 1", "2026-01-02T03:04:05Z"));
  }

  @Test
  void aConditionThatIsUnknownIsNoFailure() {
    assertThat(read("""
        metadata: {namespace: ns, name: rev}
        status:
          conditions:
          - {type: ContainerHealthy, status: Unknown, reason: Deploying}
          - {type: ResourcesAvailable, status: "True"}
        """).startFailure()).isNull();
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(delimiter = '|', value = {
      "{timeoutSeconds: soon}      | spec.timeoutSeconds must be a whole number, 0 or more, "
          + "not \"soon\"",
      "{containerConcurrency: -1}  | spec.containerConcurrency must be a whole number, 0 or more, "
          + "not -1",
      "{containers: {}}            | spec.containers must be a list, not {}",
      "{idleTimeoutSeconds: 1.5}   | spec.idleTimeoutSeconds must be a whole number, 0 or more, "
          + "not 1.5"})
  void namesTheFieldThatIsMalformed(String spec, String message) {
    var decoded = Yaml.decoded(KnativeKinds.REVISIONS,
        "{metadata: {namespace: ns, name: rev}, spec: " + spec + "}");

    assertThat(decoded.problem()).isEqualTo(message);
    assertThat(decoded.value()).isNull();
  }

  private static @Nullable ReadinessProbeSpec probe(String annotations, String container,
      List<String> remarks) {
    var decoded = Yaml.decoded(KnativeKinds.REVISIONS, "{metadata: {namespace: ns, name: rev,"
        + " annotations: " + annotations + "}, spec: {containers: [" + container + "]}}");
    remarks.addAll(decoded.remarks());
    return Objects.requireNonNull(decoded.value()).readinessProbe();
  }

  @Test
  void aRevisionHasAQueueProxyUnlessItSaysOtherwise() {
    assertThat(probe("{}", "{readinessProbe: {httpGet: {path: /up}}}", new ArrayList<>())).isNull();
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"/", "/ready?deep=1", "/a%20b"})
  void anAnnotationNamesThePathOfAContainerWithoutQueueProxy(String path) {
    assertThat(probe("{activator.dev/readiness-path: '" + path + "'}", "{}", new ArrayList<>()))
        .isEqualTo(new ReadinessProbeSpec(path, Map.of()));
  }

  @ParameterizedTest(name = "\"{0}\"")
  @ValueSource(strings = {"", "ready", "/a b", "/a\\r\\nHost: x", "/ä", "/a#b", "http://x/"})
  void anAnnotationThatIsNotAPathIsLeftOut(String text) {
    var remarks = new ArrayList<String>();

    assertThat(probe("{activator.dev/readiness-path: \"" + text + "\"}", "{}", remarks)).isNull();
    assertThat(remarks).singleElement().asString().contains("activator.dev/readiness-path");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "{}                                             |",
      "{readinessProbe: {tcpSocket: {port: 0}}}       |",
      "{readinessProbe: {grpc: {port: 0}}}            |",
      "{readinessProbe: {httpGet: {port: 0}}}         | /",
      "{readinessProbe: {httpGet: {path: up}}}        | /up",
      "{readinessProbe: {httpGet: {path: '/up?a=b'}}} | /up?a=b"})
  void aContainerWithoutQueueProxyIsProbedAsItsReadinessProbeSays(String container,
      @Nullable String path) {
    assertThat(probe("{activator.dev/probe: container}", container, new ArrayList<>()))
        .isEqualTo(new ReadinessProbeSpec(path == null ? "" : path, Map.of()));
  }

  @Test
  void aReadinessProbeHasHeaders() {
    var remarks = new ArrayList<String>();

    assertThat(probe("{activator.dev/probe: container}", """
        {readinessProbe: {httpGet: {path: /up, httpHeaders: [{name: X-A, value: "1"},
        {name: X-A, value: "2"}, {name: "no name", value: x}, {name: X-B, value: "a\\nb"}]}}}""",
        remarks))
        .isEqualTo(new ReadinessProbeSpec("/up", Map.of("X-A", List.of("1", "2"))));
    assertThat(remarks).hasSize(2);
  }

  @Test
  void whatCannotBeProbedSoIsSaid() {
    var remarks = new ArrayList<String>();

    assertThat(probe("{activator.dev/probe: tcp}", "{}", remarks)).isNull();
    assertThat(probe("{activator.dev/probe: container}",
        "{readinessProbe: {httpGet: {path: '/a b'}}}", remarks))
        .isEqualTo(ReadinessProbeSpec.CONNECT);
    assertThat(remarks).hasSize(2);
  }

  @Test
  void saysThatThereAreNoContainers() {
    assertThat(
        Yaml.decoded(KnativeKinds.REVISIONS, "{metadata: {namespace: ns, name: rev}}").remarks())
        .containsExactly("spec.containers is empty");
  }

  @Test
  void needsAName() {
    assertThat(Yaml.decoded(KnativeKinds.REVISIONS, "{metadata: {namespace: ns}}").problem())
        .isEqualTo("metadata.name is missing");
    assertThat(Yaml.decoded(KnativeKinds.REVISIONS, "{metadata: {name: rev}}").problem())
        .isEqualTo("metadata.namespace is missing");
  }
}
