package dev.activator.embedded.api.store;

import static dev.activator.embedded.api.Objects.in;
import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.store.BuiltInKinds.CUSTOM_RESOURCE_DEFINITION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.store.ApiStore.MissingNamespace;
import dev.activator.embedded.api.store.Kind.PrinterColumn;
import dev.activator.embedded.api.store.Kind.Trait;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class CrdReaderTest {
  private static final String NAME = "widgets.example.com";

  private final ApiStore store = new ApiStore(
      Clock.fixed(Instant.parse("2026-11-21T10:00:00Z"), ZoneOffset.UTC), new Random(1),
      MissingNamespace.CREATED);

  @Test
  void servesTheKindThatADefinitionBrings() {
    // when a definition is created
    var created = store.create(CUSTOM_RESOURCE_DEFINITION, definition());

    // then it says that its kind is served, and it is
    assertThat(created.at("/status/conditions").valueStream()
        .map(one -> one.get("type").stringValue() + one.get("status").stringValue()))
        .containsExactly("NamesAcceptedTrue", "EstablishedTrue");
    assertThat(created.at("/status/storedVersions/0").stringValue()).isEqualTo("v1");
    var kind = widgets();
    assertThat(kind.names()).isEqualTo(new Kind.Names("Widget", "widgets", "widget",
        java.util.List.of("wd"), java.util.List.of("all")));
    assertThat(kind.traits()).containsExactlyInAnyOrder(Trait.STATUS, Trait.SCALE,
        Trait.GENERATION, Trait.VERSION_REQUIRED);
    assertThat(kind.columns())
        .containsExactly(new PrinterColumn("Size", "integer", ".spec.size", 0));
    assertThat(store.create(kind, named("w")).get("apiVersion").stringValue())
        .isEqualTo("example.com/v1");
  }

  @Test
  void takesTheKindAwayWithItsDefinition() {
    // given a kind with objects in two namespaces
    store.create(CUSTOM_RESOURCE_DEFINITION, definition());
    var kind = widgets();
    store.create(kind, named("w"));
    store.create(kind, in("team", "w"));

    // when its definition is deleted, then all of it is gone
    store.delete(CUSTOM_RESOURCE_DEFINITION, "", NAME);
    assertThat(store.list(kind)).isEmpty();
    assertThat(store.find(CUSTOM_RESOURCE_DEFINITION, "", NAME)).isNull();
    assertThat(store.kinds().all()).doesNotContain(kind);
  }

  @Test
  void waitsForTheLastObjectOfItsKind() {
    // given an object that waits for a finalizer
    store.create(CUSTOM_RESOURCE_DEFINITION, definition());
    var kind = widgets();
    var held = named("w");
    ObjectMeta.of(held).putArray("finalizers").add("x/y");
    store.create(kind, held);

    // when the definition is deleted, then both stay until the finalizer goes
    store.delete(CUSTOM_RESOURCE_DEFINITION, "", NAME);
    assertThat(store.kinds().all()).contains(kind);
    store.edit(kind, "default", "w", object -> {
      ObjectMeta.of(object).remove("finalizers");
      return object;
    });
    assertThat(store.kinds().all()).doesNotContain(kind);
    assertThat(store.find(CUSTOM_RESOURCE_DEFINITION, "", NAME)).isNull();
  }

  @Test
  void followsAChangedDefinition() {
    store.create(CUSTOM_RESOURCE_DEFINITION, definition());
    var kind = widgets();
    store.create(kind, named("w"));

    store.edit(CUSTOM_RESOURCE_DEFINITION, "", NAME, definition -> {
      definition.withObjectProperty("spec").withObjectProperty("names").putArray("shortNames")
          .add("wid");
      return definition;
    });

    assertThat(widgets().names().shortNames()).containsExactly("wid");
    assertThat(store.list(widgets())).hasSize(1);
  }

  @Test
  void leavesKindsAloneThatItHasByItself() {
    // given the definition of a kind that every server has
    var revisions = parse("{'metadata':{'name':'revisions.serving.knative.dev'},'spec':{'group':"
        + "'serving.knative.dev','scope':'Namespaced','names':{'kind':'Revision','plural':"
        + "'revisions'},'versions':[{'name':'v1','storage':true,'served':true}]}}");

    // when it comes and goes, then the kind stays, with its objects
    store.create(BuiltInKinds.REVISION, named("r"));
    store.create(CUSTOM_RESOURCE_DEFINITION, revisions);
    store.delete(CUSTOM_RESOURCE_DEFINITION, "", "revisions.serving.knative.dev");
    assertThat(
        store.kinds().all().get(store.kinds().all().indexOf(BuiltInKinds.REVISION)).names()
            .shortNames())
        .containsExactly("rev");
    assertThat(store.list(BuiltInKinds.REVISION)).hasSize(1);
  }

  @Test
  void countsStatusAsContentWhereItIsNoSubresource() {
    // given a kind without a status subresource
    var definition = definition();
    ((ObjectNode) definition.at("/spec/versions/0")).remove("subresources");
    store.create(CUSTOM_RESOURCE_DEFINITION, definition);
    var kind = widgets();
    store.create(kind, named("w"));

    var changed = store.edit(kind, "default", "w", w -> {
      w.putObject("status").put("done", true);
      return w;
    });

    assertThat(changed.at("/metadata/generation").intValue()).isEqualTo(2);
    assertThat(changed.at("/status/done").booleanValue()).isTrue();
  }

  @ParameterizedTest(name = "{0} of {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
      "/metadata/name|'x.example.com'|metadata.name: Invalid value: \"x.example.com\": must be"
          + " spec.names.plural+\".\"+spec.group",
      "/spec/group|''|spec.group: Required value", "/spec/names/kind|''|spec.names.kind: Required",
      "/spec/scope|'Everywhere'|spec.scope: Unsupported value",
      "/spec/versions|[]|must have exactly one version marked as storage version"})
  void refusesDefinitionsThatMakeNoKind(String pointer, String value, String says) {
    var definition = definition();
    int last = pointer.lastIndexOf('/');
    ((ObjectNode) definition.at(pointer.substring(0, last))).set(pointer.substring(last + 1),
        Json.MAPPER.readTree(value.replace('\'', '"')));

    assertThatThrownBy(() -> store.create(CUSTOM_RESOURCE_DEFINITION, definition))
        .isInstanceOfSatisfying(StatusException.class,
            refused -> assertThat(refused.code()).isEqualTo(422))
        .hasMessageContaining(says);
  }

  private Kind widgets() {
    return store.kinds().at("example.com", "v1", "widgets").orElseThrow();
  }

  private static ObjectNode definition() {
    return parse("{'metadata':{'name':'" + NAME + "'},'spec':{'group':'example.com','scope':"
        + "'Namespaced','names':{'kind':'Widget','plural':'widgets','shortNames':['wd'],"
        + "'categories':['all']},'versions':[{'name':'v1','served':true,'storage':true,"
        + "'subresources':{'status':{},'scale':{'specReplicasPath':'.spec.replicas'}},"
        + "'additionalPrinterColumns':[{'name':'Size','type':'integer','jsonPath':'.spec.size'}]},"
        + "{'name':'v2','served':true,'storage':false}]}}");
  }

  @Test
  void refusesColumnsWithPathsBeyondReason() {
    var definition = definition();
    ((ObjectNode) definition.at("/spec/versions/0/additionalPrinterColumns/0")).put("jsonPath",
        "." + "x".repeat(500));

    assertThatThrownBy(() -> store.create(CUSTOM_RESOURCE_DEFINITION, definition))
        .isInstanceOfSatisfying(StatusException.class,
            refused -> assertThat(refused.code()).isEqualTo(422))
        .hasMessageContaining("must be no more than 500 characters");
  }
}
