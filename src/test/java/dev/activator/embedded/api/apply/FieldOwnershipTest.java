package dev.activator.embedded.api.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.activator.embedded.api.apply.FieldOwner.Operation;
import dev.activator.embedded.api.schema.MergeSchema;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.StatusException;
import java.io.IOException;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

class FieldOwnershipTest {
  private static final String NOW = "2026-11-23T10:00:00Z";
  private static final String LATER = "2026-11-23T10:00:01Z";
  private static final String DEPLOYMENT = """
      {apiVersion: apps/v1, kind: Deployment, metadata: {name: it, namespace: default},
       spec: {replicas: %d, template: {spec: {containers: [{name: a, image: %s}]}}}}""";

  static Stream<Arguments> reference() throws IOException {
    try (var text = Objects.requireNonNull(
        FieldOwnershipTest.class.getResourceAsStream("/embedded/structured-merge.yaml"))) {
      var cases = YAMLMapper.shared().readTree(text.readAllBytes());
      return cases.path("rows").valueStream().map(row -> Arguments.of(row.path("name").asString(),
          row, MergeSchema.ofJson(cases.path("shapes").path(row.path("shape").asString()))));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("reference")
  void mergesAndOwnsAsTheReferenceDoes(String name, JsonNode row, MergeSchema shape) {
    var object = Json.object();
    if (row.path("invalid").asBoolean()) {
      assertThatThrownBy(() -> run(row, shape, object)).isInstanceOf(StatusException.class);
      return;
    }
    var after = run(row, shape, object);

    var owners = Json.object();
    after.at("/metadata/managedFields").forEach(entry -> owners
        .set(entry.path("manager").asString(), entry.path("fieldsV1")));
    after.remove("metadata");
    if (row.has("then")) {
      assertThat(Json.same(after, row.path("then"))).as("%s", after).isTrue();
    }
    if (row.has("owners")) {
      row.path("owners").properties().forEach(owner -> owner
          .setValue(FieldSet.parse(owner.getValue()).toJson()));
      assertThat(owners).isEqualTo(row.path("owners"));
    }
  }

  private static ObjectNode run(JsonNode row, MergeSchema shape, ObjectNode object) {
    var live = object;
    for (var step : row.path("steps")) {
      var ownership = FieldOwnership.of(BuiltInKinds.CONFIG_MAP, shape, NOW, live);
      var wanted = (ObjectNode) step.path("object");
      if (step.has("update")) {
        var next = wanted.deepCopy();
        ownership.update(live, next, manager(step.path("update").asString()));
        live = next;
      } else if (step.has("conflicts")) {
        var before = live;
        var conflict = catchThrowableOfType(StatusException.class, () -> ownership.apply(before,
            wanted, manager(step.path("apply").asString()), false));
        var managers = new TreeSet<String>();
        conflict.status().at("/details/causes").forEach(cause -> managers.add(
            cause.path("message").asString().replaceAll(".*\"(.*)\".*", "$1")));
        assertThat(managers).isEqualTo(new TreeSet<>(
            step.path("conflicts").valueStream().map(JsonNode::asString).toList()));
      } else {
        live = ownership.apply(live, wanted,
            manager(step.path(step.has("force") ? "force" : "apply").asString()),
            step.has("force"));
      }
    }
    return live;
  }

  @Test
  void namesEveryConflict_whenAnotherManagerOwnsTheFields() {
    var live = apply(null, 1, "x", "one", NOW);

    assertThatThrownBy(() -> apply(live, 2, "y", "two", LATER)).hasMessage("""
        Apply failed with 2 conflicts: conflicts with "one":
        - .spec.replicas
        - .spec.template.spec.containers[name="a"].image""");
    assertThatThrownBy(() -> apply(live, 2, "x", "two", LATER)).hasMessage(
        "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas");
  }

  @Test
  void changesNothing_whenTheSameIsAppliedAgain() {
    var live = apply(null, 1, "x", "one", NOW);

    assertThat(apply(live, 1, "x", "one", LATER)).isEqualTo(live);
    assertThat(apply(live, 2, "x", "one", LATER).at("/metadata/managedFields/0/time").asString())
        .isEqualTo(LATER);
  }

  @Test
  void joinsTheOldestUpdates_whenThereAreManyManagers() {
    var live = config(1, "x");
    for (int i = 0; i < 20; i++) {
      var next = config(i + 2, "x");
      next.withObjectProperty("metadata").putObject("labels").setAll(
          live.at("/metadata/labels") instanceof ObjectNode labels ? labels : Json.object());
      next.withObjectProperty("metadata").withObjectProperty("labels").put("l" + i, "x");
      FieldOwnership.of(BuiltInKinds.DEPLOYMENT, NOW, live).update(live, next,
          new FieldOwner("m" + (char) ('a' + i), Operation.UPDATE, ""));
      live = next;
    }

    var managers = live.at("/metadata/managedFields").valueStream()
        .map(entry -> entry.path("manager").asString()).toList();
    assertThat(managers).hasSize(10).contains("ancient-changes", "mt").doesNotContain("ma");
  }

  @Test
  void leavesTheOwnersAlone_whenAListCannotBeMerged() {
    var live = apply(null, 1, "x", "one", NOW);
    var next = live.deepCopy();
    ((ObjectNode) next.at("/spec/template/spec/containers/0")).remove("name");
    FieldOwnership.of(BuiltInKinds.DEPLOYMENT, LATER, live).update(live, next, manager("two"));

    assertThat(next.at("/metadata/managedFields"))
        .isEqualTo(live.at("/metadata/managedFields"));
  }

  @Test
  void forgetsAllOwners_whenAClientResetsThem() {
    var live = apply(null, 1, "x", "one", NOW);
    var next = live.deepCopy();
    next.withObjectProperty("metadata").putArray("managedFields").addObject();
    FieldOwnership.of(BuiltInKinds.DEPLOYMENT, LATER, live).update(live, next, manager("two"));

    assertThat(next.path("metadata").has("managedFields")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"'', kubectl/v1.32 (linux), kubectl", "me, kubectl/v1.32, me",
      "'', '', unknown"})
  void namesTheManager_byParameterOrProgram(String parameter, String userAgent, String name) {
    assertThat(FieldOwner.updating(parameter, userAgent, "").name()).isEqualTo(name);
  }

  private static ObjectNode apply(ObjectNode live, int replicas, String image, String manager,
      String time) {
    return FieldOwnership.of(BuiltInKinds.DEPLOYMENT, time, live).apply(live,
        config(replicas, image),
        manager(manager), false);
  }

  private static ObjectNode config(int replicas, String image) {
    return (ObjectNode) YAMLMapper.shared().readTree(DEPLOYMENT.formatted(replicas, image));
  }

  private static FieldOwner manager(String name) {
    return new FieldOwner(name, Operation.APPLY, "");
  }
}
