package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.policy.TrafficSplit;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

class ServiceTrafficTest {
  private static final YAMLMapper YAML = new YAMLMapper();

  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(
      Clock.fixed(Instant.parse("2026-11-21T12:00:00.5Z"), ZoneOffset.UTC));
  private final ServingController controller = new ServingController(store, loop, "127.0.0.1",
      (_, _) -> true);

  @BeforeEach
  void start() {
    new GarbageCollector(store, loop).start();
    controller.start(8012);
  }

  @Test
  void splitsTheRequestsOverRevisionsAndGivesTagsHosts() {
    twoRevisions();

    apply(2, "[{latestRevision: true, percent: 25}, {revisionName: shop-00001, percent: 75,"
        + " tag: stable}, {revisionName: shop-00002, tag: next}]");

    assertThat(split("shop"))
        .isEqualTo(TrafficSplit.of("default", orderedMap("shop-00002", 25, "shop-00001", 75)));
    assertThat(split("stable-shop")).isEqualTo(all("shop-00001"));
    assertThat(split("next-shop")).isEqualTo(all("shop-00002"));
    assertThat(status("traffic")).isEqualTo(YAML.readTree("""
        - {latestRevision: true, percent: 25, revisionName: shop-00002}
        - {latestRevision: false, percent: 75, revisionName: shop-00001, tag: stable,
           url: 'http://stable-shop.default.localhost:8012'}
        - {latestRevision: false, percent: 0, revisionName: shop-00002, tag: next,
           url: 'http://next-shop.default.localhost:8012'}
        """).toString());
    assertThat(states()).containsExactly("active", "active");
    assertThat(condition("RoutesReady")).isEqualTo("True");
  }

  @Test
  void aTagIsGone_whenItIsTakenOutOfTheTraffic() {
    twoRevisions();
    apply(2, "[{latestRevision: true, percent: 100}, {revisionName: shop-00001, tag: old}]");
    assertThat(split("old-shop")).isEqualTo(all("shop-00001"));

    apply(2, "[]");

    assertThat(split("old-shop")).isNull();
    assertThat(split("shop")).isEqualTo(all("shop-00002"));
    assertThat(states()).containsExactly("reserve", "active");
    assertThat(controller.hosts()).containsExactly(new RevisionId("default", "shop"));
  }

  @Test
  void theHostOfAServiceComesBeforeATagOfThatName() {
    twoRevisions();
    apply(2, "[{latestRevision: true, percent: 100}, {revisionName: shop-00001, tag: old}]");

    store.create(BuiltInKinds.KNATIVE_SERVICE, service("old-shop", 1, "[]"));
    loop.run();
    assertThat(split("old-shop")).isEqualTo(all("old-shop-00001"));

    store.delete(BuiltInKinds.KNATIVE_SERVICE, "default", "old-shop");
    loop.run();
    assertThat(split("old-shop")).isEqualTo(all("shop-00001"));
  }

  @Test
  void aPinnedRevisionKeepsTheRequests_whenTheTemplateChanges() {
    twoRevisions();
    apply(2, "[{revisionName: shop-00001, percent: 100}]");

    apply(3, "[{revisionName: shop-00001, percent: 100}]");
    ready("shop-00003");

    assertThat(split("shop")).isEqualTo(all("shop-00001"));
    assertThat(status("latestReadyRevisionName")).isEqualTo("\"shop-00003\"");
    assertThat(states()).containsExactly("active", "reserve", "reserve");
    assertThat(condition("Ready")).isEqualTo("True");
  }

  @Test
  void aPinnedRevisionIsNotCollected() {
    twoRevisions();
    String pinned = "[{latestRevision: true, percent: 100}, {revisionName: shop-00001, tag: old}]";

    for (int template = 3; template <= 30; template++) {
      apply(template, pinned);
      ready("shop-000%02d".formatted(template));
    }
    assertThat(names()).contains("shop-00001", "shop-00010", "shop-00030").hasSize(22);

    // and is, once no target names it
    apply(30, "[]");
    assertThat(names()).doesNotContain("shop-00001").hasSize(21);
  }

