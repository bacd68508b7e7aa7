package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.in;
import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static dev.activator.embedded.api.store.BuiltInKinds.POD;
import static dev.activator.embedded.api.store.BuiltInKinds.REVISION;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.http.Wire.Lines;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.EmbeddedApi;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * The requests that other clients were seen to make, in their order and to the letter: Knative's
 * activator, on client-go 0.35, and fabric8.
 */
class RecordedClientsTest {
  private static final String PROTOBUF_FIRST = "application/vnd.kubernetes.protobuf,application/json";
  private static final String JSON_FIRST = "application/json, */*";
  private static final String SYSTEM = "/api/v1/namespaces/knative-serving/";
  private static final String REVISIONS = "/apis/serving.knative.dev/v1/revisions";
  private static final String WATCH_LIST = "?allowWatchBookmarks=true&resourceVersionMatch="
      + "NotOlderThan&sendInitialEvents=true&timeout=7m19s&timeoutSeconds=439&watch=true";

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  @AutoClose
  private final Wire wire = new Wire(api.url(), api.port());

  @Test
  @DisplayName("gives Knative's activator all that it requests until it is ready")
  void answersAllThatKnativesActivatorRequests() {
    // given the config maps it wants, and what it is about
    for (var name : List.of("config-network", "config-logging", "config-observability")) {
      store.create(CONFIG_MAP, in("knative-serving", name));
    }
    store.create(REVISION, named("hello-00001"));

    // 1: the version, which must be new enough; 2 and 3: two config maps
    var version = get("/version", JSON_FIRST);
    assertThat(version.get("gitVersion").stringValue()).isEqualTo("v1.36.2");
    assertThat(get(SYSTEM + "configmaps/config-logging", PROTOBUF_FIRST).get("kind").stringValue())
        .isEqualTo("ConfigMap");
    get(SYSTEM + "configmaps/config-observability", PROTOBUF_FIRST);

    // 4: five informers, each synced once it has a bookmark that says so; 6: and one more
    var informers = new ArrayList<Lines>();
    for (var path : List.of("/api/v1/endpoints", "/api/v1/services", REVISIONS, SYSTEM + "secrets",
        SYSTEM + "configmaps", SYSTEM + "configmaps")) {
      informers.add(wire.lines(path + WATCH_LIST, "Accept",
          path.equals(REVISIONS) ? JSON_FIRST : PROTOBUF_FIRST, "Accept-Encoding", "gzip"));
    }
    var initial = informers.stream().map(RecordedClientsTest::untilSynced).toList();
    assertThat(initial.get(2)).containsExactly("hello-00001");
    assertThat(initial.get(4)).containsExactly("config-logging", "config-network",
        "config-observability");
    informers.forEach(informer -> assertThat(informer.head().headers().firstValue("Content-Type"))
        .hasValue("application/json"));
    // 5: the config map without which it ends
    get(SYSTEM + "configmaps/config-network", PROTOBUF_FIRST);

    // then it hears of the endpoints it would route to
    store.create(ENDPOINTS, named("hello-00001-private"));
    assertThat(name(informers.getFirst().next())).isEqualTo("hello-00001-private");
    informers.forEach(Lines::close);
  }

  @ParameterizedTest(name = "says that {0} is not found")
  @ValueSource(strings = {"config-network", "config-logging", "config-observability"})
  void saysThatAConfigMapIsMissing(String name) {
    var response = wire.get(SYSTEM + "configmaps/" + name, "Accept", PROTOBUF_FIRST);

    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(tree(response).get("message").stringValue())
        .isEqualTo("configmaps \"" + name + "\" not found");
  }

  @Test
  @DisplayName("serves the list and the watch that follow where watch-lists are off")
  void servesAListAndTheWatchAfterIt() {
    store.create(ENDPOINTS, named("a"));
    awaitCached();

    var list = get("/api/v1/endpoints?limit=500&resourceVersion=0", PROTOBUF_FIRST);
    assertThat(list.get("items").size()).isEqualTo(1);
    try (var lines = wire.lines("/api/v1/endpoints?allowWatchBookmarks=true&resourceVersion="
        + ObjectMeta.resourceVersion(list) + "&timeout=7m19s&timeoutSeconds=439&watch=true",
        "Accept",
        PROTOBUF_FIRST)) {
      store.create(ENDPOINTS, named("b"));
      assertThat(name(lines.next())).isEqualTo("b");
    }
  }

  /** A list of the newest waits until the cache has all that was written. */
  private void awaitCached() {
    get("/api/v1/endpoints", JSON_FIRST);
  }

