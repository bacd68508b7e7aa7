package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.DEPLOYMENT;
import static dev.activator.embedded.api.store.BuiltInKinds.POD_AUTOSCALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.DeleteOptions;
import dev.activator.testing.EmbeddedApi;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Writes as clients make them. */
class WriteWireTest {
  private static final String MAPS = "/api/v1/namespaces/default/configmaps";
  private static final String DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
  private static final String MERGE = "application/merge-patch+json";

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  @AutoClose
  private final Wire wire = new Wire(api.url(), api.port());

  @Test
  @DisplayName("answers a create with what the server adds, and a trial without a version")
  void completesWhatItCreates() {
    var created = wire.post(MAPS + "?fieldManager=me&fieldValidation=Ignore",
        "{'metadata':{'generateName':'a-','uid':'x','selfLink':'/x','managedFields':[]},'any':1,'data':{'k':''}}");

    assertThat(created.statusCode()).isEqualTo(201);
    var metadata = tree(created).get("metadata");
    assertThat(metadata.get("namespace").stringValue()).isEqualTo("default");
    assertThat(metadata.get("name").stringValue()).startsWith("a-").hasSize(7);
    assertThat(metadata.get("uid").stringValue()).hasSize(36);
    assertThat(metadata.get("creationTimestamp").stringValue()).endsWith("Z").hasSize(20);
    assertThat(metadata.has("selfLink")).isFalse();
    assertThat(metadata.at("/managedFields/0/manager").stringValue()).isEqualTo("me");
    assertThat(metadata.at("/managedFields/0/fieldsV1")).isEqualTo(
        parse("{'f:data':{'.':{},'f:k':{}},'f:metadata':{'f:generateName':{}}}"));
    assertThat(tree(created).has("any")).as("unknown fields are not stored").isFalse();

    var tried = wire.post(MAPS + "?dryRun=All", "{'metadata':{'name':'b'}}");
    assertThat(tried.statusCode()).isEqualTo(201);
    assertThat(tree(tried).at("/metadata/uid").stringValue()).hasSize(36);
    assertThat(tree(tried).get("metadata").has("resourceVersion")).isFalse();
    assertThat(wire.get(MAPS + "/b").statusCode()).isEqualTo(404);
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      // Method | what follows the path | type | body | code | what the Status says
      "PUT|/there|application/json|{'data':{}}|400|undeterminable: name must be provided",
      "POST|?fieldManager=LONG|application/json|{'metadata':{'name':'b'}}|422|Too long",
      "PATCH|/there?force=true|application/merge-patch+json|{}|422|for non-apply patch",
      "PATCH|/there?fieldManager=me|application/apply-patch+yaml|{'data':{}}|400|invalid object type",
      "PATCH|/new?fieldManager=me|application/apply-patch+yaml|{'kind':'ConfigMap'}|400"
          + "|undeterminable: name must be provided",
      "PATCH|/new?fieldManager=me|application/apply-patch+yaml"
          + "|{'kind':'ConfigMap','metadata':{'name':'new','uid':'u'}}|409|no existing object",
      "DELETE|/there?propagationPolicy=Orphan|application/json|{'orphanDependents':true}|422|both",
      "GET|?limit=1&resourceVersion=5&continue=CONTINUE|application/json||400"
          + "|not allowed when using continue",
      "GET|?timeoutSeconds=x|application/json||400|timeoutSeconds",
      "GET|?labelSelector=a/b/c|application/json||400|a valid label key"})
  void refusesWhatAClusterRefuses(String method, String path, String type, String body, int code,
      String says) {
    store.create(CONFIG_MAP, named("there"));
    store.create(CONFIG_MAP, named("too"));
    var token = tree(wire.get(MAPS + "?limit=1")).at("/metadata/continue").stringValue();

    var refused = wire.send(method,
        MAPS + path.replace("LONG", "m".repeat(129)).replace("CONTINUE", token), body,
        "Content-Type", type);

    assertThat(refused.statusCode()).isEqualTo(code);
    assertThat(tree(refused).get("message").stringValue()).contains(says);
    assertThat(store.list(CONFIG_MAP)).hasSize(2);
  }

  @Test
  void takesNegativeNumbersForNoLimitAndNoTime() {
    store.create(CONFIG_MAP, named("a"));

    assertThat(tree(wire.get(MAPS + "?limit=-1")).get("items")).hasSize(1);
    assertThat(wire.send("DELETE", MAPS + "/a?gracePeriodSeconds=-1", null).statusCode())
        .isEqualTo(200);
  }

  @Test
  void storesNothingEmptyInTheMetadata() {
    wire.post(MAPS, "{'metadata':{'name':'a','labels':{},'annotations':{'b':'c'}}}");

    var patched = tree(wire.patch(MAPS + "/a", MERGE,
        "{'metadata':{'annotations':{'b':null},'finalizers':[]}}")).get("metadata");

    assertThat(patched.has("labels")).isFalse();
    assertThat(patched.has("annotations")).isFalse();
    assertThat(patched.has("finalizers")).isFalse();
  }

  @Test
  void deletesOnePageOfACollection() {
    store.create(CONFIG_MAP, named("a"));
    store.create(CONFIG_MAP, named("b"));

    var page = tree(wire.send("DELETE", MAPS + "?limit=1", null));

    assertThat(page.at("/items/0/metadata/name").stringValue()).isEqualTo("a");
    assertThat(page.at("/metadata/continue").stringValue()).isNotEmpty();
    assertThat(store.list(CONFIG_MAP)).hasSize(1);
  }

  @Test
  void namesAnUnknownProgramAsTheManager() {
    var created = wire.send("POST", MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'}}",
        "Content-Type", "application/json", "User-Agent", "");

    assertThat(tree(created).at("/metadata/managedFields/0/manager").stringValue())
        .isEqualTo("unknown");
  }

  @Test
  void theActivatorItselfOwnsNoFields_andLeavesThoseOfOthers() {
    store.create(CONFIG_MAP, named("own"));
    wire.send("POST", MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'}}", "Content-Type",
        "application/json", "User-Agent", "kubectl/v1.36");
    wire.send("PATCH", MAPS + "/a", "{'data':{'k':'w'}}", "Content-Type", MERGE, "User-Agent",
        "activator");
    wire.send("PATCH", MAPS + "/own", "{'data':{'k':'w'}}", "Content-Type", MERGE, "User-Agent",
        "activator");

    var metadata = tree(wire.get(MAPS + "/a")).get("metadata");
    assertThat(metadata.at("/managedFields").size()).isEqualTo(1);
    assertThat(metadata.at("/managedFields/0/manager").stringValue()).isEqualTo("kubectl");
    assertThat(tree(wire.get(MAPS + "/own")).at("/data/k").stringValue()).isEqualTo("w");
    assertThat(tree(wire.get(MAPS + "/own")).at("/metadata").has("managedFields")).isFalse();
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
      "'renewTime':'2026-01-31T10:00:00.123000Z'|201",
      "'renewTime':'2026-01-31T12:00:00.123456+02:00'|201",
      "'renewTime':'2026-01-31T10:00:00Z'|422", "'renewTime':'2026-01-31T10:00:00.123Z'|422",
      "'renewTime':'yesterday'|422", "'leaseDurationSeconds':1,'leaseTransitions':0|201",
      "'leaseDurationSeconds':0|422", "'leaseTransitions':-1|422"})
  void leasesHaveTimesWithSixDecimalsAndPositiveNumbers(String spec, int code) {
    var created = wire.post("/apis/coordination.k8s.io/v1/namespaces/default/leases",
        "{'metadata':{'name':'a'},'spec':{" + spec + "}}");

    assertThat(created.statusCode()).isEqualTo(code);
  }

  @Test
  void answersAWriteWhenItHasHadItsEffect() {
    var effect = new CompletableFuture<Void>();
    var written = new CompletableFuture<Void>();
    store.onWritten(CONFIG_MAP, _ -> {
      written.complete(null);
      return effect;
    });

    var answer = CompletableFuture
        .supplyAsync(() -> wire.post(MAPS, "{'metadata':{'name':'slow'}}").statusCode());
    written.join();
    assertThat(store.find(CONFIG_MAP, "default", "slow")).isNotNull();
    assertThat(answer).isNotDone();

    effect.complete(null);
    assertThat(answer.join()).isEqualTo(201);
  }

  @Test
  void writesNothingOnTrial() {
    // given an object
    var stored = store.create(CONFIG_MAP, named("a"));
    long before = store.revision();
    String json = "application/json";

    // when everything that can be done is done on trial
    var put = wire.send("PUT", MAPS + "/a?dryRun=All", "{'metadata':{'name':'a'},'data':{'k':'v'}}",
        "Content-Type", json);
    var patch = wire.patch(MAPS + "/a?dryRun=All", MERGE, "{'data':{'k':'w'}}");
    var apply = wire.patch(MAPS + "/new?dryRun=All&fieldManager=me",
        "application/apply-patch+yaml",
        "{'kind':'ConfigMap','metadata':{'name':'new'},'data':{'k':'x'}}");
    var elsewhere = wire.post("/api/v1/namespaces/other/configmaps?dryRun=All",
        "{'metadata':{'name':'b'}}");
    var delete = wire.send("DELETE", MAPS + "/a", "{'dryRun':['All']}", "Content-Type", json);
    var all = wire.send("DELETE", MAPS + "?dryRun=All", null);
    var conflict = wire.post(MAPS + "?dryRun=All", "{'metadata':{'name':'a'}}");

    // then each answers as if it were done
    assertThat(List.of(put, patch, apply, elsewhere, delete, all, conflict)
        .stream().map(HttpResponse::statusCode)).containsExactly(200, 200, 201, 201, 200, 200, 409);
    assertThat(tree(put).at("/data/k").stringValue()).isEqualTo("v");
    assertThat(tree(patch).at("/data/k").stringValue()).isEqualTo("w");
    assertThat(tree(delete).get("status").stringValue()).isEqualTo("Success");
    // and nothing is
    assertThat(store.revision()).isEqualTo(before);
    assertThat(store.find(CONFIG_MAP, "default", "a")).isEqualTo(stored);
  }

  @Test
  @DisplayName("lets one of two who create the same name win")
  void letsOneOfTwoWin() {
    for (int i = 0; i < 20; i++) {
      String body = "{'metadata':{'name':'o" + i + "'}}";
      var codes = IntStream.range(0, 2)
          .mapToObj(_ -> CompletableFuture.supplyAsync(() -> wire.post(MAPS, body).statusCode()))
          .toList().stream().map(CompletableFuture::join).toList();

      assertThat(codes).containsExactlyInAnyOrder(201, 409);
    }
  }

  @Test
  @DisplayName("keeps the version of what a PUT does not change, without an event")
  void keepsTheVersionOfWhatDoesNotChange() {
    var created = wire.post(MAPS, "{'metadata':{'name':'a'},'data':{'k':'1'}}");
    try (var lines = wire.lines(MAPS + "?watch=1&resourceVersion=" + version(created))) {
      var same = wire.send("PUT", MAPS + "/a", created.body());
      var changed = wire.patch(MAPS + "/a", MERGE, "{'data':{'k':'2'}}");

      assertThat(same.body()).isEqualTo(created.body());
      assertThat(lines.next())
          .isEqualTo("{\"type\":\"MODIFIED\",\"object\":" + changed.body() + "}");
    }
  }

  @ParameterizedTest(name = "{0} gets {1}")
  @CsvSource({"services, 201", "endpoints, 201", "events, 201", "configmaps, 404", "pods, 404"})
  void createsByUpdateWhatMayBe(String plural, int code) {
    assertThat(wire.send("PUT", "/api/v1/namespaces/default/" + plural + "/a",
        "{'metadata':{'name':'a'}}").statusCode()).isEqualTo(code);
  }

  @Test
  @DisplayName("takes no strategic merge patch of kinds whose lists it does not know")
  void takesNoStrategicMergeOfExtensions() {
    store.create(POD_AUTOSCALER, named("a"));

    var response = wire.patch(scaled("a").replace("/scale", ""),
        "application/strategic-merge-patch+json", "{}");

    assertThat(response.statusCode()).isEqualTo(415);
    assertThat(tree(response).get("message").stringValue()).endsWith("accepted media types include:"
        + " application/json-patch+json, application/merge-patch+json,"
        + " application/apply-patch+yaml");
  }

  @Test
  @DisplayName("sends an event for each step of an object that waits for its finalizer")
  void reportsEachStepOfAFinalizer() {
    // given an object with a finalizer, and a watch
    var created = wire.post(DEPLOYMENTS, "{'metadata':{'name':'a','finalizers':['x/y']}}");
    try (var lines = wire.lines(DEPLOYMENTS + "?watch=1&resourceVersion=" + version(created))) {
      // when it is deleted
      var deleted = wire.send("DELETE", DEPLOYMENTS + "/a", null);

      // then it stays, marked, with one generation more
      var metadata = tree(deleted).get("metadata");
      assertThat(metadata.has("deletionTimestamp")).isTrue();
      assertThat(metadata.get("deletionGracePeriodSeconds").intValue()).isZero();
      assertThat(metadata.get("generation").intValue()).isEqualTo(2);
      assertThat(lines.next()).isEqualTo(event("MODIFIED", deleted.body()));

      // when it is deleted again, nothing happens; and new finalizers are refused
      assertThat(wire.send("DELETE", DEPLOYMENTS + "/a", null).body()).isEqualTo(deleted.body());
      assertThat(wire.patch(DEPLOYMENTS + "/a", MERGE, "{'metadata':{'finalizers':['x/y','z']}}")
          .statusCode()).isEqualTo(422);
      assertThat(wire.post(DEPLOYMENTS, "{'metadata':{'name':'a'}}").body())
          .contains("object is being deleted: ");

      // when its finalizer goes, so does it, and the answer has the version it had
      var last = wire.patch(DEPLOYMENTS + "/a", MERGE, "{'metadata':{'finalizers':null}}");
      assertThat(version(last)).isEqualTo(version(deleted));
      var gone = Json.MAPPER.readTree(lines.next());
      assertThat(gone.get("type").stringValue()).isEqualTo("DELETED");
      assertThat(gone.at("/object/metadata/resourceVersion").stringValue())
          .isEqualTo(Long.toString(store.revision())).isNotEqualTo(version(deleted));
      assertThat(wire.get(DEPLOYMENTS + "/a").statusCode()).isEqualTo(404);
    }
  }

  @Test
  @DisplayName("deletes only the object that is meant")
  void deletesOnlyWhatIsMeant() {
    var created = wire.post(MAPS, "{'metadata':{'name':'a'}}");
    String json = "application/json";

    assertThat(wire.send("DELETE", MAPS + "/a", "{'preconditions':{'resourceVersion':'1'}}",
        "Content-Type", json).statusCode()).isEqualTo(409);
    assertThat(wire.send("DELETE", MAPS + "/a", "{'preconditions':{'resourceVersion':'"
        + version(created) + "','uid':'" + ObjectMeta.uid(tree(created)) + "'},'propagationPolicy':"
        + "'Foreground','gracePeriodSeconds':30}", "Content-Type", json).statusCode())
        .isEqualTo(200);
  }

  @Test
  @DisplayName("gives a name that is used again another identity")
  void givesANameUsedAgainAnotherIdentity() {
    var first = wire.post(MAPS, "{'metadata':{'name':'a'}}");
    try (var lines = wire.lines(MAPS + "?watch=1&resourceVersion=" + version(first))) {
      wire.send("DELETE", MAPS + "/a", null);
      var second = wire.post(MAPS, "{'metadata':{'name':'a'}}");

      assertThat(ObjectMeta.uid(tree(second))).isNotEqualTo(ObjectMeta.uid(tree(first)));
      assertThat(lines.next()).startsWith("{\"type\":\"DELETED\"");
      assertThat(lines.next()).isEqualTo(event("ADDED", second.body()));
    }
  }

  @Test
  @DisplayName("counts changes of the spec, and not of status, labels or nothing")
  void countsGenerations() {
    wire.post(DEPLOYMENTS, "{'metadata':{'name':'d','generation':9},'spec':{'replicas':1}}");

    assertThat(generation(wire.patch(DEPLOYMENTS + "/d", MERGE, "{'spec':{'replicas':2}}")))
        .isEqualTo(2);
    assertThat(generation(wire.patch(DEPLOYMENTS + "/d/status", MERGE,
        "{'spec':{'replicas':7},'status':{'replicas':1}}"))).isEqualTo(2);
    assertThat(generation(wire.patch(DEPLOYMENTS + "/d", MERGE,
        "{'metadata':{'labels':{'a':'b'}},'status':{'replicas':5}}"))).isEqualTo(2);
    var last = wire.patch(DEPLOYMENTS + "/d", MERGE, "{'spec':{'replicas':2}}");
    assertThat(generation(last)).isEqualTo(2);
    assertThat(tree(last).at("/spec/replicas").intValue()).isEqualTo(2);
    assertThat(tree(last).at("/status/replicas").intValue()).isEqualTo(1);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"deployments", "podautoscalers"})
  void scales(String plural) {
    // given an object
    store.create(DEPLOYMENT, with("{'spec':{'replicas':1,'selector':{'matchLabels':{'a':'b'}}}}"));
    store.create(POD_AUTOSCALER, with("{'spec':{'replicas':1}}"));
    String path = plural.equals("deployments") ? DEPLOYMENTS + "/d/scale" : scaled("d");

    // when it is scaled as kubectl does, and as clients with types do
    var patched = wire.patch(path, MERGE, "{'spec':{'replicas':3}}");
    var put = wire.send("PUT", path, patched.body().replace("\"replicas\":3", "\"replicas\":4"));

    // then each answers with a Scale, and the object has it
    for (var answer : List.of(patched, put, wire.get(path))) {
      assertThat(tree(answer).get("kind").stringValue()).isEqualTo("Scale");
      assertThat(tree(answer).get("apiVersion").stringValue()).isEqualTo("autoscaling/v1");
    }
    assertThat(tree(wire.get(path)).at("/spec/replicas").intValue()).isEqualTo(4);
    assertThat(tree(wire.get(path.replace("/scale", ""))).at("/spec/replicas").intValue())
        .isEqualTo(4);
    // and a stale one, or what is none, is refused
    assertThat(wire.send("PUT", path, patched.body()).statusCode()).isEqualTo(409);
    assertThat(wire.send("PUT", path, "{'kind':'Deployment'}").statusCode()).isEqualTo(400);
    assertThat(wire.patch(path, MERGE, "{'spec':{'replicas':-1}}").statusCode()).isEqualTo(422);
    assertThat(wire.patch(path, MERGE, "{'spec':{'replicas':'x'}}").statusCode()).isEqualTo(422);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
      "{'labels':{'version':'my great version'}} | spec.template.labels | a valid label must be",
      "{'labels':{'bad name':'a'}} | spec.template.labels | name part must consist of",
      "{'annotations':{'bad name':'a'}} | spec.template.annotations | name part must consist of"})
  void refusesATemplateWhosePodsWouldBeRefused(String metadata, String field, String why) {
    var refused = wire.post(DEPLOYMENTS, "{'metadata':{'name':'d'},'spec':{'template':{'metadata':"
        + metadata + "}}}");

    assertThat(refused.statusCode()).isEqualTo(422);
    assertThat(tree(refused).at("/details/causes/0/field").stringValue()).isEqualTo(field);
    assertThat(tree(refused).at("/details/causes/0/message").stringValue()).contains(why);
  }

  @Test
  void refusesAStatusOfTheWrongType() {
    store.create(DEPLOYMENT, with("{'spec':{},'status':{'replicas':1}}"));
    String path = DEPLOYMENTS + "/d/status";

    for (var status : List.of("{'conditions':'x'}", "{'replicas':'x'}", "{'readyReplicas':{}}")) {
      assertThat(wire.patch(path, MERGE, "{'status':" + status + "}").statusCode()).isEqualTo(422);
      assertThat(wire.send("PUT", path, "{'metadata':{'name':'d'},'status':" + status + "}")
          .statusCode()).isEqualTo(422);
    }

    assertThat(tree(wire.get(path)).path("status")).isEqualTo(parse("{'replicas':1}"));
  }

  @Test
  void aClientThatCreatesAPodDoesNotOwnItsStatus() {
    String pods = "/api/v1/namespaces/default/pods";
    wire.post(pods, "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c'}]}}");

    var applied = wire.patch(pods + "/p/status?fieldManager=node",
        "application/apply-patch+yaml", "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},"
            + "'status':{'phase':'Running'}}");

    assertThat(applied.statusCode()).as(applied.body()).isEqualTo(200);
    assertThat(tree(applied).at("/status/phase").stringValue()).isEqualTo("Running");
  }

  /** In a cluster, too: the zero is omitted in a Scale, so nobody owns it. */
  @Test
  void aServerSideApplyConflictsWithAScaleUnlessThatIsZero() {
    String apply = "application/apply-patch+yaml";
    String path = DEPLOYMENTS + "/d";
    String config = "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d'},"
        + "'spec':{'replicas':1,'paused':true}}";
    wire.patch(path + "?fieldManager=ci", apply, config);

    wire.patch(path + "/scale?fieldManager=scaler", MERGE, "{'spec':{'replicas':5}}");
    assertThat(wire.patch(path + "?fieldManager=ci", apply, config).statusCode()).isEqualTo(409);

    var zero = wire.patch(path + "/scale?fieldManager=scaler", MERGE, "{'spec':{'replicas':0}}");
    assertThat(tree(zero).path("spec")).isEqualTo(parse("{}"));
    assertThat(tree(wire.get(path)).at("/metadata/managedFields").toString()).contains("f:paused")
        .doesNotContain("f:replicas");
    var woken = wire.patch(path + "?fieldManager=ci", apply, config);
    assertThat(woken.statusCode()).isEqualTo(200);
    assertThat(tree(woken).at("/spec/replicas").intValue()).isEqualTo(1);
  }

  private static String scaled(String name) {
    return "/apis/autoscaling.internal.knative.dev/v1alpha1/namespaces/default/podautoscalers/"
        + name + "/scale";
  }

  private static tools.jackson.databind.node.ObjectNode with(String content) {
    var object = parse(content);
    object.setAll(named("d"));
    return object;
  }

  private static String event(String type, String object) {
    return "{\"type\":\"" + type + "\",\"object\":" + object + "}";
  }

  private static String version(HttpResponse<String> response) {
    return ObjectMeta.resourceVersion(tree(response));
  }

  private static int generation(HttpResponse<String> response) {
    return tree(response).at("/metadata/generation").intValue();
  }

  private static JsonNode tree(HttpResponse<String> response) {
    return Json.MAPPER.readTree(response.body());
  }

  @Test
  void deletesNoCollection_whenItsPreconditionFails() {
    wire.post(MAPS, "{'metadata':{'name':'a'}}");
    String json = "application/json";

    assertThat(wire.send("DELETE", MAPS, "{'preconditions':{'uid':'other'}}", "Content-Type", json)
        .statusCode()).isEqualTo(409);
    assertThat(wire.get(MAPS + "/a").statusCode()).isEqualTo(200);
    assertThat(wire.send("DELETE", MAPS, "{}", "Content-Type", json).statusCode()).isEqualTo(200);
    assertThat(wire.get(MAPS + "/a").statusCode()).isEqualTo(404);
  }

  @Test
  void leavesAloneWhatWasCreatedAgainUnderAName() {
    // given an object as it was seen, and another by the same name since
    var seen = WatchCacheObject.of(CONFIG_MAP, store.create(CONFIG_MAP, named("a")));
    store.delete(CONFIG_MAP, "default", "a");
    store.create(CONFIG_MAP, named("a"));

    new ApiDeleteHandler.Options(DeleteOptions.NONE, store.writes()).apply(store,
        CONFIG_MAP, seen);

    assertThat(store.find(CONFIG_MAP, "default", "a")).isNotNull();
  }
}
