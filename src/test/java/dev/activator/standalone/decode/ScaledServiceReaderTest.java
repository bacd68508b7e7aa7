package dev.activator.standalone.decode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.kube.Yaml;
import dev.activator.standalone.policy.CaObject;
import dev.activator.standalone.policy.PodTlsSettings;
import dev.activator.standalone.policy.PodTlsSettings.CaReference;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ScaledService.ServiceRef;
import dev.activator.standalone.policy.ScaledServiceStatus;
import dev.activator.standalone.policy.ScaledServiceStatus.Condition;
import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.standalone.policy.ConnectionPorts;
import dev.activator.standalone.policy.ConnectionPorts.ConnectionPort;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.ColdStartRules.ColdStartFallback;
import dev.activator.revision.ColdStartRules.ConfiguredResponse;
import dev.activator.revision.ColdStartRules;
import dev.activator.standalone.policy.LoadTarget;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.policy.ScaledServiceRoute;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.WarmSchedule;
import dev.activator.standalone.policy.KeepWarmSettings;
import dev.activator.testing.TestValues;
import java.nio.file.Path;
import java.time.Clock;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

class ScaledServiceReaderTest {
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final String WHOLE = """
      kind: ScaledService
      metadata:
        {namespace: shop, name: web, uid: u, generation: 4, creationTimestamp: '2026-01-01T00:00:00Z',
         labels: {l: x}, annotations: {a: y}}
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        serviceRef: {name: svc, port: http}
        ports: [{port: pg, protocol: tcp, sni: [db.example.com], idleAfterSeconds: 300, closeIdle: true,
            readinessProbe: {send: "\\0\\xffping", expect: R}}, {port: 22, protocol: tcp}]
        hosts: [shop.example.com]
        rules:
          - {hosts: [api.example.com], pathPrefix: /v1/, headers: [{name: X-Env, value: canary}]}
          - {path: /rpc, serviceRef: {port: 81}}
        minReplicas: 1
        maxReplicas: 10
        target: {concurrency: 20, requestsPerSecond: 100, queueMilliseconds: 250}
        containerConcurrency: 40
        timeoutSeconds: 30
        scaleDown: {stabilizationWindowSeconds: 90}
        keepWarm: {mode: observe, maxSeconds: 900}
        schedule:
          timeZone: Europe/Berlin
          windows: [{days: [Mon], start: "08:00", end: "18:30", minReplicas: 2}]
        fallback:
          after: 2s
          respond: {status: 202, contentType: text/html, body: soon, headers: [{name: Location, value: /later}]}
        idleConnections: {ignoreAfterSeconds: 45}
        wakeWith: [cart, auth.users]
        catchService: true
        idle:
          do: sleep
          afterSeconds: 120
          thenZeroAfterSeconds: 3600
          sleep: {path: /s, wakePath: /w, isSleepingPath: /i, timeoutSeconds: 5}
        affinity: {header: Mcp-Session-Id, mode: strict, onPodGone: reject}
        tls:
          caCertificateRefs: [{name: web-ca}, {kind: Secret, name: other, key: root.pem}]
          hostname: web.example.com
        doNotWake:
          - {pathPrefix: /metrics, userAgent: Prometheus/, refuse: {retryAfterSeconds: 30}}
          - path: /healthz
            method: GET
            headers: [{name: X-Probe}, {name: X-From, value: lb}]
            respond: {status: 299, contentType: text/html, body: fine}
            always: true
        conflictsWith: [big, small]
        yieldAfterSeconds: 20
      status:
        replicas: 2
        desiredReplicas: 3
        state: running
        target: Deployment/web
        observedGeneration: 4
        ports: [{port: pg, number: 9100}]
        idle: {state: Asleep, since: '2026-01-01T00:00:00.000001Z', do: sleep}
        conditions: [{type: Ready, status: 'True', reason: R, message: m, lastTransitionTime: t, observedGeneration: 3}]
      """;

  private static ScaledService read(String yaml) {
    return Yaml.decoded(StandaloneKinds.SCALED_SERVICES, yaml).value();
  }

  @Test
  void theFirstTcpPortIsItsPort_withoutOneForRequests() {
    var read = read("""
        {metadata: {namespace: shop, name: web, uid: u},
         spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web},
          serviceRef: {name: web}, target: {concurrency: 1},
          ports: [{port: 5432, protocol: tcp}, {port: ssh, protocol: tcp}]}}
        """);

    assertThat(read.port()).isEqualTo("5432");
    assertThat(read.tcp()).isEqualTo(new ConnectionPorts(List.of(
        new ConnectionPort("5432", List.of(), null, Map.of()),
        new ConnectionPort("ssh", List.of(), null, Map.of())), false));
  }

