package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.policy.ContainerProbe.Action;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.kube.Yaml;
import dev.activator.revision.ReadinessProbeSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaledWorkloadTest {
  private static ScaledWorkload workload(String containers) {
    return Yaml.decoded(StandaloneKinds.workloads("Deployment", "apis/apps/v1", "deployments"), """
        kind: Deployment
        metadata: {namespace: shop, name: web}
        spec: {replicas: 3, template: {metadata: {labels: {app: web}}, spec: {containers: %s}}}
        """.formatted(containers)).value();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      "{} | 8080 | connect true",
      "{readinessProbe: {httpGet: {path: /ready, port: 8080}}} | 8080 | /ready true",
      "{ports: [{name: http, containerPort: 8080}], readinessProbe: {httpGet: {path: /ready, port: http}}} | 8080 | /ready true",
      "{ports: [{name: http, containerPort: 8080}], readinessProbe: {httpGet: {path: ready, port: 8080}}} | http | /ready true",
      "{readinessProbe: {httpGet: {path: /ready, port: 8081}}} | 8080 | connect false",
      "{readinessProbe: {httpGet: {path: /ready, port: 8080, scheme: HTTPS}}} | 8080 | connect false",
      "{readinessProbe: {tcpSocket: {port: 8080}}} | 8080 | connect true",
      "{readinessProbe: {tcpSocket: {port: 9090}}} | 8080 | connect false",
      "{readinessProbe: {grpc: {port: 8080}}} | 8080 | connect false",
      "{readinessProbe: {exec: {command: [true]}}} | 8080 | connect false",
      "{startupProbe: {tcpSocket: {port: 8080}}} | 8080 | connect false",
      "{readinessProbe: {httpGet: {path: /ready, port: unknown}}} | 8080 | connect false",
      "{readinessProbe: {httpGet: {path: /ready, port: 8080}, periodSeconds: 1, failureThreshold: 9, terminationGracePeriodSeconds: 5}} | 8080 | /ready true",
      "{readinessProbe: {httpGet: {path: /ready, port: 8080, host: db.example}}} | 8080 | connect false",
      "{readinessProbe: {tcpSocket: {port: 8080, host: db.example}}} | 8080 | connect false",
      "{readinessProbe: {httpGet: {path: /ready, port: 8080}, successThreshold: 1}} | 8080 | /ready true",
      "{readinessProbe: {httpGet: {path: /ready, port: 8080}, successThreshold: 3}} | 8080 | connect false",
      "{readinessProbe: {httpGet: {path: /ready, port: 8080}, initialDelaySeconds: 9}} | 8080 | /ready true",
      "{readinessProbe: {tcpSocket: {port: 8080}, initialDelaySeconds: 9}} | 8080 | connect false",
      "{lifecycle: {postStart: {exec: {command: [x]}}}} | 8080 | connect false",
      "{lifecycle: {preStop: {exec: {command: [x]}}}} | 8080 | connect true",
      "{livenessProbe: {exec: {command: [x]}}} | 8080 | connect true"})
  void podsAreProbedAsTheirTemplateSaysWhereThatIsPossible(String container, String target,
      String probing) {
    assertThat(
        shown(workload("[" + container + "]").probing(target, Action.HTTP, new ArrayList<>())))
        .isEqualTo(probing);
  }

  @Test
  void ofSeveralContainersTheOneWithThePortIsProbed() {
    var two = workload("""
        [{ports: [{containerPort: 9000}], readinessProbe: {exec: {command: [x]}}},
        {ports: [{containerPort: 8080}], readinessProbe: {httpGet: {path: /b, port: 8080}}}]""");

    assertThat(shown(two.probing("8080", Action.HTTP, new ArrayList<>())))
        .as("the other container must be ready, too").isEqualTo("/b false");
    assertThat(shown(two.probing("7000", Action.HTTP, new ArrayList<>())))
        .isEqualTo("connect false");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      "readinessGates: [{conditionType: a.b/c}] | connect false",
      "readinessGates: [] | /ready true",
      "initContainers: [{restartPolicy: Always, readinessProbe: {tcpSocket: {port: 9801}}}] | connect false",
      "initContainers: [{restartPolicy: Always}] | /ready true",
      "initContainers: [{restartPolicy: Always, startupProbe: {tcpSocket: {port: 9801}}}] | /ready true",
      "initContainers: [{name: migrate}] | /ready true"})
  void podsGetRequestsWhenKubernetesCallsThemReady_whereMoreThanTheirContainersDecides(
      String pod, String probing) {
    var gated = Yaml
        .decoded(StandaloneKinds.workloads("Deployment", "apis/apps/v1", "deployments"), """
            kind: Deployment
            metadata: {namespace: shop, name: web}
            spec: {template: {spec: {%s, containers:
              [{readinessProbe: {httpGet: {path: /ready, port: 8080}}}]}}}
            """.formatted(pod)).value();

    assertThat(shown(gated.probing("8080", Action.HTTP, new ArrayList<>()))).isEqualTo(probing);
  }

  @ParameterizedTest
  @CsvSource({"timeoutSeconds: 5,PT5S", "timeoutSeconds: 0,PT1S", "periodSeconds: 3,PT1S"})
  void aProbeHasTheTimeoutOfTheTemplate(String bound, Duration timeout) {
    var probing = workload("[{readinessProbe: {httpGet: {path: /ready, port: 8080}, " + bound
        + "}}]").probing("8080", Action.HTTP, new ArrayList<>());

    assertThat(probing.probe()).isEqualTo(new ReadinessProbeSpec("/ready", Map.of(), timeout));
  }

  @Test
  void whatIsNoPathIsLeftOutWithARemark() {
    List<String> remarks = new ArrayList<>();

    assertThat(shown(workload("[{readinessProbe: {httpGet: {path: 'a b', port: 80}}}]")
        .probing("80", Action.HTTP, remarks))).isEqualTo("connect false");
    assertThat(remarks).containsExactly("the path of its readinessProbe, 'a b'");
  }

  private static String shown(ScaledWorkload.Probing probing) {
    return (probing.probe().connects() ? "connect" : probing.probe().path()) + " "
        + probing.beforeReady();
  }
}
