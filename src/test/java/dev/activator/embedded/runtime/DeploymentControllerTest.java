package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.Propagation;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

/** A test's ReplicaSets have no pods: it reports how many are ready. */
class DeploymentControllerTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(Clock.systemUTC());

  @BeforeEach
  void start() {
    new GarbageCollector(store, loop).start();
    new DeploymentController(store, loop).subscribe();
  }

  @Test
  void makesAReplicaSetWithTheHashInItsLabelsAndSelector() {
    create("v1");

    var set = sets().getFirst();
    String hash = ObjectMeta.labels(set).get("pod-template-hash");
    assertThat(hash).matches("[bcdfghjklmnpqrstvwxz2456789]{10}");
    assertThat(ObjectMeta.name(set)).isEqualTo("web-" + hash);
    assertThat(set.at("/spec/selector/matchLabels"))
        .isEqualTo(Objects.parse("{'app': 'web', 'pod-template-hash': '" + hash + "'}"));
    assertThat(set.at("/spec/template/metadata/labels"))
        .isEqualTo(set.at("/spec/selector/matchLabels"));
    assertThat(ControllerRefs.controls(deployment(), set)).isTrue();
    assertThat(replicas()).containsExactly(2);
    assertThat(revisions()).containsExactly("1");
    assertThat(revision(deployment())).isEqualTo("1");
  }

  @Test
  void movesReplicasToANewTemplate_asItsPodsBecomeReady() {
    create("v1");
    ready(0, 2);
    template("v2");
    assertThat(replicas()).containsExactly(2, 2);

    ready(1, 1);
    assertThat(replicas()).containsExactly(1, 2);
    ready(1, 2);

    assertThat(replicas()).containsExactly(0, 2);
    assertThat(revision(deployment())).isEqualTo("2");
    assertThat(deployment().at("/status/updatedReplicas").intValue()).isEqualTo(2);
  }

  @Test
  void leavesOutCountsOfZero_asInACluster() {
    create("v1");
    ready(0, 2);
    assertThat(deployment().path("status").propertyNames()).contains("replicas", "updatedReplicas",
        "readyReplicas", "availableReplicas").doesNotContain("unavailableReplicas");

    edit(deployment -> ((ObjectNode) deployment.path("spec")).put("replicas", 0));
    ready(0, 0);

    assertThat(deployment().path("status").propertyNames())
        .containsExactlyInAnyOrder("observedGeneration", "conditions");
    assertThat(PodObjectBuilder.withReplicas(Objects.named("set"), List.of()).path("status"))
        .hasToString("{\"observedGeneration\":1,\"replicas\":0}");
  }

  /** As {@code kubectl rollout undo} does, which adds and leaves out what its types do. */
  @Test
  void goesBackToAnEarlierReplicaSet_whoseRevisionBecomesTheNewest() {
    create("v1");
    template("v2");

    edit(deployment -> ((ObjectNode) deployment.path("spec")).set("template", Objects.parse(
        """
            {'metadata': {'creationTimestamp': null, 'labels': {'app': 'web'}}, 'spec': {'hostIPC': false,
              'containers': [{'name': 'c', 'command': ['v1'], 'resources': {}, 'image': ''}]}}""")));

    assertThat(replicas()).containsExactly(2, 2);
    assertThat(revisions()).containsExactly("2", "3");
    assertThat(sets().getLast().at("/spec/template/spec/containers/0/command/0").stringValue())
        .isEqualTo("v1");
    assertThat(
        sets().getLast().at("/metadata/annotations/deployment.kubernetes.io~1revision-history")
            .stringValue())
        .isEqualTo("1");
  }

  @Test
  void makesNoReplicaSetWhilePaused_butScales() {
    create("v1");
    edit(deployment -> ((ObjectNode) deployment.path("spec")).put("paused", true));
    template("v2");
    edit(deployment -> ((ObjectNode) deployment.path("spec")).put("replicas", 5));
    assertThat(replicas()).containsExactly(5);
    assertThat(ConditionManager.find(deployment(), "Progressing").path("reason").stringValue())
        .isEqualTo("DeploymentPaused");

    edit(deployment -> ((ObjectNode) deployment.path("spec")).remove("paused"));

    assertThat(replicas()).containsExactly(5, 5);
  }

  @Test
  void keepsAsManyOldReplicaSetsAsItsHistoryMayHave() {
    create("v1");
    edit(deployment -> ((ObjectNode) deployment.path("spec")).put("revisionHistoryLimit", 1));
    for (int i = 2; i <= 4; i++) {
      template("v" + i);
      ready(sets().size() - 1, 2);
      ready(0, 0);
    }

    assertThat(revisions()).containsExactly("3", "4");
  }

  @Test
  void doesNotProgressIfItsReplicaSetIsRefused() {
    store.onAdmission(BuiltInKinds.REPLICA_SET, set -> {
      throw StatusException.invalid("spec", "refused");
    });

    create("v1");

    var progressing = ConditionManager.find(deployment(), "Progressing");
    assertThat(progressing.path("status").asString()).isEqualTo("False");
    assertThat(progressing.path("reason").asString()).isEqualTo("ReplicaSetCreateError");
  }

  @Test
  void makesADeletedReplicaSetAgain() {
    create("v1");
    String before = ObjectMeta.uid(sets().getFirst());

    store.delete(BuiltInKinds.REPLICA_SET, "default", ObjectMeta.name(sets().getFirst()));
    loop.run();

    assertThat(replicas()).containsExactly(2);
    assertThat(ObjectMeta.uid(sets().getFirst())).isNotEqualTo(before);
  }

  @Test
  void adoptsTheReplicaSetsThatADeletedDeploymentLeft() {
    create("v1");
    String before = ObjectMeta.uid(sets().getFirst());
    store.delete(BuiltInKinds.DEPLOYMENT, "default", "web", "", Propagation.ORPHAN);
    loop.run();
    assertThat(replicas()).containsExactly(2);

    create("v1");

    assertThat(sets()).hasSize(1);
    assertThat(ObjectMeta.uid(sets().getFirst())).isEqualTo(before);
    assertThat(ControllerRefs.controls(deployment(), sets().getFirst())).isTrue();
  }

  @Test
  void copiesTheChangeCause_andNotWhatIsTheDeploymentsOwn() {
    create("v1");
    edit(deployment -> ObjectMeta.of(deployment).withObjectProperty("annotations")
        .put("kubernetes.io/change-cause", "why")
        .put("kubectl.kubernetes.io/last-applied-configuration", "{}"));

    var annotations = sets().getFirst().at("/metadata/annotations");
    assertThat(annotations.path("kubernetes.io/change-cause").stringValue()).isEqualTo("why");
    assertThat(annotations.has("kubectl.kubernetes.io/last-applied-configuration")).isFalse();
  }

  @Test
  void comesToRest() {
    create("v1");
    long before = store.revision();

    edit(_ -> {
    });

    assertThat(store.revision()).isEqualTo(before);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      "{}                            | spec.selector: Required value",
      "{'selector': {}}              | spec.selector: Invalid value: {}: empty selector is invalid for"
          + " deployment",
      "{'selector': {'matchLabels': {'app': 'x'}}} | `selector` does not match template `labels`",
      "{'selector': {'matchExpressions': [{'key': 'app', 'operator': 'Is'}]}} | not a valid label"
          + " selector operator"})
  void refusesASelectorThatDoesNotMatch(String spec, String message) {
    var deployment = deployment("v1");
    var given = (ObjectNode) deployment.path("spec");
    given.remove("selector");
    given.setAll(Objects.parse(spec));

    assertThatThrownBy(() -> store.create(BuiltInKinds.DEPLOYMENT, deployment))
        .hasMessageStartingWith("Deployment.apps \"web\" is invalid: ")
        .hasMessageContaining(message);
  }

  @Test
  void refusesAnotherSelector() {
    create("v1");

    assertThatThrownBy(() -> edit(deployment -> {
      ((ObjectNode) deployment.at("/spec/selector/matchLabels")).put("tier", "x");
      ((ObjectNode) deployment.at("/spec/template/metadata/labels")).put("tier", "x");
    })).hasMessage(
        "Deployment.apps \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":"
            + "{\"app\":\"web\",\"tier\":\"x\"}}: field is immutable");
  }

  private void create(String command) {
    store.create(BuiltInKinds.DEPLOYMENT, deployment(command));
    loop.run();
  }

  private static ObjectNode deployment(String command) {
    return Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'web'}, 'spec': {'replicas': 2, 'selector':
          {'matchLabels': {'app': 'web'}}, 'template': {'metadata': {'labels': {'app': 'web'}},
          'spec': {'containers': [{'name': 'c', 'command': ['%s']}]}}}}""".formatted(command));
  }

  private ObjectNode deployment() {
    return store.find(BuiltInKinds.DEPLOYMENT, "default", "web");
  }

  private void template(String command) {
    edit(deployment -> ((ObjectNode) deployment.path("spec")).set("template",
        deployment(command).at("/spec/template")));
  }

  private void edit(Consumer<ObjectNode> change) {
    store.edit(BuiltInKinds.DEPLOYMENT, "default", "web", deployment -> {
      change.accept(deployment);
      return deployment;
    });
    loop.run();
  }

  private void ready(int set, int pods) {
    store.updateStatus(BuiltInKinds.REPLICA_SET, "default", ObjectMeta.name(sets().get(set)),
        found -> {
          found.putObject("status").put("replicas", pods).put("readyReplicas", pods);
          return found;
        });
    loop.run();
  }

  /** In the order of their revisions. */
  private List<ObjectNode> sets() {
    return store.list(BuiltInKinds.REPLICA_SET).stream()
        .sorted(Comparator.comparing(DeploymentControllerTest::revision)).toList();
  }

  private List<Integer> replicas() {
    return sets().stream().map(set -> set.at("/spec/replicas").intValue()).toList();
  }

  private List<String> revisions() {
    return sets().stream().map(DeploymentControllerTest::revision).toList();
  }

  private static String revision(ObjectNode object) {
    return object.at("/metadata/annotations/deployment.kubernetes.io~1revision").stringValue("");
  }
}