  @Test
  void readsGenerationsOf64Bits() {
    var read = read("""
        {metadata: {namespace: shop, name: web, uid: u, generation: 9223372036854775807},
         spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web},
          serviceRef: {name: web, port: http}, target: {concurrency: 1}},
         status: {observedGeneration: 9223372036854775806}}
        """);

    assertThat(read.generation()).isEqualTo(Long.MAX_VALUE);
    assertThat(read.status().observedGeneration()).isEqualTo(Long.MAX_VALUE - 1);
  }

  @Test
  void readsEveryField() {
    assertThat(read(WHOLE)).isEqualTo(new ScaledService(new RevisionId("shop", "web"), "u",
        "2026-01-01T00:00:00Z", 4, new ScaleTargetRef("apps/v1", "Deployment", "web"),
        new ServiceRef("svc", "http",
            new PodTlsSettings(List.of(
                new CaReference(CaObject.Kind.CONFIG_MAP, "web-ca", "ca.crt"),
                new CaReference(CaObject.Kind.SECRET, "other", "root.pem")), false,
                "web.example.com")),
        List.of("shop.example.com"),
        List.of(
            new ScaledServiceRoute(List.of("api.example.com"),
                new ScaledServiceRoute.Path("/v1", true),
                List.of(new DoNotWakeRule.Header("X-Env", new DoNotWakeRule.Text("canary", false))),
                ""),
            new ScaledServiceRoute(List.of(), new ScaledServiceRoute.Path("/rpc", false), List.of(),
                "81")),
        List.of(), 1, OptionalInt.of(10),
        new LoadTarget(OptionalInt.of(20), OptionalInt.of(100), OptionalInt.of(250)), 40,
        Duration.ofSeconds(30), Duration.ofSeconds(90), List.of("cart", "auth.users"),
        Map.of("l", "x"), Map.of("a", "y", "activator.dev/affinity-header", "Mcp-Session-Id",
            "activator.dev/affinity-mode", "strict", "activator.dev/affinity-on-pod-gone",
            "reject"),
        new ColdStartRules(List.of(
            new DoNotWakeRule(new DoNotWakeRule.Text("/metrics", true), null,
                List.of(DoNotWakeRule.userAgent("Prometheus/")),
                new ConfiguredResponse(503,
                    Map.of("Content-Type", "text/plain; charset=utf-8", "X-Content-Type-Options",
                        "nosniff", "Retry-After", "30"),
                    "this request does not start the service\n"),
                false),
            new DoNotWakeRule(new DoNotWakeRule.Text("/healthz", false), "GET",
                List.of(new DoNotWakeRule.Header("X-Probe", new DoNotWakeRule.Text("", true)),
                    new DoNotWakeRule.Header("X-From", new DoNotWakeRule.Text("lb", false))),
                new ConfiguredResponse(299, Map.of("Content-Type", "text/html"), "fine"), true)),
            new ColdStartFallback(Duration.ofSeconds(2), null,
                new ConfiguredResponse(202,
                    Map.of("Content-Type", "text/html", "Location", "/later"), "soon")),
            Duration.ofSeconds(45), List.of()),
        new KeepWarmSettings(new WarmSchedule(ZoneId.of("Europe/Berlin"),
            List.of(new WarmSchedule.Window(Set.of(DayOfWeek.MONDAY), LocalTime.of(8, 0),
                LocalTime.of(18, 30), 2))),
            new KeepWarmSettings.KeepWarm(true, Duration.ofSeconds(900)), List.of()),
        true,
        new ConnectionPorts(List.of(new ConnectionPort("pg", List.of("db.example.com"),
            new ReadinessProbeSpec.ExpectedAnswer("\0\u00ffping", "R"),
            Map.of("activator.dev/tcp-idle-after-seconds", "300", "activator.dev/tcp-close-idle",
                "true")),
            new ConnectionPort("22", List.of(), null, Map.of())), true),
        new ConflictSpec(Set.of(new RevisionId("shop", "big"), new RevisionId("shop", "small")),
            Duration.ofSeconds(20)),
        new IdleSpec(
            Map.of("do", "sleep", "afterSeconds", 120, "thenZeroAfterSeconds", 3600, "sleep",
                Map.of("path", "/s", "wakePath", "/w", "isSleepingPath", "/i", "timeoutSeconds",
                    5)),
            new IdleState(IdleState.Phase.ASLEEP, Instant.parse("2026-01-01T00:00:00.000001Z"),
                "sleep")),
        new ScaledServiceStatus(OptionalInt.of(2), OptionalInt.of(3), 4,
            List.of(new Condition("Ready", "True", "R", "m", "t", 3)), Map.of("pg", 9100),
            "running", "Deployment/web")));
  }

