package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.kube.Yaml;
import dev.activator.kube.policy.IpFamily;
import dev.activator.standalone.policy.ScaledServiceRouteTable.Taken;
import dev.activator.standalone.policy.ResolvedScaledService.Readiness;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import dev.activator.config.RevisionAnnotations;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResolvedScaledServiceTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaledService OBJECT = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
      metadata: {namespace: shop, name: web, uid: u}
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        serviceRef: {name: svc, port: http}
        minReplicas: 2
        maxReplicas: 10
        target: {concurrency: 20}
        containerConcurrency: 40
      """).value();
  private static final KubernetesService SERVICE = service("""
      {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080},
       {name: grpc, port: 81, appProtocol: kubernetes.io/h2c}]}""");
  private static final ServiceEndpointSlice SLICE = Yaml.decoded(StandaloneKinds.SERVICE_SLICES, """
      metadata: {namespace: shop, name: svc-x, labels: {kubernetes.io/service-name: svc}}
      addressType: IPv4
      ports: [{name: http, port: 8080}, {name: grpc, port: 8081}]
      endpoints:
        - {addresses: [10.0.0.1], targetRef: {uid: a}}
        - {addresses: [10.0.0.2], conditions: {ready: false}, targetRef: {uid: b}}
        - {addresses: [10.0.0.3], conditions: {ready: false, serving: true, terminating: true}}
      """).value();
  private static final WorkloadState FOUND = found(
      "{template: {spec: {containers: [{readinessProbe:"
          + " {httpGet: {path: /ready, port: 8080}}}]}}}",
      "{}");

  private static KubernetesService service(String spec) {
    return Yaml.decoded(StandaloneKinds.ROUTED_SERVICES, """
        metadata: {namespace: shop, name: svc}
        spec: %s
        """.formatted(spec)).value();
  }

  @Test
  void warnsOfAServiceWhoseTrafficPolicyKeepsItFromBeingCaught() {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
          catchService: true
        """).value();
    var local = service("{selector: {app: web}, ports: [{name: http, port: 80}],"
        + " internalTrafficPolicy: Local}");

    assertThat(caught(object, local).warnings()).extracting(Trouble::reason)
        .containsExactly("ServiceNotCaught");
    assertThat(caught(object, SERVICE).warnings()).isEmpty();
    assertThat(caught(OBJECT, local).warnings()).isEmpty();
  }

  @Test
  void saysWhichFieldNeedsAnExtensionThatThisBuildLacks() {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
          affinity: {header: Mcp-Session-Id, mode: strict}
          wakeWith: [b]
          doNotWake: [{path: /healthz, respond: {body: ok}}]
          idleConnections: {ignoreAfterSeconds: 30}
        """).value();
    var state = caught(object, SERVICE);

    assertThat(state.withExtensions(Set.of("affinity", "rules", "wakewith"))).isSameAs(state);
    assertThat(state.withExtensions(Set.of("affinity", "wakewith")).troubles())
        .extracting(Trouble::message).allMatch(text -> text.endsWith("without the extension rules"))
        .extracting(text -> text.split(" ")[0])
        .containsExactly("spec.doNotWake", "spec.idleConnections");
    assertThat(state.withExtensions(Set.of("rules")).troubles()).containsExactly(
        new Trouble("FeatureNotInstalled", "spec.affinity has no effect: this"
            + " activator was built without the extension affinity"),
        new Trouble("FeatureNotInstalled", "spec.wakeWith has no effect: this"
            + " activator was built without the extension wakewith"));
  }

  /** A ScaledService of the Service {@code db}, which has the ports {@code pg} and {@code http}. */
  private static ResolvedScaledService tcp(String serviceRef, String ports, String readiness,
      Map<String, Integer> open) {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u, annotations: {activator.dev/tcp-port: "1"}}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: %s
          ports: %s
          target: {concurrency: 20}
        """.formatted(serviceRef, ports)).value();
    var service = service("{selector: {app: web}, ports: [{name: pg, port: 5432},"
        + " {name: http, port: 80, targetPort: 8080}, {name: ssh, port: 22}]}");
    var slice = Yaml.decoded(StandaloneKinds.SERVICE_SLICES, """
        metadata: {namespace: shop, name: svc-x, labels: {kubernetes.io/service-name: svc}}
        addressType: IPv4
        ports: [{name: pg, port: 5432}, {name: http, port: 8080}, {name: ssh, port: 22}]
        endpoints: [{addresses: [10.0.0.1]}]
        """).value();
    return ResolvedScaledService.of(object, TestReferences.to(service).slices(List.of(slice))
        .workload(found("{template: {spec: {containers: [{" + readiness + "}]}}}", "{}")).found(),
        new TcpPortTable.Assigned(open, open, Map.of("ssh", List.of("a.example", "b.example")),
            List.of()));
  }

  private static List<String> backends(ResolvedScaledService state) {
    return state.backends().stream().map(one -> one.id().name() + " " + one.revision().protocol()
        + " " + one.pods().on(one.revision().protocol()).all() + " "
        + one.revision().annotations().getOrDefault(RevisionAnnotations.TCP_PORT, "-")).toList();
  }

  @Test
  void aPortForConnectionsIsARevisionBesideTheOneForRequests() {
    var state = tcp("{name: svc, port: http}",
        "[{port: pg, protocol: tcp, idleAfterSeconds: 60}]", "", Map.of("pg", 9100));

    assertThat(backends(state)).containsExactly("web HTTP1 [10.0.0.1:8080] -",
        "web:pg TCP [10.0.0.1:5432] 9100");
    assertThat(state.ports().getFirst().revision().annotations())
        .containsEntry("activator.dev/tcp-idle-after-seconds", "60");
    // Its annotation is not for users.
    assertThat(state.troubles()).extracting(Trouble::reason).containsExactly("InvalidAnnotation");
  }

  @Test
  void theFirstPortForConnectionsIsTheScaledServicesOwn_withoutRequests() {
    var state = tcp("{name: svc}", "[{port: pg, protocol: tcp}, {port: ssh, protocol: tcp}]", "",
        Map.of("ssh", 9101));

    assertThat(backends(state)).containsExactly("web TCP [10.0.0.1:5432] -",
        "web:ssh TCP [10.0.0.1:22] 9101");
    assertThat(state.ports().getFirst().revision().annotations())
        .containsEntry(RevisionAnnotations.TCP_SNI, "a.example,b.example");
    assertThat(state.listed()).hasValue(1);
    assertThat(state.ready()).isEqualTo(1);
  }

  @Test
  void aPortTakesEitherRequestsOrConnections() {
    var state = tcp("{name: svc, port: 5432}",
        "[{port: pg, protocol: tcp}, {port: ssh, protocol: tcp}, {port: 22, protocol: tcp}]", "",
        Map.of("pg", 9100));

    assertThat(backends(state)).containsExactly("web HTTP1 [10.0.0.1:5432] -",
        "web:ssh TCP [10.0.0.1:22] -");
    assertThat(state.troubles()).extracting(Trouble::reason)
        .containsSubsequence("PortTaken", "PortTaken");
    assertThat(state.troubles()).extracting(Trouble::message)
        .anyMatch(text -> text.startsWith("port pg (5432) in spec.ports is already that of"));
  }

  @Test
  void aPortForConnectionsThatTheServiceLacksIsNamed() {
    var state = tcp("{name: svc, port: http}", "[{port: mysql, protocol: tcp}]", "", Map.of());

    assertThat(state.troubles()).extracting(Trouble::reason)
        .contains("TcpPortNotFound");
    assertThat(state.ports().getFirst().revision().startFailure().reason())
        .isEqualTo("TcpPortNotFound");
    assertThat(state.revision().startFailure()).isNull();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "''                                                              | true",
      "readinessProbe: {tcpSocket: {port: 5432}}                       | true",
      "readinessProbe: {exec: {command: [pg_isready]}}                 | false",
      "readinessProbe: {httpGet: {path: /, port: 5432}}                | false",
      "readinessProbe: {tcpSocket: {port: 8080}}                       | false"})
  void aPodTakesConnectionsOnceItsProbeOrAConnectSucceeds(String readiness, boolean beforeReady) {
    var revision = tcp("{name: svc}", "[{port: pg, protocol: tcp}]", readiness, Map.of())
        .revision();

    assertThat(revision.probesBeforeReady()).isEqualTo(beforeReady);
    assertThat(revision.readinessProbe().path()).isEmpty();
  }

  @Test
  void aPodTakesConnectionsOnceItAnswersAsThePortSays() {
    var state = tcp("{name: svc}", "[{port: ssh, protocol: tcp}, {port: pg, protocol: tcp,"
        + " readinessProbe: {send: hello, expect: R}}]",
        "readinessProbe: {exec: {command: [pg_isready]}}", Map.of());

    assertThat(state.revision().probesBeforeReady()).isFalse();
    assertThat(state.ports().getFirst().revision().probesBeforeReady()).isTrue();
    assertThat(state.ports().getFirst().revision().readinessProbe())
        .isEqualTo(
            ReadinessProbeSpec.answering(new ReadinessProbeSpec.ExpectedAnswer("hello", "R")));
  }

  @Test
  void aPodThatExpectsAProxyHeaderGetsOneBeforeTheProbe() {
    Map.of("v1", "PROXY UNKNOWN\r\nhello", "v2",
        "\r\n\r\n\0\r\nQUIT\n\40\0\0\0hello").forEach((version, sent) -> {
          var state = tcp("{name: svc}", "[{port: pg, protocol: tcp, proxyProtocol: " + version
              + ", readinessProbe: {send: hello, expect: R}}]", "", Map.of());

          assertThat(state.revision().readinessProbe())
              .isEqualTo(
                  ReadinessProbeSpec.answering(new ReadinessProbeSpec.ExpectedAnswer(sent, "R")));
        });
  }

  @Test
  void saysThatABuildWithoutTheExtensionTakesNoConnections() {
    var state = tcp("{name: svc}", "[{port: pg, protocol: tcp}]", "", Map.of());

    assertThat(state.withExtensions(Set.of("tcp"))).isSameAs(state);
    assertThat(state.withExtensions(Set.of()).troubles()).contains(new Trouble(
        "FeatureNotInstalled", "spec.ports has no effect: this activator was built without the"
            + " extension tcp"));
  }

  @Test
  void startsWhatItsWakeNames_andRefusesRequestsIfThatIsInvalid() {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          wake: {patch: {kind: Sandbox, name: a, running: {spec: {mode: On}}}}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
        """).value();
    var target = new ScaleTargetRef("a/v1", "Sandbox", "a");

    var woken = waking(object, new WorkloadState.Wakeable(target, Readiness.OF_PODS));
    var invalid = waking(object, new WorkloadState.NotWakeable("InvalidWake", "no field"));

    assertThat(object.workload()).isEqualTo(new WakeSpec("patch", Map.of("kind", "Sandbox",
        "name", "a", "running", Map.of("spec", Map.of("mode", "On")))));
    assertThat(woken.target().workload()).isEqualTo(target);
    assertThat(woken.troubles()).isEmpty();
    assertThat(invalid.target()).isNull();
    assertThat(invalid.troubles()).containsExactly(new Trouble("InvalidWake", "no field"));
    assertThat(waking(object, new WorkloadState.NoNamespace()).troubles()).containsExactly(
        new Trouble("TargetNotScalable", "Sandbox belongs to no namespace"));
    assertThat(invalid.revision().startFailure().message()).isEqualTo("no field");
  }

  @Test
  void needsNoSelector_forWhatIsWoken() {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          wake: {http: {start: {url: 'http://vm/start?key=k'}, stop: {url: 'http://vm/stop'}}}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
        """).value();

    var woken = ResolvedScaledService.of(object,
        TestReferences.to(service("{ports: [{name: http, port: 80}]}"))
            .workload(new WorkloadState.Wakeable(object.workload(), Readiness.OF_PODS)).found());

    assertThat(woken.troubles()).isEmpty();
    assertThat(object.workload()).hasToString("URL http://vm/start");
  }

  @Test
  void podsGetNoRequests_untilTheConditionOfWhatIsWokenIsTrue() {
    var object = scaling("web");
    var target = new ScaleTargetRef("a/v1", "Sandbox", "a");

    var awake = waking(object, new WorkloadState.Wakeable(target, Readiness.OF_PODS));
    var starting = waking(object, new WorkloadState.Wakeable(target, Readiness.NOT_READY));
    var unknown = waking(object, new WorkloadState.Wakeable(target, Readiness.UNKNOWN));

    assertThat(awake.ready()).isEqualTo(1);
    assertThat(starting.ready()).isZero();
    assertThat(starting.pods().http1().ready().isEmpty()).isTrue();
    assertThat(starting.pods().http1().all()).isEqualTo(awake.pods().http1().all());
    assertThat(starting.revision().probesBeforeReady()).isFalse();
    assertThat(starting.troubles()).isEmpty();
    assertThat(unknown.ready()).isZero();
    assertThat(unknown.troubles()).extracting(Trouble::reason).containsExactly("Forbidden");
  }

  private static ResolvedScaledService waking(ScaledService object, WorkloadState state) {
    return ResolvedScaledService.of(object,
        TestReferences.to(SERVICE).slices(List.of(SLICE)).workload(state).found());
  }

  private static ResolvedScaledService caught(ScaledService object, KubernetesService service) {
    return ResolvedScaledService.of(object,
        TestReferences.to(service).slices(List.of(SLICE)).workload(FOUND).found());
  }

  private static WorkloadState found(String spec, String status) {
    return new WorkloadState.Found(
        Yaml.decoded(StandaloneKinds.workloads("Deployment", "apis/apps/v1", "deployments"), """
            metadata: {namespace: shop, name: web}
            spec: %s
            status: %s
            """.formatted(spec, status)).value());
  }

  private static ResolvedScaledService state(@Nullable KubernetesService service,
      WorkloadState workload) {
    return ResolvedScaledService.of(OBJECT,
        TestReferences.to(service).slices(List.of(SLICE)).workload(workload).found());
  }

  private static ResolvedScaledService with(List<Taken> taken, @Nullable ScaledService older,
      @Nullable HpaSpec hpa) {
    return ResolvedScaledService.of(OBJECT,
        TestReferences.to(SERVICE).slices(List.of(SLICE)).workload(FOUND).taken(taken).older(older)
            .hpas(hpa == null ? List.of() : List.of(hpa)).found());
  }

  /** A new leader would take the replicas of a workload that was made again for another client's. */
  @Test
  void forgetsTheLastReplicas_onceItsWorkloadWasGoneOrIsAnother() {
    var scaled = scaling("web");
    var found = caught(scaled, SERVICE);
    var gone = ResolvedScaledService.of(scaled, TestReferences.to(SERVICE).found());

    assertThat(found.after(null).target().lastDesired()).hasValue(5);
    assertThat(found.after(found).target().lastDesired()).hasValue(5);
    assertThat(found.after(gone).target().lastDesired()).isEmpty();
    assertThat(gone.after(found)).isEqualTo(gone);
    assertThat(caught(scaling("green"), SERVICE).after(found).target().lastDesired()).isEmpty();
  }

  private static ScaledService scaling(String workload) {
    return Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
        status: {desiredReplicas: 5}
        """.formatted(workload)).value();
  }

  @Test
  void becomesARevisionAListingAndATarget() {
    var state = state(SERVICE, FOUND);

    assertThat(state.troubles()).isEmpty();
    assertThat(state.revision().id()).isEqualTo(WEB);
    assertThat(state.revision().containerConcurrency()).isEqualTo(40);
    assertThat(state.revision().protocol()).isEqualTo(PortProtocol.HTTP1);
    assertThat(state.revision().readinessProbe())
        .isEqualTo(new ReadinessProbeSpec("/ready", java.util.Map.of()));
    assertThat(state.pods().http1().ready())
        .isEqualTo(DestinationSet.of(new Destination("10.0.0.1", 8080)));
    assertThat(state.pods().http1().notReady())
        .isEqualTo(DestinationSet.of(new Destination("10.0.0.2", 8080)));
    assertThat(state.ready()).isEqualTo(1);
    assertThat(state.listed()).isEqualTo(OptionalInt.of(2));
    assertThat(state.target().maxReplicas()).isEqualTo(OptionalInt.of(10));
    assertThat(state.target().workload().toString()).isEqualTo("Deployment web");
  }

  @ParameterizedTest
  @CsvSource({"FallingAsleep, 2", "Asleep, 0", "Waking, 2"})
  void podsThatAreAsleepDoNotKeepOthersWaiting(String phase, int present) {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
        status: {idle: {state: %s, since: '2026-01-01T00:00:00Z', do: sleep}}
        """.formatted(phase)).value();

    var state = ResolvedScaledService.of(object,
        TestReferences.to(SERVICE).slices(List.of(SLICE)).workload(FOUND).found());

    assertThat(state.present()).isEqualTo(present);
    assertThat(state.pods().http1().all().isEmpty()).isTrue();
    assertThat(state.revision().annotations()).containsKey(RevisionAnnotations.PODS_HIDDEN);
    var woken = ResolvedScaledService.of(object, TestReferences.to(SERVICE).slices(List.of(SLICE))
        .workload(FOUND).woken(object.idle().state()).found());
    assertThat(woken.ready()).isEqualTo(1);
    assertThat(woken.present()).isEqualTo(2);
    assertThat(woken.revision().annotations()).isEmpty();
    var earlier = ResolvedScaledService.of(object, TestReferences.to(SERVICE).slices(List.of(SLICE))
        .workload(FOUND).woken(IdleState.parse(phase, "2025-12-31T00:00:00Z", "sleep")).found());
    assertThat(earlier).isEqualTo(state);
  }

  @Test
  void keepsAllElse_whenItsPodsFallAsleepInstead() {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
          idle: {do: sleep}
          conflictsWith: [other]
        """).value();
    var target = ResolvedScaledService
        .of(object, TestReferences.to(SERVICE).slices(List.of(SLICE)).workload(FOUND).found())
        .target();

    assertThat(target.conflicts().with()).containsExactly(new RevisionId("shop", "other"));
    assertThat(target.with(target.workload())).isEqualTo(target);
  }

  @Test
  void speaksHttp2WhereThePortSaysSo() {
    var grpc = service("{selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080,"
        + " appProtocol: kubernetes.io/h2c}]}");

    assertThat(state(grpc, FOUND).revision().protocol()).isEqualTo(PortProtocol.H2C);
    assertThat(state(grpc, FOUND).ready()).isEqualTo(1);
  }

  private static ResolvedScaledService withRules(String rules, List<Taken> taken) {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: http}
          target: {concurrency: 20}
          rules: %s
        """.formatted(rules)).value();
    return ResolvedScaledService.of(object,
        TestReferences.to(SERVICE).slices(List.of(SLICE)).workload(FOUND).taken(taken).found());
  }

  @Test
  void aPortOfARuleIsItsOwnRevision_withItsProtocolAndItsProbe() {
    var state = withRules("[{pathPrefix: /rpc, serviceRef: {port: grpc}},"
        + " {path: /rpc, serviceRef: {port: grpc}}, {pathPrefix: /, serviceRef: {port: http}}]",
        List.of());

    assertThat(state.troubles()).isEmpty();
    assertThat(state.revision().id()).isEqualTo(WEB);
    assertThat(state.ports()).singleElement().satisfies(grpc -> {
      assertThat(grpc.id()).hasToString("shop/web:grpc");
      assertThat(grpc.id().withoutPort()).isEqualTo(WEB);
      assertThat(grpc.revision().protocol()).isEqualTo(PortProtocol.H2C);
      assertThat(grpc.revision().probesBeforeReady())
          .as("the readinessProbe is of another port").isFalse();
      assertThat(grpc.pods().revision()).isEqualTo(grpc.id());
      assertThat(grpc.pods().h2c().ready())
          .isEqualTo(DestinationSet.of(new Destination("10.0.0.1", 8081)));
    });
    assertThat(state.revision().probesBeforeReady()).isTrue();
    assertThat(state.backends()).extracting(ResolvedScaledService.Backend::id).first()
        .isEqualTo(WEB);
  }

  @Test
  void aPortThatTheServiceDoesNotHaveFailsItsOwnRequestsOnly() {
    var state = withRules("[{serviceRef: {port: admin}}]", List.of());

    var sentence = "spec.rules: Service shop/svc has no port admin; it has http (80), grpc (81)";
    assertThat(state.troubles()).containsExactly(new Trouble("RulePortNotFound", sentence));
    assertThat(state.revision().startFailure()).isNull();
    assertThat(state.ports().getFirst().revision().startFailure())
        .isEqualTo(RevisionStartFailure.shown("RulePortNotFound", sentence));
    assertThat(state.canStart()).isTrue();
    assertThat(state.target().refusal()).isEmpty();
    assertThat(state.listed()).hasValue(2);
  }

  /** The workload can be scaled in all of these; only where no request can be served, none wakes. */
  @Test
  void requestsStartNoPod_whereAllAreRefused() {
    var noPort = service("{selector: {app: web}, ports: [{name: other, port: 80}]}");
    var otherPods = service("{selector: {app: shop}, ports: [{name: http, port: 80}]}");
    var template = found("{template: {metadata: {labels: {app: d6}}, spec: {containers: [{}]}}}",
        "{}");

    assertThat(state(null, FOUND).target().refusal()).isEqualTo("there is no Service shop/svc");
    assertThat(state(null, FOUND).canStart()).isFalse();
    assertThat(state(noPort, FOUND).target().refusal())
        .isEqualTo("Service shop/svc has no port http; it has other (80)");
    assertThat(
        ResolvedScaledService.of(OBJECT, TestReferences.to(otherPods).workload(template).found())
            .target().refusal())
        .startsWith("Service shop/svc selects no pod of Deployment web");
    // While it is replaced, requests wait, and start no pod yet.
    assertThat(state(null, FOUND).withRequestsWaiting().target().refusal()).isNotEmpty();
    // A host that is another's is counted there, and the name of this one stays.
    assertThat(withRules("[{path: /a}]",
        List.of(new Taken("c.d", new RevisionId("other", "old")))).target().refusal()).isEmpty();
  }

  @Test
  void aTimeoutBeyondTheBoundIsNamed_andTheBoundCounts() {
    var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web, uid: u}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: http}
          containerConcurrency: 1
          timeoutSeconds: 1800
        """).value();
    var found = TestReferences.to(SERVICE).slices(List.of(SLICE)).workload(FOUND)
        .maxTimeout(Duration.ofSeconds(1200)).found();

    var state = ResolvedScaledService.of(object, found);

    assertThat(state.troubles()).containsExactly(new Trouble("TimeoutTooLong",
        "spec.timeoutSeconds is 1800, and this installation allows 1200"
            + " (activator.standalone.max-timeout-seconds), which counts until then"));
    assertThat(state.revision().timeouts().overall()).hasSeconds(1200);
    assertThat(state.revision().startFailure()).isNull();
    assertThat(state.target().requestTimeout()).hasSeconds(1200);
  }

  @Test
  void oneRuleWithoutAPortFailsNoOther() {
    var state = withRules("[{serviceRef: {port: admin}}, {serviceRef: {port: grpc}}]", List.of());

    assertThat(state.ports()).extracting(one -> one.revision().startFailure() == null)
        .containsExactly(false, true);
    assertThat(state.troubles()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"name: http, appProtocol: https", "name: http, appProtocol: HTTPS",
      "name: http, appProtocol: kubernetes.io/wss", "name: http, appProtocol: tls"})
  void sendsNoPlainTextToPodsThatSpeakTls(String port) {
    var state = state(service("{selector: {app: web}, ports: [{" + port + ", port: 443}]}"), FOUND);

    var sentence = "port http (443) of Service shop/svc says that its pods speak TLS, and spec.tls"
        + " does not say which certificates to trust: add it, or set the port's appProtocol to http"
        + " if they speak plain HTTP";
    assertThat(state.troubles()).containsExactly(new Trouble("PodsSpeakTls", sentence));
    assertThat(state.revision().startFailure())
        .isEqualTo(RevisionStartFailure.shown("PodsSpeakTls", sentence));
    assertThat(state.pods().on(PortProtocol.HTTP1).all().isEmpty()).isTrue();
    assertThat(state.listed()).isEmpty();
    assertThat(state.canStart()).isFalse();
  }

  @Test
  void rulesThatAreTakenOrBrokenAreNamed() {
    var state = withRules("[{path: api}]", List.of(
        new Taken("a.b", "path prefix /api", new RevisionId("shop", "old")),
        new Taken("c.d", new RevisionId("other", "old"))));

    assertThat(withRules("[{pathPrefix: '/api/*'}]", List.of()).troubles()).containsExactly(
        new Trouble("InvalidRules", "spec.rules[0].pathPrefix must be a prefix without *, as it"
            + " matches what is below it, not \"/api/*\""));
    assertThat(state.troubles()).containsExactly(
        new Trouble("RuleTaken",
            "host a.b with path prefix /api belongs to ScaledService shop/old"),
        new Trouble("HostTaken", "host c.d belongs to ScaledService other/old"),
        new Trouble("InvalidRules", "spec.rules[0].path must be a path as callers send it, that"
            + " begins with / and has no //, /./, /../, %2F, ? or #, not \"api\""));
  }

  @Test
  void showsThatThereIsNoPod_onlyInAnEmptySliceOfAServiceThatCanSelectThem() {
    var state = state(SERVICE, FOUND);
    var empty = List.of(new ServiceEndpointSlice(SLICE.service(), Map.of(), List.of(), null));
    var shop = service("{selector: {app: shop}, ports: [{name: http, port: 80}]}");
    var template = "{template: {metadata: {labels: {%s: web}}, spec: {containers: [{}]}}}";
    var other = found(template.formatted("app"), "{}");
    // A webhook may add the label that is missing.
    var incomplete = found(template.formatted("tier"), "{}");

    assertThat(state.pods(SERVICE, "http", FOUND, List.of(SLICE), IpFamily.IPV4).all().all())
        .hasSize(2);
    assertThat(state.pods(SERVICE, "http", FOUND, empty, IpFamily.IPV4))
        .isEqualTo(PodsByReadiness.NONE);
    assertThat(state.pods(SERVICE, "http", FOUND, List.of(), IpFamily.IPV4)).isNull();
    assertThat(state.pods(SERVICE, "renamed", FOUND, List.of(SLICE), IpFamily.IPV4)).isNull();
    assertThat(state.pods(shop, "http", other, empty, IpFamily.IPV4)).isNull();
    assertThat(state.pods(shop, "http", incomplete, empty, IpFamily.IPV4))
        .isEqualTo(PodsByReadiness.NONE);
  }

  @Test
  void namesTheLabels_whenTheServiceSelectsOtherPods() {
    var shop = service("{selector: {app: shop, tier: web}, ports: [{name: http, port: 80}]}");
    String spec = "{template: {metadata: {labels: {app: %s, tier: web, x: y}}, spec: {containers: [{}]}}}";

    var state = state(shop, found(spec.formatted("d6"), "{}"));

    assertThat(state.troubles()).containsExactly(new Trouble("ServiceSelectsOtherPods",
        "Service shop/svc selects no pod of Deployment web: its selector is {app=shop, tier=web},"
            + " and the labels of the pods are {app=d6, tier=web, x=y}"));
    // Something may give pods more labels.
    assertThat(state.canStart()).isTrue();
    assertThat(state(shop, found(spec.formatted("shop"), "{}")).troubles()).isEmpty();
    assertThat(state(shop, found("{}", "{}")).troubles()).isEmpty();
  }

  /** A webhook may add a label that the template lacks, and pods of another workload may serve. */
  @ParameterizedTest(name = "labels {0}, {1} pods: {2}")
  @CsvSource(delimiter = '|', value = {"app: d6, tier: web | 0 | ServiceSelectsOtherPods",
      "app: d6 | 0 | ServiceSelectsOtherPods", "tier: web | 0 | ''", "x: y | 0 | ''",
      "app: d6, tier: web | 1 | ''"})
  void refusesRequests_whileNoPodCanEverMatch(String labels, int pods, String reason) {
    var shop = service("{selector: {app: shop, tier: web}, ports: [{name: http, port: 80}]}");
    var workload = found("{template: {metadata: {labels: {" + labels
        + "}}, spec: {containers: [{}]}}}", "{}");
    var state = ResolvedScaledService.of(OBJECT,
        TestReferences.to(shop).slices(pods == 0 ? List.of() : List.of(SLICE)).workload(workload)
            .found());

    var failure = state.revision().startFailure();
    assertThat(failure == null ? "" : failure.reason()).isEqualTo(reason);
    assertThat(state.troubles()).extracting(Trouble::reason)
        .containsExactly("ServiceSelectsOtherPods");
  }

  @Test
  void letsRequestsWait_onlyForWhatIsAlsoMissingDuringAReplacement() {
    var missing = state(SERVICE, new WorkloadState.Missing());
    assertThat(missing.mayBeReplaced()).isTrue();
    assertThat(missing.withRequestsWaiting().revision().startFailure()).isNull();
    assertThat(missing.withRequestsWaiting().troubles()).isEqualTo(missing.troubles());
    assertThat(state(null, FOUND).mayBeReplaced()).isTrue();
    assertThat(state(SERVICE, FOUND).mayBeReplaced()).isFalse();
    assertThat(state(SERVICE, new WorkloadState.NoKind()).mayBeReplaced()).isFalse();
    var taken = with(List.of(), OBJECT, null);
    assertThat(taken.mayBeReplaced()).isFalse();
    assertThat(taken.withRequestsWaiting()).isEqualTo(taken);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rollouts-pod-template-hash", "statefulset.kubernetes.io/pod-name",
      "apps.kubernetes.io/pod-index", "pod-template-hash", "controller-revision-hash"})
  void isReady_whenTheServiceSelectsByALabelThatControllersGivePods(String label) {
    var shop = service("{selector: {app: shop, " + label
        + ": web-0}, ports: [{name: http, port: 80}]}");

    assertThat(state(shop, found(
        "{template: {metadata: {labels: {app: shop}}, spec: {containers: [{}]}}}", "{}"))
        .troubles()).isEmpty();
  }

  /** The template of an Agones Fleet is one of game servers, and that of their pods is in it. */
  @Test
  void isReady_whenTheTemplateIsNotOneOfPods() {
    var shop = service("{selector: {app: shop}, ports: [{name: http, port: 80}]}");

    assertThat(state(shop, found("{template: {metadata: {labels: {fleet: a}}, spec: {template:"
        + " {metadata: {labels: {app: shop}}, spec: {containers: [{}]}}}}}", "{}"))
        .troubles()).isEmpty();
  }

  @Test
  void whatIsInTheWayHasAReasonAndASentence() {
    assertThat(state(null, FOUND).troubles()).containsExactly(
        new Trouble("ServiceNotFound", "there is no Service shop/svc"));
    assertThat(state(service("{selector: {a: b}, ports: [{name: web, port: 80}]}"), FOUND)
        .troubles()).containsExactly(new Trouble("PortNotFound",
            "Service shop/svc has no port http; it has web (80)"));
    assertThat(state(service("{ports: [{name: http, port: 80}]}"), FOUND).troubles())
        .containsExactly(new Trouble("NoSelector",
            "Service shop/svc has no selector, so its pods are unknown"));
    assertThat(state(SERVICE, new WorkloadState.Missing()).troubles()).containsExactly(
        new Trouble("TargetNotFound", "there is no Deployment web in namespace shop"));
    assertThat(state(SERVICE, new WorkloadState.NoKind()).troubles()).containsExactly(new Trouble(
        "TargetNotScalable", "the Kubernetes API has no kind Deployment in apps/v1"));
    assertThat(state(SERVICE, new WorkloadState.NotScalable()).troubles()).containsExactly(
        new Trouble("TargetNotScalable", "Deployment of apps/v1 has no scale subresource"));
    assertThat(state(SERVICE, new WorkloadState.NoNamespace()).troubles()).containsExactly(
        new Trouble("TargetNotScalable", "Deployment of apps/v1 belongs to no namespace"));
    assertThat(state(SERVICE, new WorkloadState.Hidden()).troubles()).isEmpty();
    assertThat(state(SERVICE, found("{}", "{conditions: [{type: ReplicaFailure, status: 'True',"
        + " message: 'pods \"web\" is forbidden: exceeded quota: small'}]}")).troubles())
        .containsExactly(new Trouble("QuotaExceeded", "no more pods of Deployment web can be"
            + " created: pods \"web\" is forbidden: exceeded quota: small"));
  }

  @Test
  void whatCannotBeScaledIsNoTarget() {
    assertThat(state(SERVICE, new WorkloadState.NoKind()).target()).isNull();
    assertThat(state(SERVICE, new WorkloadState.NotScalable()).target()).isNull();
    assertThat(state(SERVICE, new WorkloadState.Missing()).target())
        .as("scaled at once when it comes").isNull();
    assertThat(state(SERVICE, new WorkloadState.Hidden()).target()).isNotNull();
    assertThat(state(null, FOUND).listed()).isEmpty();
  }

  @Test
  void startsNoPod_whileWhatItNeedsIsMissingOrRefused() {
    assertThat(state(SERVICE, FOUND).revision().startFailure()).isNull();
    assertThat(state(null, FOUND).revision().startFailure()).isEqualTo(
        RevisionStartFailure.shown("ServiceNotFound", "there is no Service shop/svc"));
    assertThat(state(SERVICE, new WorkloadState.Missing()).revision().startFailure())
        .isEqualTo(RevisionStartFailure.shown("TargetNotFound",
            "there is no Deployment web in namespace shop"));
    assertThat(with(List.of(), OBJECT, null).revision().startFailure().reason())
        .isEqualTo("TargetTaken");
    assertThat(with(List.of(new Taken("a.b", new RevisionId("other", "old"))), null, null)
        .revision().startFailure()).as("its other hosts are served").isNull();
    assertThat(state(SERVICE, found("{}", "{conditions: [{type: ReplicaFailure, status: 'True',"
        + " message: 'exceeded quota: small'}]}")).revision().startFailure())
        .as("in words that callers do not read")
        .isEqualTo(RevisionStartFailure.lasting("QuotaExceeded",
            "no more pods of Deployment web can be created: exceeded quota: small"));
  }

  @Test
  void startsNoPod_whileTheStatusSaysForbidden() {
    var forbidden = Yaml
        .decoded(StandaloneKinds.SCALED_SERVICES,
            """
                metadata: {namespace: shop, name: web, uid: u}
                spec:
                  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
                  serviceRef: {name: svc, port: http}
                  target: {concurrency: 20}
                status:
                  conditions:
                  - {type: Ready, status: 'False', reason: Forbidden, message: no patch, lastTransitionTime: "2026-01-01T00:00:00Z"}
                """)
        .value();

    var state = ResolvedScaledService.of(forbidden,
        TestReferences.to(SERVICE).slices(List.of(SLICE)).workload(FOUND).found());

    assertThat(state.revision().startFailure())
        .isEqualTo(RevisionStartFailure.lasting("Forbidden", "no patch"));
  }

  @Test
  void anHpaThatGoesToZeroDecidesAboutTheLastPod() {
    var hpa = new HpaSpec("shop", "h", new ScaleTargetRef("apps/v1", "Deployment", "web"), 0);

    var state = with(List.of(), null, hpa);
    assertThat(state.target().otherGoesToZero()).isTrue();
    assertThat(state.target().minReplicas()).isZero();
    assertThat(state.warnings()).extracting(Trouble::reason).containsExactly("HpaDecidesZero");
  }

  @Test
  void anOlderObjectKeepsTheHostAndTheTarget() {
    var older = new RevisionId("other", "old");
    assertThat(with(List.of(new Taken("a.b", older)), null, null).troubles()).containsExactly(
        new Trouble("HostTaken", "host a.b belongs to ScaledService other/old"));
    assertThat(with(List.of(new Taken("a.b", null)), null, null).troubles())
        .extracting(Trouble::reason).containsExactly("HostNotAllowed");

    var younger = with(List.of(), OBJECT, null);
    assertThat(younger.troubles()).extracting(Trouble::reason).containsExactly("TargetTaken");
    assertThat(younger.target()).isNull();
  }

  @Test
  void besideAnHpaOnlyZeroAndOneAreOurs() {
    var state = with(List.of(), null,
        new HpaSpec("shop", "web-hpa", new ScaleTargetRef("apps/v1", "Deployment", "web"), 2));

    assertThat(state.target().maxReplicas()).isEmpty();
    assertThat(state.target().minReplicas()).isEqualTo(1);
    assertThat(state.troubles()).containsExactly(new Trouble("HpaPresent",
        "HorizontalPodAutoscaler web-hpa scales Deployment web, too: remove it, or"
            + " spec.maxReplicas; until then only 0 and 1 are set here"));
  }
}
