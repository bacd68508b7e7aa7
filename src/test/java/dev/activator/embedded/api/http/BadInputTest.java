package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.Json;
import dev.activator.testing.EmbeddedApi;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What nobody should send: each is refused with a Status, and the server goes on. */
class BadInputTest {
  private static final String MAPS = "/api/v1/namespaces/default/configmaps";
  private static final String JSON = "application/json";
  private static final String YAML = "application/yaml";
  private static final int LIMIT = 3 * 1024 * 1024;

  @AutoClose
  private static EmbeddedApi api;
  @AutoClose
  private static Wire wire;

  @BeforeAll
  static void start() {
    api = EmbeddedApi.start();
    wire = new Wire(api.url(), api.port());
    api.store().create(CONFIG_MAP, named("there"));
  }

  @AfterEach
  void goesOn() {
    assertThat(wire.get("/livez").statusCode()).isEqualTo(200);
    assertThat(api.store().list(CONFIG_MAP)).hasSize(1);
  }

  /** A body, and how it is refused. */
  record Body(String what, String type, String text, int code, String reason, String says) {
    @Override
    public String toString() {
      return what;
    }
  }

  static Stream<Body> bodies() {
    return Stream.of(bad("JSON that ends early", "{", "Unexpected end-of-input"),
        bad("JSON that goes on", "{}{}", "Trailing token"),
        bad("a name twice", "{'metadata':{'name':'a','name':'b'}}", "Duplicate Object property"),
        bad("nothing", "", "the body is not an object"),
        bad("a list", "[]", "the body is not an object"),
        bad("a text", "'x'", "the body is not an object"),
        bad("deep nesting", "[".repeat(5_000), "nesting depth (501) exceeds"),
        bad("deep nesting below a field", "{'a':" + "[".repeat(5_000), "nesting depth (501)"),
        bad("a number out of range", "{'metadata':{'name':'a'},'x':1e400}", "number out of range"),
        bad("no number", "{'metadata':{'name':'a'},'x':NaN}", "Non-standard token"),
        bad("another kind", "{'kind':'Secret','metadata':{'name':'a'}}",
            "Secret in version \"\" cannot be handled as a ConfigMap of v1"),
        bad("another version", "{'apiVersion':'v2','metadata':{'name':'a'}}",
            "version \"v2\" cannot be handled as a ConfigMap of v1"),
        bad("a kind that is no text", "{'kind':5}", "kind must be a string"),
        bad("metadata that is a text", "{'metadata':'x'}", "metadata of the object"),
        wrong("a name that is a number", "{'metadata':{'name':5}}",
            "metadata.name: Invalid value: 5: must be a string"),
        wrong("a version that is a number", "{'metadata':{'name':'a','resourceVersion':5}}",
            "metadata.resourceVersion: Invalid value: 5: must be a string"),
        wrong("labels that are a list", "{'metadata':{'name':'a','labels':[]}}",
            "metadata.labels: Invalid value: []: must be an object"),
        wrong("a label that is a number", "{'metadata':{'name':'a','labels':{'l':1}}}",
            "metadata.labels.l: Invalid value: 1: must be a string; quote it: \"1\""),
        wrong("finalizers that are a text", "{'metadata':{'name':'a','finalizers':'x'}}",
            "metadata.finalizers: Invalid value: \"x\": must be a list"),
        wrong("owners that are texts", "{'metadata':{'name':'a','ownerReferences':['x']}}",
            "metadata.ownerReferences[0]: Invalid value: \"x\": must be an object"),
        wrong("an owner without a uid",
            "{'metadata':{'name':'a','ownerReferences':[{'apiVersion':'v1','kind':'K','name':'n'}]}}",
            "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"),
        wrong("two controllers", "{'metadata':{'name':'a','ownerReferences':["
            + "{'apiVersion':'v1','kind':'K','name':'n','uid':'u','controller':true},"
            + "{'apiVersion':'v1','kind':'K','name':'m','uid':'v','controller':true}]}}",
            "only one reference can have controller set to true, but n and m have"),
        wrong("a finalizer without a domain", "{'metadata':{'name':'a','finalizers':['x']}}",
            "metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard finalizer"),
        new Body("no name", JSON, "{}", 422, "Invalid", "name or generateName is required"),
        new Body("YAML that expands", YAML, "metadata: {name: a}\na: &a [x,x]\nb: &b [*a,*a]\n",
            400, "BadRequest", "YAML aliases are not supported, found one at line 3"),
        new Body("two YAML documents", YAML, "metadata: {name: a}\n---\nmetadata: {name: b}\n",
            400, "BadRequest", "Trailing token"),
        new Body("a YAML key twice", YAML, "metadata: {name: a}\nx: 1\nx: 2\n", 400, "BadRequest",
            "Duplicate"),
        new Body("no YAML", YAML, "a: [", 400, "BadRequest", "the body cannot be read"),
        new Body("deep YAML", YAML, "[".repeat(5_000), 400, "BadRequest", "nesting depth (501)"),
        new Body("text/plain", "text/plain", "{}", 415, "UnsupportedMediaType", "unknown format"),
        new Body("a type that is none", "x", "{}", 415, "UnsupportedMediaType", "unknown format"));
  }

