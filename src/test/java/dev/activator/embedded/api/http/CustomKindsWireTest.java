package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.parse;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.Json;
import dev.activator.testing.EmbeddedApi;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Kinds that come and go while the server runs, as clients see them. */
class CustomKindsWireTest {
  private static final String DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  private static final String WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
  private static final String DEFINITION = "{'metadata':{'name':'widgets.example.com'},'spec':{"
      + "'group':'example.com','scope':'Namespaced','names':{'kind':'Widget','plural':'widgets'},"
      + "'versions':[{'name':'v1','served':true,'storage':true,'additionalPrinterColumns':["
      + "{'name':'Size','type':'integer','jsonPath':'.spec.size'},{'name':'Born','type':'date',"
      + "'jsonPath':'.metadata.creationTimestamp'},{'name':'Color','type':'string','jsonPath':"
      + "'.spec.color','priority':1}]}]}}";

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  @AutoClose
  private final Wire wire = new Wire(api.url(), api.port());

  @Test
  void servesAKindAsSoonAsItIsDefinedAndNoLongerThanThat() {
    // given no such kind
    assertThat(wire.get(WIDGETS).statusCode()).isEqualTo(404);
    assertThat(wire.get("/apis/example.com").statusCode()).isEqualTo(404);

    // when it is defined, then it is discovered, listed, created and watched
    assertThat(wire.post(DEFINITIONS, DEFINITION).statusCode()).isEqualTo(201);
    assertThat(tree(wire.get(WIDGETS)).get("items").size()).isZero();
    assertThat(tree(wire.get("/apis/example.com/v1")).at("/resources/0/kind").stringValue())
        .isEqualTo("Widget");
    assertThat(tree(wire.get("/openapi/v3")).get("paths").has("apis/example.com/v1")).isTrue();
    try (var lines = wire.lines(WIDGETS + "?watch=1")) {
      wire.post(WIDGETS, "{'metadata':{'name':'w'},'spec':{'size':3,'color':'red'}}");
      assertThat(lines.next()).startsWith("{\"type\":\"ADDED\"");

      // when its definition goes, then its objects do, its watches end, and it is unknown again
      assertThat(wire.send("DELETE", DEFINITIONS + "/widgets.example.com", null).statusCode())
          .isEqualTo(200);
      assertThat(lines.next()).startsWith("{\"type\":\"DELETED\"");
      assertThat(lines.ends()).isTrue();
    }
    assertThat(wire.get(WIDGETS).statusCode()).isEqualTo(404);
    assertThat(tree(wire.get("/apis")).toString()).doesNotContain("example.com");
    assertThat(tree(wire.get("/openapi/v3")).get("paths").has("apis/example.com/v1")).isFalse();

    // and it may come back, empty
    wire.post(DEFINITIONS, DEFINITION);
    assertThat(tree(wire.get(WIDGETS)).get("items").size()).isZero();
  }

  @Test
  void showsTheColumnsOfTheDefinition() {
    wire.post(DEFINITIONS, DEFINITION);
    wire.post(WIDGETS, "{'metadata':{'name':'w'},'spec':{'size':3,'color':'red'}}");

    var table = tree(wire.get(WIDGETS, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"));

    assertThat(table.get("columnDefinitions").valueStream().map(
        column -> column.get("name").stringValue() + column.get("priority").intValue()))
        .containsExactly("Name0", "Size0", "Born0", "Color1");
    assertThat(table.at("/rows/0/cells/1").intValue()).isEqualTo(3);
    assertThat(table.at("/rows/0/cells/2").stringValue()).endsWith("s");
    assertThat(table.at("/rows/0/cells/3").stringValue()).isEqualTo("red");
  }

  @Test
  void createsAnObjectAtItsOwnPath_onlyOfSuchAKind() {
    wire.post(DEFINITIONS, DEFINITION.replace("'storage':true,",
        "'storage':true,'subresources':{'status':{}},"));
    String lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/w";

    assertThat(wire.post(WIDGETS + "/w", "{'metadata':{'name':'w'}}").statusCode()).isEqualTo(201);
    assertThat(wire.post(WIDGETS + "/w", "{'metadata':{'name':'w'}}").statusCode()).isEqualTo(409);
    assertThat(wire.get(WIDGETS + "/w").statusCode()).isEqualTo(200);
    // The name is that of the body.
    assertThat(wire.post(WIDGETS + "/w", "{'metadata':{'name':'v'}}").statusCode()).isEqualTo(201);
    assertThat(wire.get(WIDGETS + "/v").statusCode()).isEqualTo(200);
    assertThat(wire.post(WIDGETS + "/w/status", "{'metadata':{'name':'u'}}").statusCode())
        .isEqualTo(405);
    assertThat(wire.post(lease, "{'metadata':{'name':'w'}}").statusCode()).isEqualTo(405);
  }

  @Test
  void keepsAllFields_evenIfABuiltInKindHasTheSameName() {
    wire.post(DEFINITIONS, DEFINITION.replace("example.com", "apps.example.com")
        .replace("Widget", "Deployment").replace("widgets", "deployments"));

    var created = wire.post("/apis/apps.example.com/v1/namespaces/default/deployments",
        "{'metadata':{'name':'d'},'spec':{'size':3,'replicas':'many'}}");

    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    assertThat(created.headers().allValues("Warning")).isEmpty();
    assertThat(tree(created).at("/spec/size").intValue()).isEqualTo(3);
  }

  @Test
  void listsWhatWasJustWrittenOfSuchAKind() {
    wire.post(DEFINITIONS, DEFINITION);
    for (int i = 0; i < 50; i++) {
      wire.post(WIDGETS, parse("{'metadata':{'name':'w" + i + "'}}").toString());
      assertThat(tree(wire.get(WIDGETS)).get("items").size()).isEqualTo(i + 1);
    }
  }

  private static JsonNode tree(HttpResponse<String> response) {
    return Json.MAPPER.readTree(response.body());
  }
}