  @Test
  void aMissingTargetLeavesTheRequestsWhereTheyWere() {
    twoRevisions();

    apply(2, "[{revisionName: shop-00009, percent: 100}]");

    assertThat(split("shop")).isEqualTo(all("shop-00002"));
    assertThat(condition("RoutesReady")).isEqualTo("False RevisionMissing"
        + " Revision \"shop-00009\" referenced in traffic not found.");
    assertThat(condition("Ready")).startsWith("False RevisionMissing");
    assertThat(status("traffic")).contains("shop-00002").doesNotContain("shop-00009");
  }

  @Test
  void aServiceWhoseOnlyTargetIsMissingHasNoHost_andItsWriteIsAnswered() {
    var service = service("shop", 1, "[{revisionName: shop-00009, percent: 100}]");
    store.create(BuiltInKinds.KNATIVE_SERVICE, service);
    var written = store.applied(BuiltInKinds.KNATIVE_SERVICE, service);
    loop.run();

    assertThat(split("shop")).isNull();
    assertThat(written).isDone();
  }

  @Test
  void aRevisionThatIsNamedWithItsTemplateTakesOverWhenItIsReady() {
    twoRevisions();

    apply(3, "[{revisionName: shop-00003, percent: 100}]");
    assertThat(split("shop")).isEqualTo(all("shop-00002"));
    assertThat(condition("RoutesReady"))
        .isEqualTo("Unknown RevisionMissing Revision \"shop-00003\" is not yet ready.");

    ready("shop-00003");
    assertThat(split("shop")).isEqualTo(all("shop-00003"));
    assertThat(condition("Ready")).isEqualTo("True");
  }

  @Test
  void aRevisionOfAnotherServiceIsNoTarget() {
    twoRevisions();
    store.create(BuiltInKinds.KNATIVE_SERVICE, service("cart", 1, "[]"));
    loop.run();

    apply(2, "[{revisionName: cart-00001, percent: 100}]");

    assertThat(condition("RoutesReady")).isEqualTo("False RevisionNotOwned Revision \"cart-00001\""
        + " belongs to Service \"cart\", not Service \"shop\".");
  }

  @Test
  void aDeletedTargetIsNamed() {
    twoRevisions();
    apply(2, "[{latestRevision: true, percent: 50}, {revisionName: shop-00001, percent: 50}]");

    store.delete(BuiltInKinds.REVISION, "default", "shop-00001");
    loop.run();

    assertThat(condition("RoutesReady")).contains("\"shop-00001\" referenced in traffic not found");
  }

  @Test
  void anOlderTargetIsReadyAgain_whenItGoesToZeroBeforeAPodIsReady() {
    twoRevisions();
    apply(2, "[{latestRevision: true, percent: 50}, {revisionName: shop-00001, percent: 50}]");
    condition("shop-00001", now -> now.unknown("Ready", "Deploying", ""));
    assertThat(condition("RoutesReady")).startsWith("Unknown RevisionMissing");

    store.edit(BuiltInKinds.DEPLOYMENT, "default", "shop-00001-deployment", deployment -> {
      deployment.withObjectProperty("spec").put("replicas", 0);
      return deployment;
    });
    loop.run();

    assertThat(condition("RoutesReady")).isEqualTo("True");
  }

