package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.StartFailure;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.testing.TestRevisions;
import dev.activator.config.NamespaceHostRules;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.TcpPortTable;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.proxy.policy.MapFields;
import dev.activator.platform.IdleMethod;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Duration;
import dev.activator.testing.TestValues;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** ScaledServices and what they refer to, on an embedded API, over HTTP. */
class ScaledServiceResolverTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final RevisionId ACTIVATORS = new RevisionId("system", "activator");

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final ClusterWatcher cluster = cluster(Duration.ofSeconds(120));
  private final ScaledServices services = Make.scaledServices();
  private final Map<String, String> received = new ConcurrentSkipListMap<>();

  ScaledServiceResolverTest() {
    cluster.leaveOutKnative();
    services.extensions(Set.of("rules", "wakewith"), List.of(), null);
    cluster.setSource(services);
    services.changes().subscribe("test", this::received);
    services.ends().subscribe("test", this::gone);
    cluster.revisions().subscribe("test", revision -> received.put("revision " + revision.id(),
        revision.spec().protocol() + " " + revision.spec().readinessProbe().path()));
    TestRevisions.onEnd(cluster, id -> received.remove("revision " + id));
    cluster
        .pods().subscribe("test",
            pods -> received.put("pods " + pods.revision(), pods.http1().ready().toString()));
    cluster.podsGone().subscribe("test", last -> received.remove("pods " + last.revision()));
  }

  private void received(ResolvedScaledService state) {
    received.put("troubles of " + state.object().id(),
        state.troubles().stream().map(Trouble::reason).toList().toString());
  }

  private void gone(ResolvedScaledService last) {
    received.remove("troubles of " + last.object().id());
  }

  private ClusterWatcher cluster(Duration startTimeout) {
    return Make.cluster(() -> new ClusterAccess.At(URI.create(api.url())), startTimeout);
  }

  @AfterEach
  void close() {
    cluster.close();
    api.close();
  }

  private void tells(Map<String, String> expected) {
    await()
        .untilAsserted(() -> assertThat(Map.copyOf(received)).isEqualTo(expected));
  }

  @Test
  void readsRulesSchedulesAndWhatIsWrongWithThem() throws Exception {
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.DEPLOYMENT,
        Objects.parse("{'metadata': {'namespace': 'shop', 'name': 'web'}}"));
    store.create(BuiltInKinds.SERVICE, service());
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web',
          'annotations': {'activator.dev/idle-connections': 'sometimes',
            'activator.dev/queue-timout': '20s'}}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 5},
         'doNotWake': [{'path': '/healthz', 'respond': {'body': 'ok'}}],
         'fallback': {'after': '2s', 'service': 'spare'},
         'schedule': {'timeZone': 'Europe/Nowhere',
           'windows': [{'start': '08:00', 'end': '18:00', 'minReplicas': 1}]}}}
        """));
    cluster.start();

    await().untilAsserted(() -> assertThat(received)
        .containsEntry("troubles of shop/web",
            "[InvalidRules, InvalidSchedule, FallbackNotFound, InvalidAnnotation]"));
    var rules = cluster.live().spec(WEB).rules();
    assertThat(rules.doNotWake()).map(DoNotWakeRule::toString).containsExactly("/healthz → 200");
    assertThat(rules.fallback()).hasToString("goes to spare after 2.0 s");
    assertThat(rules.problems()).containsExactly("annotation activator.dev/idle-connections must be"
        + " count, or ignore-after= with a duration from 1s to 24h, not \"sometimes\"");
    assertThat(services.find(WEB).target().warmTimes().problems()).containsExactly(
        "spec.schedule.timeZone must be a time zone such as Europe/Berlin, not \"Europe/Nowhere\"");
  }

  @Test
  void givesWayToAKnativeRevisionOfTheSameName_untilThatIsGone() throws Exception {
    var both = cluster(Duration.ofSeconds(120));
    both.setSource(services);
    services.changes().subscribe("test",
        state -> received.put("scaled", "" + (state.target() != null)));
    both.revisions().subscribe("test", revision -> received.put("uid", revision.uid()));
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.DEPLOYMENT,
        Objects.parse("{'metadata': {'namespace': 'shop', 'name': 'web'}}"));
    store.create(BuiltInKinds.SERVICE, service());
    scaledService("web", "web", "'web.example.com'");
    var own = store.find(ScaledServiceCrd.of(store), "shop", "web").at("/metadata/uid")
        .asString();
    try (both) {
      both.start();
      tells(Map.of("troubles of shop/web", "[]", "scaled", "true", "uid", own));
      assertThat(services.revision("web.example.com", "/", MapFields.of())).isEqualTo(WEB);

      var revision = store.create(BuiltInKinds.REVISION, Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'containers': [{}]}}
          """));
      tells(Map.of("troubles of shop/web", "[NameTaken]", "scaled", "false", "uid",
          revision.at("/metadata/uid").asString()));
      assertThat(services.revision("web.example.com", "/", MapFields.of())).isNull();

      store.delete(BuiltInKinds.REVISION, "shop", "web");
      tells(Map.of("troubles of shop/web", "[]", "scaled", "true", "uid", own));
    }
  }

  @Test
  void aFallbackMayBeAKnativeService_onceItHasARevision() throws Exception {
    var both = cluster(Duration.ofSeconds(120));
    both.setSource(services);
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.DEPLOYMENT,
        Objects.parse("{'metadata': {'namespace': 'shop', 'name': 'web'}}"));
    store.create(BuiltInKinds.SERVICE, service());
    scaledService("web", "web", "'web.example.com'");
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      found.withObject("/spec/fallback").put("service", "spare");
      return found;
    });
    try (both) {
      both.start();
      tells(Map.of("troubles of shop/web", "[FallbackNotFound]"));

      store.create(BuiltInKinds.REVISION, Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'spare-00001',
            'labels': {'serving.knative.dev/service': 'spare'}}, 'spec': {'containers': [{}]}}
          """));
      tells(Map.of("troubles of shop/web", "[]"));

      store.delete(BuiltInKinds.REVISION, "shop", "spare-00001");
      tells(Map.of("troubles of shop/web", "[FallbackNotFound]"));
    }
  }

  @Test
  void reportsTheActivatorsAgain_whenAKnativeRevisionOfTheSameNameIsGone() throws Exception {
    complete();
    var own = slice("10.1.0.1");
    ((ObjectNode) own.path("metadata")).put("namespace", "system").put("name", "own")
        .putObject("labels").put("kubernetes.io/service-name", "activator");
    store.create(BuiltInKinds.ENDPOINT_SLICE, own);
    var both = cluster(Duration.ofSeconds(120));
    both.setSource(new ScaledServices(Make.scope().sharedBy(ACTIVATORS)));
    both.revisions().subscribe("test", revision -> received.put("uid", revision.uid()));
    // As the throttler does.
    TestRevisions.onEnd(both, _ -> received.remove("activators"));
    both.publicAddresses().subscribe("test", now -> {
      if (now.http1().isEmpty()) {
        received.remove("activators");
      } else {
        received.put("activators", now.http1().toString());
      }
    });
    var uid = store.find(ScaledServiceCrd.of(store), "shop", "web").at("/metadata/uid")
        .asString();
    try (both) {
      both.start();
      tells(Map.of("uid", uid, "activators", "[10.1.0.1]"));

      var revision = store.create(BuiltInKinds.REVISION, Objects.parse("""
          {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'containers': [{}]}}
          """));
      tells(Map.of("uid", revision.at("/metadata/uid").asString()));

      store.delete(BuiltInKinds.REVISION, "shop", "web");
      tells(Map.of("uid", uid, "activators", "[10.1.0.1]"));
    }
  }

  private void scaledService(String name, String target, String hosts) {
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': '%s'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': '%s'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'hosts': [%s],
         'target': {'concurrency': 20}}}
        """.formatted(name, target, hosts)));
  }

  private static ObjectNode service() {
    return Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
         'ports': [{'name': 'http', 'port': 80, 'targetPort': 8080}]}}
        """);
  }

  private static ObjectNode slice(String ip) {
    return Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web-1',
         'labels': {'kubernetes.io/service-name': 'web'}}, 'addressType': 'IPv4',
         'ports': [{'name': 'http', 'port': 8080}], 'endpoints': [{'addresses': ['%s']}]}
        """.formatted(ip));
  }

  private static ObjectNode deployment(String path) {
    return Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'template': {'spec': {
         'containers': [{'name': 'c', 'readinessProbe': {'httpGet': {'path': '%s', 'port': 8080}}}
         ]}}}}
        """.formatted(path));
  }

  private void complete() {
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.DEPLOYMENT, deployment("/ready"));
    store.create(BuiltInKinds.SERVICE, service());
    store.create(BuiltInKinds.ENDPOINT_SLICE, slice("10.0.0.1"));
    scaledService("web", "web", "'shop.example.com'");
  }

  @Test
  void ignoresObjectsOfOtherNamespaces_whereAnotherInstallationHasThem() throws Exception {
    ScaledServiceCrd.createIn(store);
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'blog', 'name': 'web'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'hosts': ['web.example.com'],
         'target': {'concurrency': 20}}}
        """));
    store.create(BuiltInKinds.SERVICE, service());
    scaledService("web", "web", "'web.example.com'");
    var services = new ScaledServices(
        new ScaledServices.Scope("cluster.local", NamespaceHostRules.ANY, Set.of("shop"),
            TestValues.MAX_TIMEOUT, TcpPortTable.Allowed.NONE));
    services.extensions(Set.of("rules", "wakewith"), List.of(), null);
    cluster.setSource(services);
    services.changes().subscribe("test", this::received);
    services.ends().subscribe("test", this::gone);
    cluster.start();

    // The older one would have the host.
    assertThat(services.revision("web.example.com", "/", MapFields.of())).isEqualTo(WEB);
    assertThat(received.keySet()).containsExactly("pods shop/web", "revision shop/web",
        "troubles of shop/web");

    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    store.edit(ScaledServiceCrd.of(store), "blog", "web", found -> {
      found.withObject("/spec/target").put("concurrency", 5);
      return found;
    });
    tells(Map.of());
    assertThat(services.revision("web.example.com", "/", MapFields.of())).isNull();
  }

  @Test
  void followsAllThatAScaledServiceRefersTo() throws Exception {
    complete();

    cluster.start();
    assertThat(Map.copyOf(received)).as("everything is known at the start").isEqualTo(
        Map.of("troubles of shop/web", "[]", "revision shop/web", "HTTP1 /ready", "pods shop/web",
            "[10.0.0.1:8080]"));
    assertThat(cluster.live().spec(WEB)).isNotNull();
    assertThat(services.revision("shop.example.com:80", "/", MapFields.of())).isEqualTo(WEB);

    store.writes().update(BuiltInKinds.ENDPOINT_SLICE, slice("10.0.0.2"));
    store.writes().update(BuiltInKinds.DEPLOYMENT, deployment("/healthy"));
    tells(Map.of("troubles of shop/web", "[]", "revision shop/web", "HTTP1 /healthy",
        "pods shop/web", "[10.0.0.2:8080]"));

    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    tells(Map.of());
    assertThat(cluster.live().spec(WEB)).isNull();
    assertThat(services.revision("shop.example.com", "/", MapFields.of())).isNull();
  }

  @Test
  void sendsRequestsToPodsThatThisProcessHasWoken_untilItDoesNotHoldThemForAwake()
      throws Exception {
    services.extensions(Set.of(), List.of(), new IdleMethod<ScaleTargetRef>() {
      @Override
      public Class<ScaleTargetRef> type() {
        return ScaleTargetRef.class;
      }

      @Override
      public ScaleTargetRef target(ScaleTarget workload, IdleSpec idle) {
        return (ScaleTargetRef) workload;
      }

      @Override
      public ScaleClient<ScaleTargetRef> client(Environment environment) {
        throw new UnsupportedOperationException("not in this test");
      }
    });
    complete();
    var since = "2026-01-01T00:00:00Z";
    store.updateStatus(ScaledServiceCrd.of(store), "shop", "web", web -> web.set("status",
        Objects.parse("{'idle': {'state': 'Asleep', 'since': '" + since + "', 'do': 'freeze'}}")));
    cluster.start();
    await().untilAsserted(() -> assertThat(received).containsEntry("pods shop/web", "[]"));

    services.woken(WEB, IdleState.parse("Asleep", since, "freeze"));
    await().untilAsserted(
        () -> assertThat(received).containsEntry("pods shop/web", "[10.0.0.1:8080]"));

    services.woken(WEB, null);
    await().untilAsserted(() -> assertThat(received).containsEntry("pods shop/web", "[]"));
  }

  @Test
  void theActivatorsOfOurOwnServiceShareItsPods() throws Exception {
    complete();
    var own = slice("10.1.0.1");
    ((ObjectNode) own.path("metadata")).put("namespace", "system").put("name", "own")
        .putObject("labels").put("kubernetes.io/service-name", "activator");
    store.create(BuiltInKinds.ENDPOINT_SLICE, own);
    var shares = new ConcurrentSkipListMap<String, List<String>>();
    cluster.publicAddresses().subscribe("test",
        now -> shares.put(now.revision().toString(), now.http1()));
    cluster.setSource(new ScaledServices(Make.scope().sharedBy(ACTIVATORS)));
    cluster.start();
    assertThat(shares).isEqualTo(Map.of("shop/web", List.of("10.1.0.1")));

    store.edit(BuiltInKinds.ENDPOINT_SLICE, "system", "own", found -> {
      found.withArrayProperty("endpoints").addObject().putArray("addresses").add("10.1.0.2");
      var ending = found.withArrayProperty("endpoints").addObject();
      ending.putArray("addresses").add("10.1.0.3");
      ending.putObject("conditions").put("ready", false).put("terminating", true);
      return found;
    });
    await().untilAsserted(
        () -> assertThat(Map.copyOf(shares)).containsEntry("shop/web",
            List.of("10.1.0.1", "10.1.0.2")));
  }

  @Test
  void aPortOfARuleComesAndGoesWithTheRule() throws Exception {
    complete();
    store.edit(BuiltInKinds.SERVICE, "shop", "web", found -> {
      found.withObject("/spec").withArrayProperty("ports").addObject().put("name", "grpc")
          .put("port", 81).put("targetPort", 9090).put("appProtocol", "kubernetes.io/h2c");
      return found;
    });
    store.edit(BuiltInKinds.ENDPOINT_SLICE, "shop", "web-1", found -> {
      found.withArrayProperty("ports").addObject().put("name", "grpc").put("port", 9090);
      return found;
    });
    cluster.start();
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      var rules = found.withObject("/spec").putArray("rules");
      rules.addObject();
      rules.addObject().put("pathPrefix", "/rpc").putObject("serviceRef").put("port", "grpc");
      return found;
    });

    var grpc = WEB.ofPort("grpc");
    tells(Map.of("troubles of shop/web", "[]", "revision shop/web", "HTTP1 /ready",
        "pods shop/web", "[10.0.0.1:8080]", "revision shop/web:grpc", "H2C ",
        "pods shop/web:grpc", "[10.0.0.1:9090]"));
    assertThat(services.revision("shop.example.com", "/rpc/x", MapFields.of())).isEqualTo(grpc);
    assertThat(services.revision("shop.example.com", "/", MapFields.of())).isEqualTo(WEB);
    assertThat(services.find(grpc)).isSameAs(services.find(WEB));

    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      found.withObject("/spec").putArray("rules").addObject().put("path", "/only");
      return found;
    });
    tells(Map.of("troubles of shop/web", "[]", "revision shop/web", "HTTP1 /ready",
        "pods shop/web", "[10.0.0.1:8080]"));
    assertThat(services.revision("shop.example.com", "/rpc/x", MapFields.of())).isNull();
    assertThat(services.isKnown("shop.example.com")).isTrue();
    assertThat(services.revision("shop.example.com", "/only?a", MapFields.of())).isEqualTo(WEB);

    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    tells(Map.of());
  }

  @Test
  void saysWhatIsMissingUntilItComes() throws Exception {
    ScaledServiceCrd.createIn(store);
    scaledService("web", "web", "");
    cluster.start();
    assertThat(Map.copyOf(received)).containsEntry("troubles of shop/web",
        "[ServiceNotFound, TargetNotFound]");

    store.create(BuiltInKinds.SERVICE, service());
    store.create(BuiltInKinds.DEPLOYMENT, deployment("/ready"));
    store.create(BuiltInKinds.ENDPOINT_SLICE, slice("10.0.0.1"));
    tells(Map.of("troubles of shop/web", "[]", "revision shop/web", "HTTP1 /ready",
        "pods shop/web", "[10.0.0.1:8080]"));

    store.delete(BuiltInKinds.SERVICE, "shop", "web");
    await().untilAsserted(
        () -> assertThat(Map.copyOf(received)).containsEntry("troubles of shop/web",
            "[ServiceNotFound]"));
  }

  @Test
  void theNextInAgeInheritsAHostAndATarget() throws Exception {
    complete();
    cluster.start();
    await().until(() -> !store.now().truncatedTo(java.time.temporal.ChronoUnit.SECONDS).toString()
        .equals(store.find(ScaledServiceCrd.of(store), "shop", "web")
            .at("/metadata/creationTimestamp").asString()));
    scaledService("web-2", "web", "'shop.example.com'");
    await().untilAsserted(
        () -> assertThat(Map.copyOf(received)).containsEntry("troubles of shop/web-2",
            "[TargetTaken, HostTaken]").containsEntry("troubles of shop/web", "[]"));
    assertThat(services.revision("shop.example.com", "/", MapFields.of())).isEqualTo(WEB);

    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    await().untilAsserted(
        () -> assertThat(Map.copyOf(received)).containsEntry("troubles of shop/web-2", "[]"));
    assertThat(services.revision("shop.example.com", "/", MapFields.of()))
        .isEqualTo(new RevisionId("shop", "web-2"));
  }

  @Test
  void aKindThatMayNotBeListedIsScaledWithoutItsTemplate() throws Exception {
    complete();
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.DEPLOYMENT),
        Fault.Answer.status(403));

    cluster.start();
    assertThat(Map.copyOf(received)).containsEntry("troubles of shop/web", "[]").containsEntry(
        "revision shop/web", "HTTP1 ");
  }

  @Test
  void withoutTheDefinitionTheStartSaysWhatIsMissing() {
    assertThat(StartFailure.of(patience -> {
      var hasty = cluster(patience);
      hasty.leaveOutKnative();
      hasty.setSource(services);
      hasty.start();
    })).contains("has no scaledservices.activator.dev (404); is the CustomResourceDefinition");
  }
}
