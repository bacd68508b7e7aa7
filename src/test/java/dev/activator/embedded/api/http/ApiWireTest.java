package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.in;
import static dev.activator.embedded.api.Objects.labelled;
import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.DEPLOYMENT;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static dev.activator.embedded.api.store.BuiltInKinds.KNATIVE_SERVICE;
import static dev.activator.embedded.api.store.BuiltInKinds.REVISION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.EmbeddedApiServer;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.VirtualLoop;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class ApiWireTest {
  private static final String MAPS = "/api/v1/namespaces/default/configmaps";
  private static final String MERGE = "application/merge-patch+json";

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  @AutoClose
  private final Wire wire = new Wire(api.url(), api.port());

  @Test
  void reportsWhatItServes() {
    assertThat(tree(wire.get("/version")).get("gitVersion").stringValue()).isEqualTo("v1.36.2");
    assertThat(wire.get("/readyz").body()).isEqualTo("ok");
    assertThat(tree(wire.get("/api")).at("/versions/0").stringValue()).isEqualTo("v1");
    assertThat(tree(wire.get("/apis")).get("groups").valueStream()
        .map(group -> group.get("name").stringValue())).containsExactly("apps",
            "coordination.k8s.io", "discovery.k8s.io", "autoscaling", "apiextensions.k8s.io",
            "serving.knative.dev", "networking.internal.knative.dev",
            "autoscaling.internal.knative.dev", "batch", "networking.k8s.io",
            "authorization.k8s.io", "authentication.k8s.io");
    assertThat(tree(wire.get("/apis/apps/v1?timeout=32s")).get("resources").valueStream()
        .map(resource -> resource.get("name").stringValue())).containsExactly("deployments",
            "deployments/scale", "deployments/status", "replicasets", "replicasets/scale",
            "replicasets/status", "daemonsets", "statefulsets");
    assertThat(tree(wire.get("/openapi/v3")).get("paths").has("apis/serving.knative.dev/v1"))
        .isTrue();
    assertThat(wire.get("/openapi/v3/apis/apps/v1?hash=1").body()).contains("\"fieldValidation\"");
    var core = tree(wire.get("/openapi/v3/api/v1?hash=1")).at("/components/schemas");
    assertThat(core.at("/io.k8s.api.core.v1.ServiceStatus/description").stringValue())
        .isEqualTo("ServiceStatus represents the current status of a service.");
  }

  /** Each row: what is asked, and what is answered. */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(delimiter = '|', value = {
      "GET|/api/v1/nothing|404|NotFound|the server could not find the requested resource:"
          + " there are no nothing in v1",
      "GET|/api/v1/pods/x|404|NotFound|the server could not find the requested resource",
      "GET|/nowhere|404|NotFound|the server could not find the requested resource",
      "GET|/api/v1/namespaces/default/configmaps/zzz|404|NotFound|configmaps \"zzz\" not found",
      "GET|/apis/serving.knative.dev/v1/namespaces/d/revisions/r|404|NotFound"
          + "|revisions.serving.knative.dev \"r\" not found",
      "DELETE|/apis/apps/v1/namespaces/d/deployments/x|404|NotFound|deployments.apps \"x\" not found",
      "POST|/api/v1/configmaps|405|MethodNotAllowed"
          + "|the server does not allow this method on the requested resource",
      "GET|/api/v1/pods?labelSelector=a%3Db%3Dc|400|BadRequest|",
      "GET|/api/v1/pods?fieldSelector=spec.x%3D1|400|BadRequest|",
      "GET|/api/v1/pods?resourceVersion=abc|400|BadRequest|",
      "GET|/api/v1/pods?continue=%25|400|BadRequest|invalid continue token: it cannot be read",
      "GET|/api/v1/pods?resourceVersionMatch=Exact|422|Invalid|ListOptions.meta.k8s.io \"\" is"
          + " invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless"
          + " resourceVersion is provided"})
  void refusesInTheWordsOfKubernetes(String method, String path, int code, String reason,
      String message) {
    var response = wire.send(method, path, null);

    assertThat(response.statusCode()).isEqualTo(code);
    assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
    var status = tree(response);
    assertThat(status.get("kind").stringValue()).isEqualTo("Status");
    assertThat(status.get("status").stringValue()).isEqualTo("Failure");
    assertThat(status.get("code").intValue()).isEqualTo(code);
    assertThat(status.get("reason").stringValue()).isEqualTo(reason);
    if (message != null) {
      assertThat(status.get("message").stringValue()).isEqualTo(message);
    }
  }

  @Test
  void writesAStatusToTheByte() {
    assertThat(wire.get(MAPS + "/zzz").body()).isEqualTo("{\"kind\":\"Status\",\"apiVersion\":"
        + "\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"configmaps \\\"zzz\\\" not"
        + " found\",\"reason\":\"NotFound\",\"details\":{\"name\":\"zzz\",\"kind\":\"configmaps\"},"
        + "\"code\":404}");
  }

  @Test
  void saysWhenAVersionOfTheFutureDoesNotCome() {
    var response = wire.get(MAPS + "?resourceVersion=999999999999999999");

    assertThat(response.statusCode()).isEqualTo(504);
    assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(tree(response).at("/details/causes/0/reason").stringValue())
        .isEqualTo("ResourceVersionTooLarge");
  }

  @Test
  void createsReadsReplacesAndDeletes() {
    var created = wire.post(MAPS, "{'metadata':{'name':'a'},'data':{'k':'1'}}");
    assertThat(created.statusCode()).isEqualTo(201);
    assertThat(wire.get(MAPS + "/a").body()).isEqualTo(created.body());

    var replaced = wire.send("PUT", MAPS + "/a", created.body().replace("\"1\"", "\"2\""),
        "Content-Type", "application/json");
    assertThat(replaced.statusCode()).isEqualTo(200);
    assertThat(tree(replaced).at("/data/k").stringValue()).isEqualTo("2");
    var stale = wire.send("PUT", MAPS + "/a", created.body());
    assertThat(stale.statusCode()).isEqualTo(409);

    String uid = tree(created).at("/metadata/uid").stringValue();
    assertThat(wire.send("DELETE", MAPS + "/a", "{'propagationPolicy':'Background'}",
        "Content-Type", "application/json").body())
        .isEqualTo("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
            + "\"Success\",\"details\":{\"name\":\"a\",\"kind\":\"configmaps\",\"uid\":\"" + uid
            + "\"}}");
    assertThat(wire.get(MAPS + "/a").statusCode()).isEqualTo(404);
  }

  @Test
  void refusesBodiesItCannotTake() {
    assertRefused(wire.post(MAPS, "{"), 400);
    assertRefused(wire.post(MAPS, "[]"), 400);
    assertRefused(wire.post(MAPS, ""), 400);
    assertRefused(wire.post(MAPS, "{'kind':'Secret','metadata':{'name':'a'}}"), 400);
    assertRefused(wire.post(MAPS, "{'metadata':{'name':'a','namespace':'other'}}"), 400);
    assertRefused(wire.send("PUT", MAPS + "/a", "{'metadata':{'name':'b'}}"), 400);
    assertRefused(wire.send("POST", MAPS, "x", "Content-Type",
        "application/vnd.kubernetes.protobuf"), 400);
    assertRefused(wire.send("POST", MAPS, "{}", "Content-Type", "text/plain"), 415);
    assertRefused(wire.get(MAPS, "Accept", "application/vnd.kubernetes.protobuf"), 406);
    assertRefused(wire.post(MAPS, "{'a':'" + "x".repeat(3 * 1024 * 1024) + "'}"), 413);
    assertThat(store.list(CONFIG_MAP)).isEmpty();
  }

  @Test
  void takesYaml() {
    var created = wire.send("POST", MAPS, "metadata:\n  name: a\ndata:\n  k: v\n", "Content-Type",
        "application/yaml");

    assertThat(created.statusCode()).isEqualTo(201);
    assertThat(tree(created).at("/data/k").stringValue()).isEqualTo("v");
  }

  @Test
  void patchesInEachFormat() {
    store.create(DEPLOYMENT, spec("d", "{'replicas':1,'template':{'spec':{'containers':"
        + "[{'name':'a'},{'name':'b'}]}}}"));
    String path = "/apis/apps/v1/namespaces/default/deployments/d";

    wire.patch(path, MERGE, "{'spec':{'replicas':2}}");
    wire.patch(path, "application/json-patch+json",
        "[{'op':'add','path':'/metadata/labels','value':{'x':'y'}}]");
    var last = wire.patch(path, "application/strategic-merge-patch+json",
        "{'spec':{'template':{'spec':{'containers':[{'name':'b','image':'i'}]}}}}");

    assertThat(last.statusCode()).isEqualTo(200);
    assertThat(tree(last).get("spec")).isEqualTo(parse("{'replicas':2,'template':{'spec':"
        + "{'containers':[{'name':'a'},{'name':'b','image':'i'}]}}}"));
    assertThat(tree(last).at("/metadata/labels/x").stringValue()).isEqualTo("y");
    assertThat(tree(last).at("/metadata/generation").intValue()).isEqualTo(3);
  }

  @Test
  void refusesPatchesThatDoNotFit() {
    store.create(REVISION, named("r"));
    String path = "/apis/serving.knative.dev/v1/namespaces/default/revisions/r";

    assertRefused(wire.patch(path, "application/strategic-merge-patch+json", "{}"), 415);
    assertRefused(wire.patch(path, "application/apply-patch+yaml", "{}"), 422);
    assertRefused(wire.patch(path, MERGE, "[]"), 400);
    assertRefused(wire.patch(path, MERGE, "{'metadata':{'name':'x'}}"), 400);
    assertRefused(wire.patch(path, MERGE, "{'metadata':{'resourceVersion':'1'}}"), 409);
    assertRefused(wire.patch(path + "x", MERGE, "{}"), 404);
    assertRefused(wire.patch(path, "application/json-patch+json",
        "[{'op':'test','path':'/a','value':1}]"), 422);
  }

  @Test
  void appliesOnTheServer() {
    String path = MAPS + "/a?fieldManager=me";
    String type = "application/apply-patch+yaml";
    String head = "{kind: ConfigMap, metadata: {name: a}, data: ";

    assertThat(wire.patch(path, type, head + "{k: v}}").statusCode()).isEqualTo(201);
    var again = wire.patch(path, type, head + "{j: w}}");

    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(tree(again).get("data")).as("k is no longer applied")
        .isEqualTo(parse("{'j':'w'}"));
    assertThat(tree(again).at("/metadata/managedFields/0/fieldsV1"))
        .isEqualTo(parse("{'f:data':{'f:j':{}}}"));

    // when another client writes the field, then applying needs force
    wire.patch(MAPS + "/a?fieldManager=you", MERGE, "{'data':{'j':'x'}}");
    var refused = wire.patch(path, type, head + "{j: w}}");
    assertThat(refused.statusCode()).isEqualTo(409);
    assertThat(tree(refused).get("message").stringValue()).isEqualTo("Apply failed with 1"
        + " conflict: conflict with \"you\" using v1: .data.j");
    assertThat(tree(refused).get("reason").stringValue()).isEqualTo("Conflict");
    assertThat(tree(refused).at("/details/causes/0")).isEqualTo(parse(
        "{'reason':'FieldManagerConflict','message':'conflict with \\\"you\\\" using v1',"
            + "'field':'.data.j'}"));
    assertThat(wire.patch(path + "&force=true", type, head + "{j: w}}").statusCode())
        .isEqualTo(200);
  }

  @Test
  void appliesAScaleAndAStatusToTheirFieldsOnly() {
    store.create(DEPLOYMENT, spec("d", "{'replicas':1,'selector':{'matchLabels':{'a':'b'}}}"));
    String path = "/apis/apps/v1/namespaces/default/deployments/d/";
    String type = "application/apply-patch+yaml";

    var scaled = wire.patch(path + "scale?fieldManager=me&force=true", type,
        "apiVersion: autoscaling/v1\nkind: Scale\nspec: {replicas: 4}\n");
    assertThat(tree(scaled).at("/spec/replicas").intValue()).isEqualTo(4);
    var status = wire.patch(path + "status?fieldManager=you", type,
        "kind: Deployment\nspec: {replicas: 9}\nstatus: {replicas: 3}\n");
    assertThat(tree(status).at("/spec/replicas").intValue()).isEqualTo(4);
    assertThat(tree(status).at("/status/replicas").intValue()).isEqualTo(3);
    assertThat(tree(status).at("/metadata/managedFields").findValuesAsString("subresource"))
        .containsExactlyInAnyOrder("scale", "status");
  }

  @Test
  void writesStatusAndScaleApartFromTheRest() {
    store.create(DEPLOYMENT,
        spec("d", "{'replicas':1,'selector':{'matchLabels':{'a':'b'}}}"));
    String path = "/apis/apps/v1/namespaces/default/deployments/d";

    wire.patch(path + "/status", MERGE, "{'spec':{'replicas':9},'status':{'replicas':1}}");
    wire.patch(path, MERGE, "{'status':{'replicas':5}}");
    var scale = wire.patch(path + "/scale", MERGE, "{'spec':{'replicas':3}}");

    assertThat(tree(scale).get("kind").stringValue()).isEqualTo("Scale");
    assertThat(tree(scale).get("spec")).isEqualTo(parse("{'replicas':3}"));
    assertThat(tree(scale).get("status")).isEqualTo(parse("{'replicas':1,'selector':'a=b'}"));
    assertThat(wire.get(path + "/scale").body()).isEqualTo(scale.body());
    var object = tree(wire.get(path));
    assertThat(object.at("/spec/replicas").intValue()).isEqualTo(3);
    assertThat(object.at("/status/replicas").intValue()).isEqualTo(1);
    assertRefused(wire.patch(path + "/scale", MERGE, "{'spec':{'replicas':-1}}"), 422);
    assertRefused(wire.get("/apis/serving.knative.dev/v1/namespaces/default/revisions/r/scale"),
        404);
  }

  @Test
  void listsWhatWasJustWritten() {
    for (int i = 0; i < 200; i++) {
      store.create(ENDPOINTS, named("e" + i));
      assertThat(tree(wire.get("/api/v1/endpoints")).get("items").size()).isEqualTo(i + 1);
    }
  }

  @Test
  void listsByNamespaceLabelAndName() {
    store.create(CONFIG_MAP, labelled("b", "l", "1"));
    store.create(CONFIG_MAP, labelled("a", "l", "2"));
    store.create(CONFIG_MAP, in("ns1", "x"));
    store.create(CONFIG_MAP, in("ns10", "y"));

    assertThat(names("/api/v1/configmaps")).containsExactly("a", "b", "x", "y");
    assertThat(names("/api/v1/namespaces/ns1/configmaps")).containsExactly("x");
    assertThat(names("/api/v1/configmaps?labelSelector=l%3D1")).containsExactly("b");
    assertThat(names("/api/v1/configmaps?labelSelector=l")).containsExactly("a", "b");
    assertThat(names("/api/v1/configmaps?fieldSelector=metadata.name%3Dx")).containsExactly("x");
    assertThat(names("/api/v1/namespaces/none/configmaps")).isEmpty();
  }

  @Test
  void givesListsInPagesOfOneState() {
    // given seven objects and a first page of three
    for (int i = 0; i < 7; i++) {
      store.create(CONFIG_MAP, named("o" + i));
    }
    var first = tree(wire.get(MAPS + "?limit=3"));
    assertThat(names(first)).containsExactly("o0", "o1", "o2");
    assertThat(first.at("/metadata/remainingItemCount").intValue()).isEqualTo(4);

    // when objects come and go before the others are read
    store.create(CONFIG_MAP, named("o55"));
    store.delete(CONFIG_MAP, "default", "o4");
    var second = tree(wire.get(MAPS + "?limit=3&continue=" + token(first)));
    var third = tree(wire.get(MAPS + "?limit=3&continue=" + token(second)));

    // then they show what was there at the first
    assertThat(names(second)).containsExactly("o3", "o4", "o5");
    assertThat(names(third)).containsExactly("o6");
    assertThat(third.get("metadata").has("continue")).isFalse();
    assertThat(third.at("/metadata/resourceVersion"))
        .isEqualTo(first.at("/metadata/resourceVersion"));
    // and one who takes what is at hand gets it in one piece
    assertThat(names(MAPS + "?limit=3&resourceVersion=0")).hasSize(7);
  }

  @Test
  void deletesAllThatIsSelected() {
    store.create(CONFIG_MAP, labelled("a", "l", "1"));
    store.create(CONFIG_MAP, labelled("b", "l", "2"));

    var response = wire.send("DELETE", MAPS + "?labelSelector=l%3D1", null);

    assertThat(names(tree(response))).containsExactly("a");
    assertThat(names(MAPS)).containsExactly("b");
  }

  @Test
  void showsTables_whenRequested() {
    // given endpoints with addresses and without
    var full = parse("{'subsets':[{'addresses':[{'ip':'10.0.0.1'},{'ip':'10.0.0.2'}],"
        + "'notReadyAddresses':[{'ip':'10.0.0.9'}],'ports':[{'port':80},{'port':81}]}]}");
    full.setAll(named("full"));
    store.create(ENDPOINTS, full);
    store.create(ENDPOINTS, named("none"));

    var table = tree(wire.get("/api/v1/endpoints", "Accept",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"));

    assertThat(table.get("kind").stringValue()).isEqualTo("Table");
    assertThat(table.get("columnDefinitions").valueStream().map(c -> c.get("name").stringValue()))
        .containsExactly("Name", "Endpoints", "Age");
    assertThat(table.at("/rows/0/cells/1").stringValue())
        .isEqualTo("10.0.0.1:80,10.0.0.1:81,10.0.0.2:80 + 1 more...");
    assertThat(table.at("/rows/1/cells/1").stringValue()).isEqualTo("<none>");
    assertThat(table.at("/rows/0/object/metadata/name").stringValue()).isEqualTo("full");
  }

  @Test
  void passesOnWhatAHookHasToSay() {
    store.onAdmission(KNATIVE_SERVICE, service -> {
      throw StatusException.invalid("spec.template.spec.containers[0].command", "is missing");
    });

    var response = wire.post("/apis/serving.knative.dev/v1/namespaces/default/services",
        "{'metadata':{'name':'s'}}");

    assertThat(response.statusCode()).isEqualTo(422);
    assertThat(tree(response).get("message").stringValue()).isEqualTo("Service.serving.knative.dev"
        + " \"s\" is invalid: spec.template.spec.containers[0].command: is missing");
  }

  @Test
  void survivesBadClients() {
    wire.raw("\u0000\u0001\u0002 nonsense\r\n\r\n");
    wire.raw("GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    wire.raw("POST " + MAPS + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n");

    assertThat(wire.get("/livez").statusCode()).isEqualTo(200);
  }

  @Test
  void saysWhichPortIsTaken() {
    var second = new EmbeddedApiServer(store, new VirtualLoop(),
        new InetSocketAddress("127.0.0.1", api.port()));

    assertThatThrownBy(second::start).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot listen on 127.0.0.1:" + api.port());
  }

  private static void assertRefused(HttpResponse<String> response, int code) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(code);
    assertThat(tree(response).get("kind").stringValue()).isEqualTo("Status");
  }

  private List<String> names(String path) {
    return names(tree(wire.get(path)));
  }

  private static List<String> names(JsonNode list) {
    var names = new ArrayList<String>();
    list.get("items").forEach(item -> names.add(item.at("/metadata/name").stringValue()));
    return names;
  }

  private static String token(JsonNode list) {
    return list.at("/metadata/continue").stringValue();
  }

  private static tools.jackson.databind.node.ObjectNode spec(String name, String spec) {
    var object = named(name);
    object.set("spec", parse(spec));
    return object;
  }

  private static JsonNode tree(HttpResponse<String> response) {
    return Json.MAPPER.readTree(response.body());
  }

  @Test
  @DisplayName("gives a thousand objects in pages of their first state, and counts down")
  void countsDownWhatRemains() {
    for (int i = 0; i < 1_000; i++) {
      store.create(CONFIG_MAP, named("o%03d".formatted(i)));
    }
    var page = tree(wire.get(MAPS + "?limit=100"));
    var revision = page.at("/metadata/resourceVersion");
    for (int i = 9; i > 0; i--) {
      assertThat(page.at("/metadata/remainingItemCount").intValue()).isEqualTo(100 * i);
      store.create(CONFIG_MAP, named("x" + i));
      page = tree(wire.get(MAPS + "?limit=100&continue=" + token(page)));
      assertThat(names(page)).hasSize(100);
      assertThat(page.at("/metadata/resourceVersion")).isEqualTo(revision);
    }
    assertThat(names(page).getLast()).isEqualTo("o999");
    assertThat(page.get("metadata").has("remainingItemCount")).isFalse();
  }

  @Test
  @DisplayName("refuses a token that is damaged")
  void refusesADamagedToken() {
    store.create(CONFIG_MAP, named("a"));
    store.create(CONFIG_MAP, named("b"));
    String token = token(tree(wire.get(MAPS + "?limit=1")));

    var response = wire.get(MAPS + "?limit=1&continue=" + token.substring(2));

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(tree(response).get("message").stringValue()).startsWith("invalid continue token: ");
  }
}