  @Test
  @DisplayName("gives two thousand objects in one body to those who take what is at hand")
  void ignoresTheLimit_whenResourceVersionIsZero() {
    for (int i = 0; i < 2_000; i++) {
      store.create(POD, named("p" + i));
    }
    get("/api/v1/pods", JSON_FIRST);

    var list = get("/api/v1/pods?limit=500&resourceVersion=0", PROTOBUF_FIRST);

    assertThat(list.get("items").size()).isEqualTo(2_000);
    assertThat(list.get("metadata").has("continue")).isFalse();
  }

  @Test
  @DisplayName("selects as Knative's autoscaler does")
  void selectsAsKnativesAutoscalerDoes() {
    var labelled = named("with");
    ObjectMeta.of(labelled).putObject("labels").put("serving.knative.dev/revisionUID", "u");
    store.create(POD, labelled);
    store.create(POD, named("without"));

    assertThat(names("/api/v1/pods?labelSelector=serving.knative.dev%2FrevisionUID"))
        .containsExactly("with");
    assertThat(names("/api/v1/pods?labelSelector=serving.knative.dev/revisionUID+in+(u%2Cv)"))
        .containsExactly("with");
    assertThat(names("/api/v1/pods?labelSelector=!serving.knative.dev%2FrevisionUID"))
        .containsExactly("without");
  }

  @Test
  @DisplayName("gives fabric8 its first list, its next, and its watch")
  void answersAllThatFabric8Requests() {
    // given endpoints
    store.create(ENDPOINTS, named("a"));
    String path = "/api/v1/endpoints";
    awaitCached();

    // when it lists what is at hand, lists again, and watches from there
    var first = tree(wire.get(path + "?resourceVersion=0"));
    var second = tree(wire.get(path));
    assertThat(second.get("kind").stringValue()).isEqualTo("EndpointsList");
    assertThat(second.get("items")).isEqualTo(first.get("items"));
    String watch = path + "?allowWatchBookmarks=true&resourceVersion="
        + ObjectMeta.resourceVersion(second) + "&timeoutSeconds=600&watch=true";

    // then it hears what comes after; and a watch-list marks its end
    try (var lines = wire.lines(watch);
        var initial = wire.lines(watch.replace("&watch=true",
            "&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true"))) {
      assertThat(untilSynced(initial)).containsExactly("a");
      store.create(ENDPOINTS, named("b"));
      assertThat(name(lines.next())).isEqualTo("b");
      assertThat(name(initial.next())).isEqualTo("b");
    }
  }

  @Test
  @DisplayName("takes what fabric8 writes")
  void takesWhatFabric8Writes() {
    String maps = "/api/v1/namespaces/default/configmaps";
    var created = wire.post(maps, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}");

    // an edit, a patch, a server-side apply, a replace and a delete
    assertThat(wire.patch(maps + "/a", "application/json-patch+json",
        "[{'op':'add','path':'/data','value':{'k':'1'}}]").statusCode()).isEqualTo(200);
    assertThat(wire.patch(maps + "/a", "application/strategic-merge-patch+json",
        "{'data':{'k':'2'}}").statusCode()).isEqualTo(200);
    assertThat(wire.patch(maps + "/a?fieldManager=fabric8&force=true",
        "application/apply-patch+yaml",
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'},'data':{'k':'3'}}")
        .statusCode()).isEqualTo(200);
    assertThat(wire.send("PUT", maps + "/a", created.body()).statusCode()).isEqualTo(409);
    var deleted = wire.send("DELETE", maps + "/a", "{'apiVersion':'v1','kind':'DeleteOptions',"
        + "'propagationPolicy':'Background'}", "Content-Type", "application/json");
    assertThat(tree(deleted).get("status").stringValue()).isEqualTo("Success");
  }

  private static List<String> untilSynced(Lines lines) {
    var names = new ArrayList<String>();
    while (true) {
      var event = Json.MAPPER.readTree(lines.next());
      if (event.get("type").stringValue().equals("BOOKMARK")) {
        assertThat(event.at("/object/metadata/annotations/k8s.io~1initial-events-end")
            .stringValue()).isEqualTo("true");
        return names;
      }
      assertThat(event.get("type").stringValue()).isEqualTo("ADDED");
      names.add(ObjectMeta.name(event.get("object")));
    }
  }

  private List<String> names(String path) {
    return get(path, JSON_FIRST).get("items").valueStream().map(ObjectMeta::name).toList();
  }

  private static String name(String event) {
    return ObjectMeta.name(Json.MAPPER.readTree(event).get("object"));
  }

  private JsonNode get(String path, String accept) {
    var response = wire.get(path, "Accept", accept, "Accept-Encoding", "identity");
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
    return tree(response);
  }

  private static JsonNode tree(HttpResponse<String> response) {
    return Json.MAPPER.readTree(response.body());
  }
}
