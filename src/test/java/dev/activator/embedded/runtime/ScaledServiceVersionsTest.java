package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.kube.Yaml;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.embedded.api.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/**
 * A later version of the definition, {@code v1beta1}, beside {@code v1alpha1}.
 *
 * <p><b>Source.</b> Conversion with the strategy {@code None} in apiextensions-apiserver: it changes {@code
 * apiVersion}, and what the schema of the requested version does not have is removed, in reads and in writes.
 */
class ScaledServiceVersionsTest {
  private static final String WRITTEN = """
      {'apiVersion': 'activator.dev/v1beta1', 'kind': 'ScaledService',
       'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
       'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
       'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 20},
       'rules': [{'pathPrefix': '/api'}], 'madeUp': 'later'}}
      """;

  /** With a field that the version before does not have. */
  private static ObjectNode v1beta1() {
    var definition = ScaledServiceCrd.definition();
    ((ObjectNode) definition.at("/spec/versions/0")).put("name", "v1beta1");
    addMadeUp(definition);
    return definition;
  }

  private static void addMadeUp(ObjectNode definition) {
    ((ObjectNode) definition
        .at("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"))
        .putObject("madeUp").put("type", "string");
  }

  private static ObjectNode converted(ObjectNode object, String version) {
    return object.deepCopy().put("apiVersion", "activator.dev/" + version);
  }

  private static ScaledService read(ObjectNode object) {
    return Yaml.decoded(StandaloneKinds.SCALED_SERVICES, object.toString()).value();
  }

  @Test
  void aVersionThatRenamesNothingIsReadAlike_andFieldsThatAreNotKnownAreIgnored() {
    var later = Objects.parse(WRITTEN);
    later.withObject("/spec/target").put("newer", 1);
    later.withObject("/status").put("newer", 1).putArray("conditions").addObject()
        .put("type", "Ready").put("status", "True").put("newer", 1);
    var now = converted(later, "v1alpha1");
    ((ObjectNode) now.path("spec")).remove("madeUp");
    now.withObject("/spec/target").remove("newer");
    now.withObject("/status").remove("newer");
    ((ObjectNode) now.at("/status/conditions/0")).remove("newer");

    assertThat(read(later)).isEqualTo(read(now));
    assertThat(read(later).routeProblems()).isEmpty();
  }

  /** Why a field is added to all versions: the leader's status is such a write. */
  @Test
  void aWriteThroughTheOlderVersionDropsAFieldThatOnlyTheLaterOneHas() {
    var stored = ScaledServiceCrd.schema(v1beta1()).admit(Objects.parse(WRITTEN), null);
    assertThat(stored.at("/spec/madeUp").asString()).isEqualTo("later");

    var older = ScaledServiceCrd.schema(ScaledServiceCrd.definition())
        .admit(converted(stored, "v1alpha1"), stored);
    assertThat(converted(older, "v1beta1")).isNotEqualTo(stored);
    assertThat(older.path("spec").has("madeUp")).isFalse();
  }

  @Test
  void withTheFieldInBothVersions_nothingIsLostOnTheWayThereAndBack() {
    var olderDefinition = ScaledServiceCrd.definition();
    addMadeUp(olderDefinition);
    var stored = ScaledServiceCrd.schema(v1beta1()).admit(Objects.parse(WRITTEN), null);

    var older = ScaledServiceCrd.schema(olderDefinition).admit(converted(stored, "v1alpha1"),
        stored);
    assertThat(converted(older, "v1beta1")).isEqualTo(stored);
    assertThat(ScaledServiceCrd.schema(v1beta1()).admit(converted(older, "v1beta1"), older))
        .isEqualTo(stored);
  }

  @Test
  void anObjectThatIsNotObservedSaysSo() {
    var stored = ScaledServiceCrd.schema(ScaledServiceCrd.definition())
        .admit(converted(Objects.parse(WRITTEN), "v1alpha1"), null);

    assertThat(stored.path("status").toString()).isEqualTo("{\"observedGeneration\":0}");
    assertThat(read(stored).status().observedGeneration()).isZero();
  }
}