  @Test
  void trafficIsDefaultedAsKnativeDoes() {
    apply(1, "[{percent: 100}, {revisionName: shop-00001, tag: a}]");

    assertThat(store.find(BuiltInKinds.KNATIVE_SERVICE, "default", "shop").at("/spec/traffic"))
        .hasToString(YAML.readTree("[{percent: 100, latestRevision: true}, {revisionName:"
            + " shop-00001, tag: a, latestRevision: false, percent: 0}]").toString());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "{latestRevision: true, percent: 50}, {revisionName: a, percent: 40} | spec.traffic: Traffic targets sum to 90, want 100",
      "{latestRevision: true, percent: 101}, {revisionName: a, percent: -1} | spec.traffic[0].percent: expected 0 <= 101 <= 100",
      "{latestRevision: true, percent: 101}, {revisionName: a, percent: -1} | spec.traffic[1].percent: expected 0 <= -1 <= 100",
      "{latestRevision: true, revisionName: a, percent: 100} | spec.traffic[0].latestRevision: may not be true when revisionName is \"a\"",
      "{latestRevision: false, percent: 100} | spec.traffic[0].latestRevision: may not be false without a revisionName",
      "{tag: v1, percent: 100}, {tag: v1, revisionName: a} | spec.traffic[1].tag: the tag \"v1\" is already that of spec.traffic[0]",
      "{tag: V1, percent: 100} | spec.traffic[0].tag: \"V1\" is not a DNS label",
      "{tag: 1v, percent: 100} | spec.traffic[0].tag: \"1v\" is not a DNS label",
      "{tag: a.b, percent: 100} | spec.traffic[0].tag: \"a.b\" is not a DNS label",
      "{revisionName: A_b, percent: 100} | spec.traffic[0].revisionName: a lowercase RFC 1123 subdomain",
      "{configurationName: shop, percent: 100} | spec.traffic[0].configurationName: must not be set in a Service",
      "{url: 'http://a', percent: 100} | spec.traffic[0].url: must not be set in a Service"})
  void refusesTrafficThatMakesNoSense(String targets, String message) {
    assertThatThrownBy(() -> store.create(BuiltInKinds.KNATIVE_SERVICE,
        service("shop", 1, "[" + targets + "]"))).hasMessageContaining(message);
  }

  private void twoRevisions() {
    apply(1, "[]");
    ready("shop-00001");
    apply(2, "[]");
    ready("shop-00002");
  }

  private void apply(int template, String traffic) {
    var service = service("shop", template, traffic);
    if (store.stored(BuiltInKinds.KNATIVE_SERVICE, service) == null) {
      store.create(BuiltInKinds.KNATIVE_SERVICE, service);
    } else {
      store.edit(BuiltInKinds.KNATIVE_SERVICE, "default", "shop", now -> {
        now.set("spec", service.path("spec"));
        return now;
      });
    }
    loop.run();
  }

  private static ObjectNode service(String name, int template, String traffic) {
    return (ObjectNode) YAML.readTree("""
        metadata: {namespace: default, name: %s}
        spec:
          traffic: %s
          template: {spec: {containers: [{command: [serve, "%d"]}]}}
        """.formatted(name, traffic, template));
  }

  private void ready(String revision) {
    condition(revision, now -> now.setTrue("Ready"));
  }

  private void condition(String revision, Consumer<ConditionManager> change) {
    store.updateStatus(BuiltInKinds.REVISION, "default", revision, object -> {
      change.accept(ConditionManager.of(object, store.now()));
      return object;
    });
    loop.run();
  }

  private TrafficSplit split(String host) {
    return controller.split("default", host);
  }

  private static TrafficSplit all(String revision) {
    return TrafficSplit.all(new RevisionId("default", revision));
  }

  private static Map<String, Integer> orderedMap(String first, int one, String second, int two) {
    var map = new LinkedHashMap<String, Integer>();
    map.put(first, one);
    map.put(second, two);
    return map;
  }

  private String status(String field) {
    return store.find(BuiltInKinds.KNATIVE_SERVICE, "default", "shop").path("status").path(field)
        .toString();
  }

  private String condition(String type) {
    var condition = ConditionManager
        .find(store.find(BuiltInKinds.KNATIVE_SERVICE, "default", "shop"), type);
    return (condition.path("status").asString("") + " " + condition.path("reason").asString("")
        + " " + condition.path("message").asString("")).strip();
  }

  private List<String> states() {
    return store.list(BuiltInKinds.REVISION).stream()
        .map(revision -> ObjectMeta.labels(revision).get(KnownLabels.ROUTING_STATE)).toList();
  }

  private List<String> names() {
    return store.list(BuiltInKinds.REVISION).stream().map(ObjectMeta::name).toList();
  }
}
