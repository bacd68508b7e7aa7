package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.parse;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.DEPLOYMENT;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static dev.activator.embedded.api.store.BuiltInKinds.EVENT;
import static dev.activator.embedded.api.store.BuiltInKinds.LEASE;
import static dev.activator.embedded.api.store.BuiltInKinds.POD;
import static dev.activator.embedded.api.store.BuiltInKinds.REVISION;
import static dev.activator.embedded.api.store.BuiltInKinds.SECRET;
import static dev.activator.embedded.api.store.BuiltInKinds.SERVICE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.testing.EmbeddedApi;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** In what form clients get what they ask for. */
class NegotiationTest {
  private static final String MAPS = "/api/v1/namespaces/default/configmaps";
  private static final String TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
  private static final String DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;"
      + "as=APIGroupDiscoveryList";

  @AutoClose
  private static EmbeddedApi api;
  @AutoClose
  private static Wire wire;

  @BeforeAll
  static void start() {
    api = EmbeddedApi.start();
    wire = new Wire(api.url(), api.port());
    api.store().create(CONFIG_MAP, with(named("a"), "k", "v"));
  }

  @ParameterizedTest(name = "{0} gets {1} {2}")
  @CsvSource(delimiter = '|', value = {
      "application/vnd.kubernetes.protobuf,application/json|200|ConfigMapList",
      "application/json, */*|200|ConfigMapList", "*/*|200|ConfigMapList",
      "application/*|200|ConfigMapList", "text/html, */*;q=0.1|200|ConfigMapList",
      TABLE + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json|200|Table",
      "application/json;as=Table;v=v9;g=meta.k8s.io,application/json|200|ConfigMapList",
      "application/json;as=Other;v=v1;g=meta.k8s.io,application/json|200|ConfigMapList",
      "application/json,application/json;as=Table;v=v1;g=meta.k8s.io|200|ConfigMapList",
      "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json|200"
          + "|PartialObjectMetadataList",
      "application/vnd.kubernetes.protobuf|406|Status", "text/html|406|Status",
      "application/json;q=0|406|Status", "application/json;as=Table;v=v9;g=meta.k8s.io|406|Status"})
  void givesTheFirstFormThatIsAcceptedAndThatItHas(String accept, int code, String kind) {
    var response = wire.get(MAPS, "Accept", accept);

    assertThat(response.statusCode()).isEqualTo(code);
    assertThat(tree(response).get("kind").stringValue()).isEqualTo(kind);
    assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
  }