  private static Body wrong(String what, String text, String says) {
    return new Body(what, JSON, text, 422, "Invalid", says);
  }

  private static Body bad(String what, String text, String says) {
    return new Body(what, JSON, text, 400, "BadRequest", says);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bodies")
  void refusesBodies(Body body) {
    var response = wire.send("POST", MAPS, body.text(), "Content-Type", body.type());

    assertRefused(response, body.code(), body.reason(), body.says());
  }

  @Test
  void refusesTextThatIsNotUtf8() throws Exception {
    byte[] body = {'{', '"', 'a', '"', ':', '"', (byte) 0xC3, '(', '"', '}'};
    var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create(api.url() + MAPS))
        .header("Content-Type", JSON).POST(BodyPublishers.ofByteArray(body)).build();

    assertRefused(wire.client().send(request, HttpResponse.BodyHandlers.ofString()), 400,
        "BadRequest", "Invalid UTF-8");
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
      "GET|/api/v1/nothing|404|NotFound|requested resource",
      "GET|/apis/nowhere/v1/pods|404|NotFound|requested resource",
      "GET|/apis/apps/v2/deployments|404|NotFound|requested resource",
      "PUT|/api/v1/watch/pods|405|MethodNotAllowed|this method",
      "GET|/api/v1/watch/namespaces/default/pods/p/log|404|NotFound|requested resource",
      "GET|/api/v1/namespaces/default/configmaps/there/status|404|NotFound|requested resource",
      "PUT|/api/v1/namespaces/default/configmaps/there/x|404|NotFound|requested resource",
      "PUT|/api/v1/namespaces/default/pods/p/log|405|MethodNotAllowed|this method",
      "POST|/api/v1/namespaces/default/pods/p/attach|405|MethodNotAllowed|does not offer 'attach'",
      "POST|/api/v1/namespaces/default/configmaps/there|405|MethodNotAllowed|this method",
      "PUT|/api/v1/namespaces/default/configmaps|405|MethodNotAllowed|this method",
      "POST|/api/v1/configmaps|405|MethodNotAllowed|this method",
      "DELETE|/api/v1/configmaps|405|MethodNotAllowed|this method",
      "DELETE|/api/v1/namespaces|405|MethodNotAllowed|this method",
      "DELETE|/apis/apps/v1/namespaces/default/deployments/d/scale|405|MethodNotAllowed|method",
      "POST|/version|405|MethodNotAllowed|this method",
      "OPTIONS|/api/v1/pods|405|MethodNotAllowed|this method",
      "JUMP|/api/v1/pods|405|MethodNotAllowed|this method",
      "GET|/api/v1/pods?labelSelector=a%20in|400|BadRequest|unable to parse requirement",
      "GET|/api/v1/pods?labelSelector=a%3Db%3Dc&watch=1|400|BadRequest|parse requirement",
      "GET|/api/v1/pods?fieldSelector=a|400|BadRequest|invalid selector: 'a'",
      "GET|/api/v1/pods?fieldSelector=spec.x%3D1|400|BadRequest"
          + "|\"spec.x\" is not a known field selector: only \"metadata.name\"",
      "GET|/api/v1/pods?continue=abc|400|BadRequest|invalid continue token",
      "GET|/api/v1/pods?continue=%25|400|BadRequest|invalid continue token",
      "GET|/api/v1/pods?resourceVersion=-1|400|BadRequest|Invalid value: \"-1\"",
      "GET|/api/v1/pods?resourceVersion=9223372036854775808|400|BadRequest|Invalid value",
      "GET|/api/v1/pods?resourceVersion=abc&watch=1|400|BadRequest|Invalid value: \"abc\"",
      "GET|/api/v1/pods?limit=abc|400|BadRequest|'limit' is not a number: \"abc\"",
      "GET|/api/v1/pods?limit=--1|400|BadRequest|'limit' is not a number: \"--1\"",
      "GET|/api/v1/pods?watch=1&timeoutSeconds=x|400|BadRequest|'timeoutSeconds' is not a number",
      "GET|/api/v1/pods?resourceVersionMatch=New&resourceVersion=1|422|Invalid|Unsupported value",
      "DELETE|/api/v1/namespaces/default/configmaps/there?dryRun=Some|422|Invalid|dryRun",
      "DELETE|/api/v1/namespaces/default/configmaps/there?propagationPolicy=x|422|Invalid"
          + "|propagationPolicy: Unsupported value: \"x\"",
      "DELETE|/api/v1/namespaces/default|403|Forbidden|this namespace may not be deleted"})
  void refusesPathsVerbsAndParameters(String method, String path, int code, String reason,
      String says) {
    assertRefused(wire.send(method, path, null), code, reason, says);
  }

  @Test
  void refusesPortForward_whenAClientSpeaksAnotherProtocolThanKubectl() {
    api.store().create(POD, named("p"));

    assertThat(wire.rawAnswer("GET /api/v1/namespaces/default/pods/p/portforward?ports=80 HTTP/1.1"
        + "\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        + "Sec-WebSocket-Protocol: v4.channel.k8s.io, v4.base64.channel.k8s.io\r\n\r\n"))
        .startsWith("HTTP/1.1 405 ").contains("does not offer v4.channel.k8s.io,"
            + " v4.base64.channel.k8s.io: use SPDY/3.1+portforward.k8s.io");
  }

  @ParameterizedTest(name = "{0} of {1}")
  @CsvSource(delimiter = '|', value = {"merge-patch+json|[]|400", "merge-patch+json|'x'|400",
      "merge-patch+json|{'metadata':5}|400", "merge-patch+json|{'kind':'Secret'}|400",
      "merge-patch+json|{'metadata':{'name':'b'}}|400",
      "merge-patch+json|{'metadata':{'namespace':'b'}}|400",
      "merge-patch+json|{'metadata':{'resourceVersion':'1'}}|409",
      "merge-patch+json|{'metadata':{'uid':'x'}}|422", "json-patch+json|{}|400",
      "json-patch+json|[{'op':'jump','path':'/a'}]|400",
      "json-patch+json|[{'op':'remove','path':'/nothing'}]|422",
      "json-patch+json|[{'op':'replace','path':'','value':1}]|400",
      "strategic-merge-patch+json|[]|400", "apply-patch+yaml|{}|422", "x-patch|{}|415"})
  void refusesPatches(String type, String patch, int code) {
    var response = wire.patch(MAPS + "/there", "application/" + type, patch);

    assertThat(response.statusCode()).as(response.body()).isEqualTo(code);
  }

  @Test
  void refusesPatchesThatMakeMuchOutOfLittle() {
    // given one that doubles what is there fifty times, and one that nests it ever deeper
    var doubling = new StringBuilder("[{'op':'add','path':'/data','value':{'a':'x'}}");
    var nesting = new StringBuilder("[{'op':'add','path':'/n','value':{'a':1}}");
    for (int i = 0; i < 50; i++) {
      doubling.append(",{'op':'copy','from':'/data','path':'/data/k").append(i).append("'}");
    }
    for (int i = 0; i < 2_000; i++) {
      nesting.append(",{'op':'add','path':'/m','value':{}},{'op':'move','from':'/n','path':'/m/n'}")
          .append(",{'op':'move','from':'/m','path':'/n'}");
    }

    for (var patch : new StringBuilder[]{doubling, nesting}) {
      assertRefused(wire.patch(MAPS + "/there", "application/json-patch+json", patch + "]"), 422,
          "Invalid", "the server rejected our request due to an error in our request");
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"{'dryRun': 'All'}", "{'preconditions': 'x'}",
      "{'preconditions': {'uid': 7}}", "{'gracePeriodSeconds': 'x'}", "{'propagationPolicy': 1}",
      "{'kind': 'Pod', 'apiVersion': 'v1'}"}, quoteCharacter = '"')
  void deletesNothingOnAnOrderThatItDoesNotUnderstand(String options) {
    assertThat(wire.send("DELETE", MAPS + "/there", options, "Content-Type", JSON).statusCode())
        .isEqualTo(400);
    assertThat(wire.send("DELETE", MAPS, options, "Content-Type", JSON).statusCode())
        .isEqualTo(400);

    assertThat(wire.get(MAPS + "/there").statusCode()).isEqualTo(200);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"/version?x", "/api/v1/pods?pretty", "/api/v1/pods?limit"})
  void takesAParameterWithoutAValueForAnEmptyOne(String path) {
    assertThat(wire.get(path).statusCode()).isEqualTo(200);
  }

  @Test
  void refusesBodiesThatAreTooLargeHoweverTheyCome() {
    // given more than is taken, with its length, in chunks, and with a length that is a lie
    String large = "x".repeat(LIMIT + 1);
    String head = "POST " + MAPS + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + JSON + "\r\n";

    assertRefused(wire.post(MAPS, large), 413, "RequestEntityTooLarge", "larger than 3145728");
    assertThat(wire.rawAnswer(head + "Transfer-Encoding: chunked\r\n\r\n"
        + Integer.toHexString(large.length()) + "\r\n" + large + "\r\n0\r\n\r\n"))
        .startsWith("HTTP/1.1 413 ").contains("\"code\":413");
    assertThat(wire.rawAnswer(head + "Content-Length: 999999999\r\n\r\n" + large))
        .startsWith("HTTP/1.1 413 ").contains("\"code\":413");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"/%zz", "/api/v1/pods?labelSelector=%z", "/api/v1/pods?\"",
      "/\\"})
  void refusesUnreadablePaths(String path) {
    String answer = wire
        .rawAnswer("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

    assertThat(answer).startsWith("HTTP/1.1 400 ").contains("Content-Type: application/json")
        .contains("the path or the query cannot be read");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"nonsense\\r\\n\\r\\n",
      "POST /api/v1/pods HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: x\\r\\n\\r\\n",
      "GET\\r\\n\\r\\n"})
  void outlivesWhatIsNotHttp(String text) {
    assertThat(wire.raw(text.replace("\\r\\n", "\r\n"))).doesNotContain(" 200 ");
  }

  @ParameterizedTest(name = "{0} gets {1}")
  @CsvSource(delimiter = '|', value = {"Host: localhost|200", "Host: 127.0.0.1:PORT|200",
      "Host: [::1]:PORT|200", "Host: localhost:1|403", "Host: evil.example|403", "Host: |403",
      "X: y|403", "Host: localhost\\r\\nHost: evil.example|403",
      "Host: localhost\\r\\nOrigin: http://evil.example|403",
      "Host: localhost\\r\\nOrigin: null|403",
      "Host: localhost\\r\\nOrigin: http://127.0.0.1:PORT|200",
      "Host: localhost\\r\\nOrigin: http://localhost:3000|403"})
  void answersOnlyCallersOnThisMachine(String headers, int code) {
    String line = wire.raw("GET /version HTTP/1.1\r\n"
        + headers.replace("\\r\\n", "\r\n").replace("PORT", String.valueOf(wire.port()))
        + "\r\nConnection: close\r\n\r\n");

    assertThat(line).startsWith("HTTP/1.1 " + code + " ");
  }

  @Test
  @DisplayName("passes over an offer of HTTP/2 in clear text")
  void staysWithPlainHttpWhenOfferedTwo() {
    String line = wire.raw("GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade,"
        + " HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n");

    assertThat(line).startsWith("HTTP/1.1 200 ");
  }

  private static void assertRefused(HttpResponse<String> response, int code, String reason,
      String says) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(code);
    assertThat(response.headers().firstValue("Content-Type")).hasValue(JSON);
    var status = Json.MAPPER.readTree(response.body());
    assertThat(status.get("kind").stringValue()).isEqualTo("Status");
    assertThat(status.get("code").intValue()).isEqualTo(code);
    assertThat(status.get("reason").stringValue()).isEqualTo(reason);
    assertThat(status.get("message").stringValue()).contains(says);
  }

  @Test
  void quotesNoMoreOfABodyThanHelps() {
    String name = " ".repeat(49_000);

    var response = wire.post(MAPS, "{'" + name + "':1,'" + name + "':2}");

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("Duplicate Object property").hasSizeLessThan(700);
  }
}
