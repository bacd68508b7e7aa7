package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.Propagation;
import dev.activator.embedded.runtime.policy.TrafficSplit;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class ServingControllerTest {
  private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-11-21T12:00:00.5Z"),
      ZoneOffset.UTC);

  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(CLOCK);
  /** Revisions that the activator does not know yet. */
  private final Set<String> unknown = new HashSet<>();
  private final ServingController controller = new ServingController(store, loop, "127.0.0.1",
      (id, _) -> !unknown.contains(id.name()));

  @BeforeEach
  void start() {
    new GarbageCollector(store, loop).start();
    controller.start(8012);
  }

  @Test
  void makesARevisionAndWhatItNeeds() {
    apply(service("shop", 10, "serve"));

    var revision = find(BuiltInKinds.REVISION, "shop-00001");
    String uid = ObjectMeta.uid(revision);
    assertThat(revision.at("/spec/containerConcurrency").intValue()).isEqualTo(10);
    assertThat(ObjectMeta.labels(revision)).containsEntry(KnownLabels.SERVICE, "shop")
        .containsEntry(KnownLabels.CONFIGURATION, "shop")
        .containsEntry(KnownLabels.CONFIGURATION_GENERATION, "1");
    assertThat(revision.at("/metadata/annotations/activator.dev~1probe").stringValue())
        .isEqualTo("container");
    assertThat(
        find(BuiltInKinds.DEPLOYMENT, "shop-00001-deployment").at("/spec/replicas").intValue())
        .isZero();
    assertThat(ObjectMeta.labels(find(BuiltInKinds.ENDPOINTS, "shop-00001-private")))
        .containsEntry(KnownLabels.REVISION, "shop-00001")
        .containsEntry(KnownLabels.REVISION_UID, uid)
        .containsEntry(KnownLabels.SERVICE_TYPE, "Private");
    assertThat(find(BuiltInKinds.ENDPOINTS, "shop-00001-private").has("subsets")).isFalse();
    assertThat(find(BuiltInKinds.SERVICE, "shop-00001-private").at("/spec/clusterIP").asString())
        .isEqualTo("None");
    assertThat(ObjectMeta.labels(find(BuiltInKinds.SERVICE, "shop-00001")))
        .containsEntry(KnownLabels.SERVICE_TYPE, "Public");
  }

  @Test
  void putsTheActivatorIntoThePublicEndpoints() {
    apply(service("shop", 0, "serve"));

    var subset = find(BuiltInKinds.ENDPOINTS, "shop-00001").at("/subsets/0");
    assertThat(subset.at("/addresses/0/ip").asString()).isEqualTo("127.0.0.1");
    assertThat(subset.at("/ports/0/name").asString()).isEqualTo("http");
    assertThat(subset.at("/ports/0/port").intValue()).isEqualTo(8012);
  }

  @Test
  void namesThePortsOfAnH2cContainerHttp2() {
    var service = service("grpc", 0, "serve");
    ((ObjectNode) service.at("/spec/template/spec/containers/0")).putArray("ports").addObject()
        .put("name", "h2c").put("containerPort", 8080);
    apply(service);

    assertThat(find(BuiltInKinds.SERVICE, "grpc-00001-private").at("/spec/ports/0/name").asString())
        .isEqualTo("http2");
  }

  @Test
  void saysWhereTheServiceIsAndWhichRevisionItMeans() {
    apply(service("shop", 0, "serve"));

    var status = find(BuiltInKinds.KNATIVE_SERVICE, "shop").path("status");
    assertThat(status.path("url").asString()).isEqualTo("http://shop.default.localhost:8012");
    assertThat(status.path("latestReadyRevisionName").asString()).isEqualTo("shop-00001");
    assertThat(conditions("shop")).containsExactly("ConfigurationsReady True", "RoutesReady True",
        "Ready True");
    assertThat(status.at("/traffic/0/revisionName").asString()).isEqualTo("shop-00001");
    assertThat(controller.split("default", "shop"))
        .isEqualTo(TrafficSplit.all(new RevisionId("default", "shop-00001")));
  }

  @Test
  void makesAnotherRevisionOfAnotherTemplateAndNoneOfTheSame() {
    apply(service("shop", 0, "serve"));
    apply(service("shop", 0, "serve"));
    apply(service("shop", 0, "serve", "--fast"));

    assertThat(names(BuiltInKinds.REVISION)).containsExactly("shop-00001", "shop-00002");
    assertThat(controller.split("default", "shop"))
        .isEqualTo(TrafficSplit.all(new RevisionId("default", "shop-00002")));
  }

  @Test
  void aLabelOfAUserDoesNotStopTheNextRevision() {
    apply(service("shop", 0, "serve"));
    store.edit(BuiltInKinds.REVISION, "default", "shop-00001", revision -> {
      ObjectMeta.of(revision).withObjectProperty("labels")
          .put(KnownLabels.CONFIGURATION_GENERATION, "abc");
      return revision;
    });

    apply(service("shop", 0, "serve", "--fast"));

    assertThat(names(BuiltInKinds.REVISION)).containsExactly("shop-00001", "shop-00002");
  }

  @Test
  void aServiceIsNotReadyWhileItsNewestRevisionIsRefused() {
    apply(service("shop", 0, "serve"));
    store.onAdmission(BuiltInKinds.REVISION, revision -> {
      if (ObjectMeta.name(revision).equals("shop-00002")) {
        throw StatusException.invalid("spec", "refused");
      }
      return revision;
    });

    apply(service("shop", 0, "serve", "--fast"));

    assertThat(conditions("shop")).containsExactly("ConfigurationsReady False RevisionFailed",
        "RoutesReady True", "Ready False RevisionFailed");
    assertThat(controller.split("default", "shop"))
        .isEqualTo(TrafficSplit.all(new RevisionId("default", "shop-00001")));
  }

  @Test
  void aNewServiceStartsAPodAndIsReadyWhenItIs() {
    apply(starting("shop", "serve"));

    assertThat(
        find(BuiltInKinds.DEPLOYMENT, "shop-00001-deployment").at("/spec/replicas").intValue())
        .isEqualTo(1);
    assertThat(conditions("shop")).containsExactly("ConfigurationsReady Unknown Deploying",
        "RoutesReady Unknown RevisionMissing", "Ready Unknown Deploying");
    // its first revision takes requests, which wait
    assertThat(routed("shop")).isEqualTo("shop-00001");
    assertThat(
        find(BuiltInKinds.KNATIVE_SERVICE, "shop").path("status").has("latestReadyRevisionName"))
        .isFalse();

    ready("shop-00001");
    assertThat(conditions("shop")).containsExactly("ConfigurationsReady True", "RoutesReady True",
        "Ready True");
  }

  @Test
  void aNewRevisionTakesOverWhenItIsReady() {
    apply(starting("shop", "serve"));
    ready("shop-00001");

    apply(starting("shop", "serve", "--fast"));
    assertThat(routed("shop")).isEqualTo("shop-00001");
    assertThat(conditions("shop")).containsExactly("ConfigurationsReady Unknown Deploying",
        "RoutesReady True", "Ready Unknown Deploying");
    assertThat(routingStates()).containsExactly("active", "pending");

    ready("shop-00002");
    assertThat(routed("shop")).isEqualTo("shop-00002");
    assertThat(conditions("shop")).contains("Ready True");
    assertThat(routingStates()).containsExactly("reserve", "active");
    assertThat(
        find(BuiltInKinds.KNATIVE_SERVICE, "shop").at("/status/traffic/0/revisionName").asString())
        .isEqualTo("shop-00002");
  }

  @Test
  void aNewRevisionThatFailsLeavesTheOldOneServingAndSaysWhy() {
    apply(starting("shop", "serve"));
    ready("shop-00001");

    for (int number = 2; number <= 24; number++) {
      apply(starting("shop", "exit", String.valueOf(number)));
      fails("shop-000%02d".formatted(number), "it ended");
    }

    assertThat(routed("shop")).isEqualTo("shop-00001");
    var status = find(BuiltInKinds.KNATIVE_SERVICE, "shop").path("status");
    assertThat(status.path("latestCreatedRevisionName").asString()).isEqualTo("shop-00024");
    assertThat(status.path("latestReadyRevisionName").asString()).isEqualTo("shop-00001");
    assertThat(conditions("shop")).containsExactly("ConfigurationsReady False RevisionFailed",
        "RoutesReady True", "Ready False RevisionFailed");
    assertThat(
        ConditionManager.find(find(BuiltInKinds.KNATIVE_SERVICE, "shop"), "Ready").path("message")
            .asString())
        .isEqualTo("Revision \"shop-00024\" failed with message: it ended.");
    // and the one that serves outlives its place in the history
    assertThat(names(BuiltInKinds.REVISION)).contains("shop-00001", "shop-00024").hasSize(22);
  }

  @Test
  void aRevisionThatServedKeepsItsRequestsWhenAPodOfItFails() {
    apply(starting("shop", "serve"));
    ready("shop-00001");

    fails("shop-00001", "it ended");

    assertThat(routed("shop")).isEqualTo("shop-00001");
    assertThat(conditions("shop")).contains("Ready False RevisionFailed");
  }

  @Test
  void requestsOfAServiceThatWasNeverReadyWaitForItsNewestRevision() {
    apply(starting("shop", "exit"));
    fails("shop-00001", "it ended");

    unknown.add("shop-00002");
    apply(starting("shop", "serve"));
    assertThat(routed("shop")).isEqualTo("shop-00001");

    unknown.clear();
    controller.routable(new RevisionId("default", "shop-00002"));
    assertThat(routed("shop")).isEqualTo("shop-00002");
    assertThat(conditions("shop")).contains("Ready Unknown Deploying");
  }

  @Test
  void isNotReadyBeforeTheActivatorKnowsTheRevision() {
    unknown.add("shop-00001");
    apply(service("shop", 0, "serve"));
    var written = store.applied(BuiltInKinds.KNATIVE_SERVICE,
        find(BuiltInKinds.KNATIVE_SERVICE, "shop"));
    loop.run();
    assertThat(conditions("shop")).contains("Ready Unknown Deploying");
    assertThat(written).isNotDone();

    unknown.clear();
    controller.routable(new RevisionId("default", "shop-00001"));

    assertThat(conditions("shop")).contains("Ready True");
    assertThat(written).isDone();
  }

  @Test
  void aCreatedServiceWaitsForItsOwnRoute_whenOneOfItsNameWasJustDeleted() {
    apply(service("shop", 0, "serve"));
    unknown.add("shop-00001");
    store.delete(BuiltInKinds.KNATIVE_SERVICE, "default", "shop");
    store.create(BuiltInKinds.KNATIVE_SERVICE, service("shop", 0, "serve"));
    var written = store.applied(BuiltInKinds.KNATIVE_SERVICE,
        find(BuiltInKinds.KNATIVE_SERVICE, "shop"));

    loop.run();
    assertThat(written).isNotDone();

    unknown.clear();
    controller.routable(new RevisionId("default", "shop-00001"));
    assertThat(written).isDone();
  }

  @Test
  void answersADryRunAtOnce_whenTheServiceDoesNotExist() {
    var dryRun = store.applied(BuiltInKinds.KNATIVE_SERVICE, service("none", 0, "serve"));
    loop.run();

    assertThat(dryRun).isDone();
  }

  private String routed(String service) {
    return controller.split("default", service).choose(_ -> 0).name();
  }

  private List<String> routingStates() {
    return store.list(BuiltInKinds.REVISION).stream()
        .map(revision -> ObjectMeta.labels(revision).get(KnownLabels.ROUTING_STATE)).toList();
  }

  private List<String> conditions(String service) {
    return find(BuiltInKinds.KNATIVE_SERVICE, service).at("/status/conditions").valueStream()
        .map(one -> (one.path("type").asString() + " " + one.path("status").asString() + " "
            + one.path("reason").asString("")).strip())
        .toList();
  }

  private void ready(String revision) {
    condition(revision, now -> now.setTrue("Ready"));
  }

  private void fails(String revision, String message) {
    condition(revision, now -> now.fail("Ready", "ExitCode1", message));
  }

  private void condition(String revision, Consumer<ConditionManager> change) {
    store.updateStatus(BuiltInKinds.REVISION, "default", revision, object -> {
      change.accept(ConditionManager.of(object, store.now()));
      return object;
    });
    loop.run();
  }

  /** Without the annotation that keeps the others at zero. */
  private static ObjectNode starting(String name, String... command) {
    var service = service(name, 0, command);
    ((ObjectNode) service.at("/spec/template")).remove("metadata");
    return service;
  }

  @Test
  void keepsTheNewestTwentyOneRevisionsWithAllTheyNeed() {
    for (int i = 1; i <= 23; i++) {
      apply(service("shop", i, "serve"));
    }

    assertThat(names(BuiltInKinds.REVISION)).hasSize(21).contains("shop-00003", "shop-00023")
        .doesNotContain("shop-00001", "shop-00002");
    assertThat(names(BuiltInKinds.DEPLOYMENT)).hasSize(21).contains("shop-00003-deployment");
    assertThat(names(BuiltInKinds.ENDPOINTS)).hasSize(42);
  }

  @Test
  void takesAllAwayWithTheServiceAndNothingElse() {
    apply(service("shop", 0, "serve"));
    apply(service("shopping", 0, "serve"));

    store.delete(BuiltInKinds.KNATIVE_SERVICE, "default", "shop");
    loop.run();

    assertThat(names(BuiltInKinds.REVISION)).containsExactly("shopping-00001");
    assertThat(names(BuiltInKinds.ENDPOINTS)).containsExactly("shopping-00001",
        "shopping-00001-private");
    assertThat(controller.split("default", "shop")).isNull();
  }

  @Test
  void makesADeletedDeploymentAgain_andIsNotReadyMeanwhile() {
    apply(starting("shop", "serve"));
    store.updateStatus(BuiltInKinds.REVISION, "default", "shop-00001", revision -> {
      revision.withObjectProperty("status").put("desiredReplicas", 3);
      return revision;
    });
    ready("shop-00001");

    delete(BuiltInKinds.DEPLOYMENT, "shop-00001-deployment");

    assertThat(
        find(BuiltInKinds.DEPLOYMENT, "shop-00001-deployment").at("/spec/replicas").intValue())
        .isEqualTo(3);
    assertThat(conditions("shop")).contains("Ready Unknown Deploying");

    // and it is ready without pods if none is needed any more
    store.edit(BuiltInKinds.DEPLOYMENT, "default", "shop-00001-deployment", deployment -> {
      deployment.withObjectProperty("spec").put("replicas", 0);
      return deployment;
    });
    loop.run();
    assertThat(conditions("shop")).contains("Ready True");
  }

  @Test
  void staysReady_whenTheDeploymentOfARevisionAtZeroIsDeleted() {
    apply(service("shop", 0, "serve"));

    delete(BuiltInKinds.DEPLOYMENT, "shop-00001-deployment");

    assertThat(
        find(BuiltInKinds.DEPLOYMENT, "shop-00001-deployment").at("/spec/replicas").intValue())
        .isZero();
    assertThat(conditions("shop")).contains("Ready True");
  }

  @ParameterizedTest
  @CsvSource({"shop-00001-private", "shop-00001"})
  void makesADeletedServiceAgain(String name) {
    apply(service("shop", 0, "serve"));
    var before = find(BuiltInKinds.SERVICE, name);

    delete(BuiltInKinds.SERVICE, name);

    assertThat(find(BuiltInKinds.SERVICE, name).path("spec")).isEqualTo(before.path("spec"));
  }

  @Test
  void makesTheDeletedNewestRevisionAgain_withAllItNeeds() {
    apply(starting("shop", "serve"));
    ready("shop-00001");
    String before = ObjectMeta.uid(find(BuiltInKinds.REVISION, "shop-00001"));

    delete(BuiltInKinds.REVISION, "shop-00001");

    String now = ObjectMeta.uid(find(BuiltInKinds.REVISION, "shop-00001"));
    assertThat(now).isNotEqualTo(before);
    assertThat(find(BuiltInKinds.DEPLOYMENT, "shop-00001-deployment")
        .at("/spec/selector/matchLabels").properties().iterator().next().getValue().asString())
        .isEqualTo(now);
    assertThat(names(BuiltInKinds.SERVICE)).containsExactly("shop-00001", "shop-00001-private");
    assertThat(names(BuiltInKinds.ENDPOINTS)).containsExactly("shop-00001", "shop-00001-private");
    assertThat(conditions("shop")).contains("Ready Unknown Deploying");
    assertThat(routed("shop")).isEqualTo("shop-00001");
    ready("shop-00001");
    assertThat(conditions("shop")).contains("Ready True");
  }

  @Test
  void takesTheRevisionsThatADeletedServiceLeft() {
    apply(starting("shop", "serve"));
    ready("shop-00001");
    String before = ObjectMeta.uid(find(BuiltInKinds.REVISION, "shop-00001"));
    store.delete(BuiltInKinds.KNATIVE_SERVICE, "default", "shop",
        ObjectMeta.uid(find(BuiltInKinds.KNATIVE_SERVICE, "shop")), Propagation.ORPHAN);
    loop.run();
    assertThat(names(BuiltInKinds.KNATIVE_SERVICE)).isEmpty();
    assertThat(names(BuiltInKinds.DEPLOYMENT)).containsExactly("shop-00001-deployment");

    apply(starting("shop", "serve"));

    assertThat(ObjectMeta.uid(find(BuiltInKinds.REVISION, "shop-00001"))).isEqualTo(before);
    assertThat(conditions("shop")).contains("Ready True");
    assertThat(routed("shop")).isEqualTo("shop-00001");
  }

  @Test
  void doesNotMakeAnOlderRevisionAgain() {
    apply(service("shop", 1, "serve"));
    apply(service("shop", 2, "serve"));

    delete(BuiltInKinds.REVISION, "shop-00001");

    assertThat(names(BuiltInKinds.REVISION)).containsExactly("shop-00002");
    assertThat(names(BuiltInKinds.DEPLOYMENT)).containsExactly("shop-00002-deployment");
    assertThat(conditions("shop")).contains("Ready True");
  }

  @Test
  void doesNotBringANamespaceBack_whenItIsDeletedBeforeTheServiceIsSeen() {
    var service = service("shop", 0, "serve");
    ObjectMeta.of(service).put("namespace", "team");
    store.create(BuiltInKinds.KNATIVE_SERVICE, service);

    store.delete(BuiltInKinds.NAMESPACE, "", "team");
    loop.run();

    assertThat(store.find(BuiltInKinds.NAMESPACE, "", "team")).isNull();
    assertThat(store.list(BuiltInKinds.REVISION)).isEmpty();
    assertThat(controller.split("team", "shop")).isNull();
  }

  private void delete(Kind kind, String name) {
    store.delete(kind, "default", name);
    loop.run();
  }

  @Test
  void beginsAgainAtOneForAServiceThatIsDeletedAndCreated() {
    apply(service("shop", 0, "serve"));
    String before = ObjectMeta.uid(find(BuiltInKinds.REVISION, "shop-00001"));

    store.delete(BuiltInKinds.KNATIVE_SERVICE, "default", "shop");
    store.create(BuiltInKinds.KNATIVE_SERVICE, service("shop", 0, "serve"));
    loop.run();

    assertThat(names(BuiltInKinds.REVISION)).containsExactly("shop-00001");
    assertThat(ObjectMeta.uid(find(BuiltInKinds.REVISION, "shop-00001"))).isNotEqualTo(before);
  }

  @Test
  void refusesAnAnnotationThatMakesNoSenseWithItsPath() {
    var service = service("shop", 0, "serve");
    ((ObjectNode) service.at("/spec/template")).putObject("metadata").putObject("annotations")
        .put("autoscaling.knative.dev/window", "1s");

    assertThatThrownBy(() -> store.create(BuiltInKinds.KNATIVE_SERVICE, service))
        .hasMessageContaining("spec.template.metadata.annotations.autoscaling.knative.dev/window")
        .hasMessageContaining("expected 6s <= 1s <= 1h0m0s");
  }

  @Test
  void comesToRest() {
    apply(service("shop", 0, "serve"));
    long before = store.revision();

    loop.run();
    apply(service("shop", 0, "serve"));

    assertThat(store.revision()).isEqualTo(before);
  }

  /** As Knative's defaults do. */
  @Test
  void fillsInATimeoutOfZero() {
    var service = service("shop", 0, "serve");
    ((ObjectNode) service.at("/spec/template/spec")).put("timeoutSeconds", 0);
    apply(service);

    assertThat(find(BuiltInKinds.REVISION, "shop-00001").at("/spec/timeoutSeconds").intValue())
        .isEqualTo(300);
  }

  @Test
  void createsTheSample() {
    unknown.add("hello-00001");
    var routed = controller.createSample("default", "hello");
    loop.run();

    assertThat(names(BuiltInKinds.REVISION)).containsExactly("hello-00001");
    assertThat(routed).isNotDone();
    assertThat(find(BuiltInKinds.REVISION, "hello-00001").at("/spec/timeoutSeconds").intValue())
        .isEqualTo(300);

    unknown.clear();
    controller.routable(new RevisionId("default", "hello-00001"));
    assertThat(routed).isDone();
    assertThat(controller.split("default", "hello")).isNotNull();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '|', value = {
      "{}                                                     | spec.template.spec: a Service needs",
      "{containers: []}                                       | containers: embedded mode runs exactly one container, not 0",
      "{containers: [{command: [a]}, {command: [b]}]}         | exactly one container, not 2",
      "{containers: [{image: nginx}]}                         | containers[0].command: embedded mode runs local processes",
      "{containers: [{command: [a]}], containerConcurrency: -1} | containerConcurrency: expected a number from 0 to 1000, not -1",
      "{containers: [{command: [a]}], containerConcurrency: x}  | containerConcurrency: expected a number",
      "{containers: [{command: [a]}], timeoutSeconds: -1}       | timeoutSeconds: expected a number from 0"})
  void refusesWhatCannotRunAndNamesTheField(String spec, String message) {
    var service = Json.object();
    ObjectMeta.of(service).put("namespace", "default").put("name", "bad");
    if (!spec.equals("{}")) {
      service.putObject("spec").putObject("template").set("spec", yaml(spec));
    }

    assertThatThrownBy(() -> store.create(BuiltInKinds.KNATIVE_SERVICE, service))
        .isInstanceOf(StatusException.class).hasMessageContaining(message);
  }

  private static ObjectNode yaml(String text) {
    return (ObjectNode) new tools.jackson.dataformat.yaml.YAMLMapper().readTree(text);
  }

  @Test
  void aWriteOfAServiceThatNoRequestFindsEndsAfterTenSeconds() {
    unknown.add("shop-00001");
    apply(service("shop", 10, "serve"));
    var service = store.find(BuiltInKinds.KNATIVE_SERVICE, "default", "shop");

    var applied = store.applied(BuiltInKinds.KNATIVE_SERVICE, service);
    loop.advance(Duration.ofMillis(9_999));
    assertThat(applied).isNotDone();
    loop.advance(Duration.ofMillis(1));
    assertThat(applied).isDone();
  }

  private void apply(ObjectNode service) {
    if (store.find(BuiltInKinds.KNATIVE_SERVICE, "default", ObjectMeta.name(service)) == null) {
      store.create(BuiltInKinds.KNATIVE_SERVICE, service);
    } else {
      store.edit(BuiltInKinds.KNATIVE_SERVICE, "default", ObjectMeta.name(service), now -> {
        now.set("spec", service.path("spec"));
        return now;
      });
    }
    loop.run();
  }

  private static ObjectNode service(String name, int concurrency, String... command) {
    var service = Json.object();
    ObjectMeta.of(service).put("namespace", "default").put("name", name);
    var template = service.putObject("spec").putObject("template");
    template.putObject("metadata").putObject("annotations").put(EmbeddedScaleClient.INITIAL_SCALE,
        "0");
    var spec = template.putObject("spec");
    spec.put("containerConcurrency", concurrency);
    var words = spec.putArray("containers").addObject().putArray("command");
    for (String word : command) {
      words.add(word);
    }
    return service;
  }

  private ObjectNode find(Kind kind, String name) {
    return store.find(kind, "default", name);
  }

  private List<String> names(Kind kind) {
    return store.list(kind).stream().map(ObjectMeta::name).toList();
  }
}