  @ParameterizedTest(name = "{0} of {1} gets {2}")
  @CsvSource(delimiter = '|', value = {"POST|application/vnd.kubernetes.protobuf|400",
      "POST|application/cbor|415", "PUT|application/vnd.kubernetes.protobuf|400",
      "DELETE|application/vnd.kubernetes.protobuf|400", "DELETE|application/cbor|404"})
  void takesBodiesInTheFormatsThatItNames(String method, String type, int code) {
    String path = method.equals("POST") ? MAPS : MAPS + "/none";

    var response = wire.send(method, path, "k8s", "Content-Type", type);

    assertThat(response.statusCode()).isEqualTo(code);
    if (code == 415) {
      assertThat(response.body())
          .isEqualTo("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\""
              + ":{},\"status\":\"Failure\",\"message\":\"the body of the request was in an unknown"
              + " format - accepted media types include: application/json, application/yaml,"
              + " application/vnd.kubernetes.protobuf\","
              + "\"reason\":\"UnsupportedMediaType\",\"code\":415}");
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({"GET, /", "GET, /version", "GET, /api", "GET, /apis", "GET, /apis/apps",
      "GET, /apis/apps/v1", "GET, /openapi/v3", "GET, /readyz", "GET, /nothing",
      "GET, /api/v1/pods", "GET, /api/v1/pods?watch=1&timeoutSeconds=1", "POST, /api/v1/pods",
      "DELETE, /api/v1/namespaces/default/pods", "HEAD, /api/v1/pods", "PATCH, /version",
      "GET, /api/v1/pods?resourceVersion=x", "PUT, /api/v1/namespaces/default/configmaps/a"})
  void saysOfEverythingWhatTypeItIs(String method, String path) {
    assertThat(wire.send(method, path, null).headers().firstValue("Content-Type")).isPresent();
  }

  @Test
  void givesMetadataAlone() {
    String accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
    String lists = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    var metadata = api.store().find(CONFIG_MAP, "default", "a").get("metadata");
    String one = "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
        + "\"metadata\":" + metadata + "}";

    assertThat(wire.get(MAPS + "/a", "Accept", accept).body()).isEqualTo(one);
    assertThat(tree(wire.get(MAPS, "Accept", lists)).at("/items/0").toString()).isEqualTo(one);
    try (var lines = wire.lines(MAPS + "?watch=1", "Accept", accept)) {
      assertThat(lines.next()).isEqualTo("{\"type\":\"ADDED\",\"object\":" + one + "}");
    }
  }

  static Stream<Arguments> tables() {
    return Stream.of(
        row(CONFIG_MAP, "{'data':{'a':'1','b':'2'}}", "Name,Data,Age", "x,2,"),
        row(SECRET, "{'type':'kubernetes.io/tls','data':{'a':'1'}}", "Name,Type,Data,Age",
            "x,kubernetes.io/tls,1,"),
        row(SERVICE,
            "{'spec':{'clusterIP':'10.0.0.1','ports':[{'name':'a','port':80},{'name':'b','port':53,"
                + "'protocol':'UDP'}]}}",
            "Name,Type,Cluster-IP,External-IP,Port(s),Age,Selector",
            "x,ClusterIP,10.0.0.1,<none>,80/TCP;53/UDP,"),
        row(POD, "{'spec':{'containers':[{},{}]},'status':{'phase':'Running','containerStatuses':["
            + "{'ready':true,'restartCount':2},{'ready':false,'restartCount':1,'state':{'waiting':"
            + "{'reason':'CrashLoopBackOff'}}}]}}", "Name,Ready,Status,Restarts,Age,IP,Node",
            "x,1/2,CrashLoopBackOff,3,"),
        row(DEPLOYMENT, "{'spec':{'replicas':3},'status':{'readyReplicas':1,'updatedReplicas':2,"
            + "'availableReplicas':1}}",
            "Name,Ready,Up-to-date,Available,Age,Containers,Images,Selector", "x,1/3,2,1,"),
        row(LEASE, "{'spec':{'holderIdentity':'me'}}", "Name,Holder,Age", "x,me,"),
        row(REVISION, "{'status':{'actualReplicas':1,'desiredReplicas':2,'conditions':[{'type':"
            + "'Ready','status':'False','reason':'NoTraffic'}]}}",
            "Name,Config Name,Generation,Ready,Reason,Actual Replicas,Desired Replicas",
            "x,,,False,NoTraffic,1,2"),
        row(EVENT, "{'lastTimestamp':'x','type':'Warning','reason':'Failed','message':'it did',"
            + "'involvedObject':{'kind':'Pod','name':'p'}}",
            "Last Seen,Type,Reason,Object,Source,Message,First Seen,Count,Name",
            "<invalid>,Warning,Failed,pod/p,,it did,<unknown>,1,x"));
  }

  private static Arguments row(Kind kind, String content, String columns, String cells) {
    return Arguments.of(kind, content, columns, cells);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("tables")
  void showsTheColumnsThatPeopleKnow(Kind kind, String content, String columns, String cells) {
    // given an object with a status
    var object = parse(content);
    object.setAll(named("x"));
    api.store().create(kind, object);
    if (object.has("status")) {
      api.store().updateStatus(kind, "default", "x", stored -> stored.set("status",
          object.get("status")));
    }

    // when it is asked for as a table
    String prefix = kind.group().isEmpty() ? "/api/" : "/apis/";
    var table = tree(wire.get(prefix + kind.apiVersion() + "/" + kind.plural()
        + "?fieldSelector=metadata.name%3Dx", "Accept", TABLE));

    // then it has these columns and, but for the age, these cells
    assertThat(String.join(",", texts(table.get("columnDefinitions"), "name"))).isEqualTo(columns);
    var shown = table.at("/rows/0/cells").valueStream()
        .map(cell -> cell.asString("").replace(',', ';')).toList();
    assertThat(String.join(",", shown)).startsWith(cells);
  }

  @Test
  void reportsTheColumnsOfAWatchedTableOnce() {
    // given a watch as a table
    try (var lines = wire.lines("/api/v1/endpoints?watch=1", "Accept", TABLE)) {
      api.store().create(ENDPOINTS, named("one"));
      api.store().create(ENDPOINTS, named("two"));

      // then each event is a table of one row, and the columns come with the first
      var first = Json.MAPPER.readTree(lines.next()).get("object");
      var second = Json.MAPPER.readTree(lines.next()).get("object");
      assertThat(texts(first.get("columnDefinitions"), "name")).containsExactly("Name", "Endpoints",
          "Age");
      assertThat(first.at("/rows/0/object/metadata/name").stringValue()).isEqualTo("one");
      assertThat(second.get("columnDefinitions").size()).isZero();
      assertThat(second.at("/rows/0/cells/0").stringValue()).isEqualTo("two");
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"None, null", "Metadata, PartialObjectMetadata", "Object, ConfigMap"})
  void givesAsMuchOfEachObjectWithItsRowAsIsRequested(String include, String kind) {
    var table = tree(wire.get(MAPS + "?includeObject=" + include, "Accept", TABLE));

    assertThat(table.at("/rows/0/object").path("kind").asString("null")).isEqualTo(kind);
  }

  @Test
  void answersPlainDiscovery_whenClientPrefersTheAggregatedForm() {
    var core = wire.get("/api", "Accept", DISCOVERY + ",application/json");

    // client-go reads the form from exactly this type
    assertThat(core.headers().firstValue("Content-Type")).hasValue("application/json");
    assertThat(tree(core).get("kind").stringValue()).isEqualTo("APIVersions");
  }

  private static List<String> texts(JsonNode array, String field) {
    return array.valueStream().map(one -> one.get(field).stringValue()).toList();
  }

  private static JsonNode tree(HttpResponse<String> response) {
    return Json.MAPPER.readTree(response.body());
  }
}
