package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.policy.TestReferences;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.kube.LeadershipStatus;
import dev.activator.revision.ScalingView.ActiveCondition;
import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.revision.ScalingView;
import dev.activator.standalone.policy.ScaledServiceRouteTable.Taken;
import dev.activator.ext.console.ScalingExplanationBuilder;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.kube.Yaml;
import dev.activator.platform.RevisionDetailsSource.Setting;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** What the console shows of a ScaledService, on the activator that scales and on another. */
class ScaledServiceDetailsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScalingView VIEW = new ScalingView(WEB,
      new ScaleTargetRef("apps/v1", "Deployment", "web"), OptionalInt.of(3), OptionalInt.of(3),
      OptionalInt.of(3), 3, ScaleState.RUNNING, ActiveCondition.unknown(0),
      "3 = ceil(52 in flight ÷ 20), stable window",
      new ScalingView.Trouble("Forbidden", "cannot patch Deployment web: 403"), "", null);

  private static ScaledServiceDetails details(String spec, String status, List<Taken> taken) {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: front}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
          %s
        status: %s
        """.formatted(spec, status)).value();
    return new ScaledServiceDetails(ResolvedScaledService.of(object,
        TestReferences.to(null).workload(new WorkloadState.Hidden()).taken(taken).found()));
  }

  private static ScaledServiceDetails details(String spec) {
    return details(spec, "{}", List.of());
  }

  private static LeadershipStatus leader(String pod, boolean here, String problem) {
    return new LeadershipStatus(pod, here, 0, Duration.ZERO, 0, problem, Map.of());
  }

  @Test
  void leadsToTheFirstHostThatABrowserCanBeSentTo() {
    assertThat(details("hosts: ['*.shop.example.com', shop.example.com]").url())
        .isEqualTo("http://shop.example.com/");
    assertThat(details("hosts: [a.example.com, b.example.com]", "{}",
        List.of(new Taken("a.example.com", new RevisionId("old", "old")))).url())
        .isEqualTo("http://b.example.com/");
    assertThat(details("hosts: ['*.shop.example.com']").url()).isNull();
    assertThat(details("minReplicas: 0").url()).isNull();
  }

  @Test
  void saysOnTheLeaderWhyItIsScaledAsItIsAndWhatIsInTheWay() {
    var details = details("maxReplicas: 5");

    assertThat(details.maxPods()).isEqualTo(5);
    assertThat(new ScalingExplanationBuilder(_ -> VIEW, () -> leader("activator-1", true, ""))
        .rows(WEB, details)).containsExactly(
            new Setting("pods wanted", "3", "3 = ceil(52 in flight ÷ 20), stable window"),
            new Setting("state", "running", ""),
            new Setting("scaling", "Forbidden", "cannot patch Deployment web: 403"),
            new Setting("scaled by", "this activator", "the Lease"));
    assertThat(details.obstacles(VIEW)).containsExactly("there is no Service shop/svc",
        "cannot patch Deployment web: 403");
  }

  @Test
  void saysOnAnotherActivatorWhatTheLeaderWroteIntoTheStatus() {
    var details = details("minReplicas: 1", """
        {desiredReplicas: 2, conditions: [{type: Ready, status: "False", reason: Forbidden,
         message: no right, lastTransitionTime: "2026-11-22T12:00:00Z"}]}""", List.of());

    assertThat(new ScalingExplanationBuilder(_ -> null, () -> leader("activator-2", false, ""))
        .rows(WEB, details)).containsExactly(
            new Setting("pods wanted", "2", "the status; the activator that scales it knows why"),
            new Setting("scaled by", "activator-2", "the Lease"),
            new Setting("condition Ready", "False, Forbidden",
                "no right; since 2026-11-22T12:00:00Z"));
    // what is wrong is read here, too, and later than the status says it
    assertThat(details.obstacles(null)).containsExactly("there is no Service shop/svc");
    assertThat(details.settings()).contains(
        new Setting("replicas", "1; an HPA or KEDA may set more",
            "spec.minReplicas, spec.maxReplicas"),
        new Setting("scales", "Deployment front", "spec.scaleTargetRef"));
    assertThat(details.logCommand()).isEqualTo("kubectl logs -n shop deployment/front");
  }

  @Test
  void showsThePortsOfConnections_insteadOfHosts() {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: pg, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: pg}
          serviceRef: {name: pg}
          ports: [{port: pg, protocol: tcp}]
          target: {concurrency: 20}
        status: {ports: [{port: pg, number: 9100}]}
        """).value();
    var details = new ScaledServiceDetails(ResolvedScaledService.of(object,
        TestReferences.to(null).workload(new WorkloadState.Hidden()).found()));

    assertThat(details.takesRequests()).isFalse();
    assertThat(details.settings())
        .contains(new Setting("connections to 9100", "Service pg, port pg", "status.ports"))
        .noneMatch(row -> row.name().equals("hosts") || row.name().equals("requests go to"));
  }

  @Test
  void showsItsRules() {
    var details = details(
        "rules: [{pathPrefix: /api, headers: [{name: X-Env, value: a}], serviceRef:"
            + " {port: grpc}}, {hosts: [a.b], path: /c}, {}]",
        "{}",
        List.of(new Taken("a.b", "path /c", new RevisionId("old", "old"))));

    assertThat(details.settings()).contains(
        new Setting("rule",
            "requests with path prefix /api and header x-env: a, to port grpc", "spec.rules"),
        new Setting("rule", "requests with path /c for a.b", "spec.rules"),
        new Setting("rule", "all requests", "spec.rules"));
  }

  @Test
  void saysWhenNoActivatorScales() {
    assertThat(new ScalingExplanationBuilder(_ -> null, () -> leader("", false, "403")).rows(WEB,
        details("minReplicas: 0"))).contains(
            new Setting("scaled by", "no activator", "the Lease, which cannot be used: 403"));
  }
}
