package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.kube.Yaml;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.standalone.policy.ScaledServiceStatus.Condition;
import dev.activator.standalone.policy.ScaledServiceStatus.Scaling;
import dev.activator.testing.TestValues;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaledServiceStatusTest {
  private static final String FIRST = "2026-11-22T12:00:00Z";
  private static final String LATER = "2026-11-22T12:01:00Z";
  private static final Trouble FORBIDDEN = new Trouble("Forbidden", "may not patch it");

  private static final ScaledService OBJECT = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
      metadata: {namespace: shop, name: web, uid: u, generation: 3}
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        serviceRef: {name: svc, port: http}
        target: {concurrency: 20}
      """).value();
  private static final KubernetesService SERVICE = Yaml.decoded(StandaloneKinds.ROUTED_SERVICES, """
      metadata: {namespace: shop, name: svc}
      spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
      """).value();
  private static final ServiceEndpointSlice TWO_PODS = Yaml
      .decoded(StandaloneKinds.SERVICE_SLICES, """
          metadata: {namespace: shop, name: svc-x, labels: {kubernetes.io/service-name: svc}}
          addressType: IPv4
          ports: [{name: http, port: 8080}]
          endpoints:
            - {addresses: [10.0.0.1], targetRef: {uid: a}}
            - {addresses: [10.0.0.2], conditions: {ready: false}, targetRef: {uid: b}}
          """).value();

  private static final ResolvedScaledService FINE = state(SERVICE, new WorkloadState.Hidden());
  private static final ResolvedScaledService NO_SERVICE = state(null, new WorkloadState.Hidden());
  private static final ResolvedScaledService NO_TARGET = state(SERVICE,
      new WorkloadState.Missing());

  private static ResolvedScaledService state(@Nullable KubernetesService service,
      WorkloadState workload) {
    return ResolvedScaledService.of(OBJECT,
        TestReferences.to(service).slices(List.of(TWO_PODS)).workload(workload).found());
  }

  private static Scaling scaling(OptionalInt desired, String active, @Nullable Trouble trouble) {
    return new Scaling(OptionalInt.of(5), desired, active, "Traffic", "requests come", trouble,
        "held at 5", "running");
  }

  private static final Scaling THREE = scaling(OptionalInt.of(3), "True", null);

  @Test
  void nothingIsWrittenBeforeTheFirstDecision() {
    assertThat(TestValues.NO_STATUS.next(FINE, null, null, FIRST))
        .isSameAs(TestValues.NO_STATUS);
  }

  @Test
  void whatIsInTheWayIsWrittenBeforeTheFirstDecision() {
    var status = TestValues.NO_STATUS.next(NO_SERVICE, null, null, FIRST);

    assertThat(status.conditions()).containsExactly(
        new Condition("Ready", "False", "ServiceNotFound", "there is no Service shop/svc", FIRST,
            3),
        new Condition("Active", "Unknown", "NotDecided", "", FIRST, 3),
        new Condition("Reconciling", "True", "ServiceNotFound", "there is no Service shop/svc",
            FIRST, 3));
    assertThat(status.replicas()).isEmpty();
    assertThat(status.desiredReplicas()).isEmpty();
    assertThat(status.trouble()).isEqualTo("ServiceNotFound");
  }

  @Test
  void whatTheLeaderBeforeSaidOfActivityStaysUntilTheFirstDecision() {
    var before = TestValues.NO_STATUS.next(FINE, THREE, null, FIRST);
    var status = before.next(NO_SERVICE, null, null, LATER);

    assertThat(status.condition("Active")).isEqualTo(before.condition("Active"));
    assertThat(status.desiredReplicas()).hasValue(3);
  }

  @Test
  void whatIsNotScaledSaysSoWithoutADecision() {
    var before = TestValues.NO_STATUS.next(FINE, THREE, null, FIRST);
    var status = before.next(NO_TARGET, null, null, LATER);

    assertThat(status.condition("Active"))
        .isEqualTo(new Condition("Active", "Unknown", "NotScaled", "", LATER, 3));
    assertThat(status.trouble()).isEqualTo("TargetNotFound");
    assertThat(status.replicas()).hasValue(2);
  }

  @Test
  void reportsPodsAsTheyAreListedAndWhatTheAutoscalerWants() {
    var status = TestValues.NO_STATUS.next(FINE, THREE, null, FIRST);

    assertThat(status.replicas()).hasValue(2);
    assertThat(status.desiredReplicas()).hasValue(3);
    assertThat(status.observedGeneration()).isEqualTo(3);
    assertThat(status.state()).isEqualTo("running");
    assertThat(status.target()).isEqualTo("Deployment/web");
    assertThat(status.conditions()).containsExactly(
        new Condition("Ready", "True", "Ready", "held at 5", FIRST, 3),
        new Condition("Active", "True", "Traffic", "requests come", FIRST, 3));
    assertThat(status.trouble()).isEmpty();
  }

  @ParameterizedTest(name = "{0} with {1} replicas: {2}")
  @CsvSource({"zero, 0, asleep", "running, 1, asleep", "'', 0, asleep", "waking, 0, waking",
      "waiting, 0, waiting", "waking, 1, asleep"})
  void podsThatAreAsleepAreShownAsWakingOnceThatIsDecided(String decided, int replicas,
      String shown) {
    var asleep = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u, generation: 3}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
          idle: {do: sleep}
        status: {idle: {state: Asleep, since: "2026-11-22T12:00:00Z", do: sleep}}
        """).value();
    var state = ResolvedScaledService.of(asleep, TestReferences.to(SERVICE)
        .slices(List.of(TWO_PODS)).workload(new WorkloadState.Hidden()).found());
    var scaling = new Scaling(OptionalInt.of(replicas), OptionalInt.of(1), "True", "", "", null, "",
        decided);

    assertThat(TestValues.NO_STATUS.next(state, scaling, null, FIRST).state()).isEqualTo(shown);
  }

  @Test
  void saysThatRequestsStartNoPod_whileAllAreRefused() {
    var idle = scaling(OptionalInt.of(0), "False", null);

    assertThat(TestValues.NO_STATUS.next(NO_SERVICE, idle, null, FIRST).condition("Active"))
        .isEqualTo(new Condition("Active", "False", "RequestsRefused",
            "Requests start no pod: there is no Service shop/svc", FIRST, 3));
    assertThat(TestValues.NO_STATUS.next(FINE, idle, null, FIRST).condition("Active").reason())
        .isEqualTo("Traffic");
    // Pods that still run are active.
    assertThat(
        TestValues.NO_STATUS.next(NO_SERVICE, THREE, null, FIRST).condition("Active").status())
        .isEqualTo("True");
  }

  @Test
  void reportsReplicasAsTheyWereReadWherePodsAreUnknown() {
    assertThat(TestValues.NO_STATUS.next(NO_SERVICE, THREE, null, FIRST).replicas()).hasValue(5);
  }

  @Test
  void keepsWhatWasWantedWhileThereIsNoNewerDecision() {
    var status = TestValues.NO_STATUS.next(FINE, THREE, null, FIRST)
        .next(FINE, scaling(OptionalInt.empty(), "True", null), null, LATER);

    assertThat(status.desiredReplicas()).hasValue(3);
  }

  @Test
  void theTimeOfAConditionIsThatOfItsLastChange() {
    var status = TestValues.NO_STATUS.next(FINE, THREE, null, FIRST)
        .next(FINE, scaling(OptionalInt.of(0), "False", null), null, LATER);

    assertThat(status.condition("Ready").since()).isEqualTo(FIRST);
    assertThat(status.condition("Active").since()).isEqualTo(LATER);
  }

  @Test
  void allThatIsInTheWayIsNamedOnceWithTheFirstAsTheReason() {
    var both = TestValues.NO_STATUS.next(NO_SERVICE,
        scaling(OptionalInt.of(1), "True", FORBIDDEN), null, FIRST);
    assertThat(both.condition("Ready")).isEqualTo(new Condition("Ready", "False",
        "ServiceNotFound", "there is no Service shop/svc; may not patch it", FIRST, 3));

    var same = TestValues.NO_STATUS.next(NO_TARGET,
        scaling(OptionalInt.of(1), "True", new Trouble("TargetNotFound", "not found")), null,
        FIRST);
    assertThat(same.condition("Ready").message())
        .isEqualTo("there is no Deployment web in namespace shop");
  }

  /**
   * What tools that wait for objects find.
   *
   * <p><b>Source.</b> {@code status.Compute} of kstatus (kubernetes-sigs/cli-utils), which leaves the
   * condition Ready alone, and Flux's, which reads it last.
   */
  private static String kstatus(boolean readsReady, long generation, ScaledServiceStatus status) {
    if (status.observedGeneration() != generation) {
      return "InProgress";
    }
    for (var one : status.conditions()) {
      if (one.type().equals("Reconciling") && one.status().equals("True")) {
        return "InProgress";
      }
      if (one.type().equals("Stalled") && one.status().equals("True")) {
        return "Failed";
      }
    }
    var ready = status.condition("Ready");
    return !readsReady || ready == null || ready.status().equals("True")
        ? "Current"
        : "InProgress";
  }

  private static ScaledServiceStatus troubled(String... reasons) {
    var troubles = Stream.of(reasons).map(reason -> new Trouble(reason, "a sentence")).toList();
    return TestValues.NO_STATUS.next(new ResolvedScaledService(OBJECT, FINE.revision(),
        FINE.pods(), List.of(), FINE.target(), List.of(), troubles, List.of(), List.of(),
        TcpPortTable.Assigned.NONE, 0), THREE, null, FIRST);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {"'' | Current", "ServiceNotFound | InProgress",
      "PortNotFound | InProgress", "RulePortNotFound | InProgress", "TargetNotFound | InProgress",
      "FallbackNotFound | InProgress", "ServiceSelectsOtherPods | InProgress",
      "QuotaExceeded | InProgress", "ScaleFailed | InProgress",
      "Forbidden | InProgress", "NoSelector | Failed", "TargetNotScalable | Failed",
      "NameTaken | Failed", "TargetTaken | Failed", "HostTaken | Failed", "RuleTaken | Failed",
      "HpaPresent | Failed", "InvalidRules | Failed", "InvalidSchedule | Failed",
      "InvalidAnnotation | Failed", "PodsSpeakTls | Failed", "TimeoutTooLong | Failed",
      "ServiceNotFound,HostTaken | Failed"})
  void toolsThatWaitFindItDoneFailedOrOnItsWay(String reasons, String found) {
    var status = troubled(reasons.isEmpty() ? new String[0] : reasons.split(","));

    assertThat(kstatus(false, 3, status)).isEqualTo(found);
    assertThat(kstatus(true, 3, status)).isEqualTo(found);
    assertThat(kstatus(true, 4, status)).as("of an older generation").isEqualTo("InProgress");
    // KEP-1623.
    assertThat(status.conditions()).allSatisfy(one -> {
      assertThat(one.reason()).matches("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?");
      assertThat(one.generation()).isEqualTo(3);
      assertThat(one.since()).isEqualTo(FIRST);
    });
    assertThat(status.conditions()).extracting(Condition::type).doesNotHaveDuplicates();
  }

  @Test
  void anObjectWithoutStatusIsOnItsWay_andOneAtZeroIsDone() {
    assertThat(kstatus(false, 1, TestValues.NO_STATUS)).isEqualTo("InProgress");
    assertThat(kstatus(true, 3, TestValues.NO_STATUS.next(FINE,
        new Scaling(OptionalInt.of(0), OptionalInt.of(0), "False", "NoTraffic", "", null, "",
            "zero"),
        null,
        FIRST))).isEqualTo("Current");
  }

  @Test
  void whatWasInTheWayLeavesNoCondition() {
    var status = troubled("HostTaken").next(FINE, THREE, null, LATER);

    assertThat(status.conditions()).extracting(Condition::type).containsExactly("Ready", "Active");
    assertThat(status.condition("Ready").since()).isEqualTo(LATER);
  }

  @Test
  void hasNoTroubleBeforeItIsKnown() {
    assertThat(TestValues.NO_STATUS.trouble()).isEmpty();
    assertThat(TestValues.NO_STATUS.condition("Ready")).isNull();
  }

  @Test
  void hasOneConditionAboutNodes_whenANewLeaderAddsItToThatOfTheLast() {
    var last = TestValues.NO_STATUS.next(FINE, THREE, null, FIRST)
        .unscheduled("Unschedulable", "0/3 nodes", TestValues.NO_STATUS, FIRST);

    var next = last.next(FINE, null, null, LATER).unscheduled("Unschedulable", "0/4 nodes", last,
        LATER);

    assertThat(next.conditions()).extracting(Condition::type)
        .containsExactly("Ready", "Active", "PodsScheduled");
    assertThat(next.condition("PodsScheduled").message()).isEqualTo("0/4 nodes");
    assertThat(next.condition("PodsScheduled").since()).isEqualTo(FIRST);
  }
}