  /** Every field of the schema, down to the values. */
  static Stream<String> fields() {
    var schema = YAML.readTree(Path.of("src/main/resources/embedded/scaledservices.yaml"))
        .at("/spec/versions/0/schema/openAPIV3Schema/properties");
    return Stream.of("spec", "status")
        .flatMap(part -> fields("/" + part, schema.path(part)))
        // The example has an answer, sleep and references instead; extensions read status.wake and status.shrunk.
        .filter(field -> !field.equals("/spec/fallback/service") && !field.startsWith("/spec/wake/")
            && !field.startsWith("/spec/idle/shrink/")
            && !field.startsWith("/status/wake/") && !field.equals("/status/shrunk")
            && !field.equals("/spec/tls/wellKnownCACertificates")
            && !field.equals("/spec/affinity/cookie") && !field.equals("/spec/affinity/query"));
  }

  private static Stream<String> fields(String path, JsonNode schema) {
    return schema.has("properties")
        ? schema.path("properties").properties().stream()
            .flatMap(one -> fields(path + "/" + one.getKey(), one.getValue()))
        : Stream.of(path);
  }

  @ParameterizedTest
  @MethodSource("fields")
  void whatTheSchemaHasChangesWhatIsRead(String field) {
    var object = (ObjectNode) YAML.readTree(WHOLE);
    assertThat(object.at(field).isMissingNode()).as("it is in the example").isFalse();

    int slash = field.lastIndexOf('/');
    ((ObjectNode) object.at(field.substring(0, slash))).remove(field.substring(slash + 1));

    assertThat(read(YAML.writeValueAsString(object))).isNotEqualTo(read(WHOLE));
  }

  /** Each value of the example's spec, also in lists. */
  static Stream<String> values() {
    return values("/spec", YAML.readTree(WHOLE).path("spec"));
  }

  private static Stream<String> values(String path, JsonNode value) {
    if (value.isArray()) {
      return IntStream.range(0, value.size()).boxed()
          .flatMap(i -> values(path + "/" + i, value.get(i)));
    }
    return value.isObject()
        ? value.properties().stream()
            .flatMap(one -> values(path + "/" + one.getKey(), one.getValue()))
        : Stream.of(path);
  }

  private static JsonNode withAnObjectAt(String path) {
    var object = YAML.readTree(WHOLE);
    int slash = path.lastIndexOf('/');
    var parent = object.at(path.substring(0, slash));
    var name = path.substring(slash + 1);
    if (parent instanceof ObjectNode fields) {
      fields.putObject(name);
    } else {
      ((ArrayNode) parent).set(Integer.parseInt(name), YAML.createObjectNode());
    }
    return object;
  }

  @ParameterizedTest
  @MethodSource("values")
  void aWrongValueOfAnyFieldIsRefusedWithItsPathAndWhatItMustBe(String path) {
    var store = new ApiStore(Clock.systemUTC());
    ScaledServiceCrd.createIn(store);
    var field = path.substring(1).replaceAll("/(\\d+)", "[$1]").replace('/', '.');

    assertThatThrownBy(() -> store.create(ScaledServiceCrd.of(store),
        (ObjectNode) withAnObjectAt(path))).isInstanceOf(StatusException.class)
        .hasMessageContaining("is invalid: " + field + ": Invalid value")
        .hasMessageContaining("must be of type ");
  }

  static Stream<String> valuesThatAreRead() {
    // An extension reads what is in this field, and refuses it.
    return values().filter(path -> !path.startsWith("/spec/idle/"));
  }

  /** Where no schema is checked, such as after a change of the definition by hand. */
  @ParameterizedTest
  @MethodSource("valuesThatAreRead")
  void aWrongValueOfAnyFieldThatComesAnywayIsAProblemWithASentence(String path) {
    var decoded = Yaml.decoded(StandaloneKinds.SCALED_SERVICES,
        YAML.writeValueAsString(withAnObjectAt(path)));
    var value = decoded.value();
    var problems = new ArrayList<String>(decoded.remarks());
    if (value == null) {
      problems.add(decoded.problem());
    }
    var known = path.split("/")[2];

    assertThat(problems).anyMatch(text -> text.contains(known));
  }

  @Test
  void theDefaultsAreThoseOfTheSchema() {
    var little = read("""
        metadata: {namespace: shop, name: web}
        spec:
          scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
          serviceRef: {name: svc, port: 80}
          containerConcurrency: 1
        """);

    assertThat(little.port()).isEqualTo("80");
    assertThat(little.minReplicas()).isZero();
    assertThat(little.timeout()).isEqualTo(Duration.ofSeconds(300));
    assertThat(little.window()).isEqualTo(Duration.ofSeconds(60));
    assertThat(little.status()).isEqualTo(TestValues.NO_STATUS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"serviceRef: {name: svc, port: http}", "minReplicas: -1", "hosts: a",
      "scaleTargetRef: 7", "target: {concurrency: 0}"})
  void whatASchemaShouldHaveRefusedIsAProblem(String spec) {
    assertThat(Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
        metadata: {namespace: shop, name: web}
        spec: {%s}
        """.formatted(spec)).problem()).contains("spec.");
  }
}
