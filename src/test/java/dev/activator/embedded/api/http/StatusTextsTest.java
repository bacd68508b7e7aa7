package dev.activator.embedded.api.http;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.REVISION;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.EmbeddedApi;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a failure looks like, to the byte: clients take these apart. */
class StatusTextsTest {
  private static final String MAPS = "/api/v1/namespaces/default/configmaps";
  private static final String HEAD = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
      + "\"status\":\"Failure\",\"message\":";

  @AutoClose
  private static EmbeddedApi api;
  @AutoClose
  private static Wire wire;

  @BeforeAll
  static void start() {
    api = EmbeddedApi.start();
    wire = new Wire(api.url(), api.port());
    api.store().create(CONFIG_MAP, named("a"));
    api.store().create(REVISION, named("r"));
    var held = named("w");
    ObjectMeta.of(held).putArray("finalizers").add("x/y");
    api.store().create(CONFIG_MAP, held);
    api.store().delete(CONFIG_MAP, "default", "w");
  }

  @ParameterizedTest(name = "{0} {1} {3}")
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
      // what is not there
      "GET|/zzz||'configmaps \\'zzz\\' not found','reason':'NotFound','details':{'name':'zzz',"
          + "'kind':'configmaps'},'code':404}",
      "GET|/a/b/c/d||'the server could not find the requested resource','reason':'NotFound',"
          + "'details':{},'code':404}",
      "GET|REVISIONS/zzz||'revisions.serving.knative.dev \\'zzz\\' not found','reason':'NotFound',"
          + "'details':{'name':'zzz','group':'serving.knative.dev','kind':'revisions'},'code':404}",
      // what is there already
      "POST||{'metadata':{'name':'a'}}|'configmaps \\'a\\' already exists','reason':"
          + "'AlreadyExists','details':{'name':'a','kind':'configmaps'},'code':409}",
      "POST||{'metadata':{'name':'w'}}|'object is being deleted: configmaps \\'w\\' already"
          + " exists','reason':'AlreadyExists','details':{'name':'w','kind':'configmaps'},"
          + "'code':409}",
      // what changed meanwhile
      "PUT|/a|{'metadata':{'name':'a','resourceVersion':'1'}}|'Operation cannot be fulfilled on"
          + " configmaps \\'a\\': the object has been modified; please apply your changes to the"
          + " latest version and try again','reason':'Conflict','details':{'name':'a','kind':"
          + "'configmaps'},'code':409}",
      // what does not hold together
      "POST||{}|'ConfigMap \\'\\' is invalid: metadata.name: Required value: name or generateName"
          + " is required','reason':'Invalid','details':{'causes':[{'reason':'FieldValueRequired',"
          + "'message':'Required value: name or generateName is required','field':"
          + "'metadata.name'}],'name':'','kind':'ConfigMap'},'code':422}",
      "PUT|REVISIONS/r|{'metadata':{'name':'r'}}|'Revision.serving.knative.dev \\'r\\' is invalid:"
          + " metadata.resourceVersion: Invalid value: 0: must be specified for an update',"
          + "'reason':'Invalid','details':{'causes':[{'reason':'FieldValueInvalid','message':"
          + "'Invalid value: 0: must be specified for an update','field':"
          + "'metadata.resourceVersion'}],'name':'r','group':'serving.knative.dev','kind':"
          + "'Revision'},'code':422}",
      "PUT|/w|{'metadata':{'name':'w','finalizers':['x/y','x/z']}}|'ConfigMap \\'w\\' is invalid:"
          + " metadata.finalizers: Forbidden: no new finalizers can be added if the object is being"
          + " deleted, found new finalizers []string{\\'x/z\\'}','reason':'Invalid','details':"
          + "{'causes':[{'reason':'FieldValueForbidden','message':'Forbidden: no new finalizers can"
          + " be added if the object is being deleted, found new finalizers []string{\\'x/z\\'}',"
          + "'field':'metadata.finalizers'}],'name':'w','kind':'ConfigMap'},'code':422}",
      // what does not fit the path
      "POST||{'metadata':{'name':'b','namespace':'other'}}|'the namespace of the provided object"
          + " does not match the namespace sent on the request','reason':'BadRequest','code':400}",
      "PUT|/a|{'metadata':{'name':'b'}}|'the name of the object (b) does not match the name on the"
          + " URL (a)','reason':'BadRequest','code':400}",
      "PUT||{}|'the server does not allow this method on the requested resource','reason':"
          + "'MethodNotAllowed','code':405}",
      // what only the server says
      "POST||{'metadata':{'name':'b','resourceVersion':'5'}}|'resourceVersion should not be set on"
          + " objects to be created','code':500}",
      // what is asked of a list
      "GET|?resourceVersionMatch=Exact||'ListOptions.meta.k8s.io \\'\\' is invalid:"
          + " resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless"
          + " resourceVersion is provided','reason':'Invalid','details':{'group':'meta.k8s.io',"
          + "'kind':'ListOptions','causes':[{'reason':'FieldValueForbidden','message':'Forbidden:"
          + " resourceVersionMatch is forbidden unless resourceVersion is provided','field':"
          + "'resourceVersionMatch'}]},'code':422}",
      "GET|?fieldSelector=x%3D1||'\\'x\\' is not a known field selector: only \\'metadata.name\\',"
          + " \\'metadata.namespace\\'','reason':'BadRequest','code':400}",
      "GET|?resourceVersion=1&resourceVersionMatch=Exact||'The resourceVersion for the provided"
          + " list is too old.','reason':'Expired','code':410}"})
  void saysItAsAClusterDoes(String method, String path, String body, String expected) {
    String at = path == null ? "" : path;
    String url = at.startsWith("REVISIONS")
        ? at.replace("REVISIONS", "/apis/serving.knative.dev/v1/namespaces/default/revisions")
        : MAPS + at;

    var response = wire.send(method, url, body, "Content-Type", "application/json");

    assertThat(response.body())
        .isEqualTo(HEAD + expected.replace("\\'", "\\\"").replace('\'', '"'));
    assertThat(expected).endsWith("'code':" + response.statusCode() + "}");
  }

  @Test
  @DisplayName("names the uid that differs")
  void namesTheUidThatDiffers() {
    String uid = ObjectMeta.uid(api.store().list(CONFIG_MAP).getFirst());

    var response = wire.send("DELETE", MAPS + "/a", "{'preconditions':{'uid':'x'}}",
        "Content-Type", "application/json");

    assertThat(response.statusCode()).isEqualTo(409);
    assertThat(response.body())
        .contains("Operation cannot be fulfilled on configmaps \\\"a\\\": the"
            + " UID in the precondition (x) does not match the UID in record (" + uid
            + "). The object"
            + " might have been deleted and then recreated");
  }

  @Test
  @DisplayName("takes the names of Events that clients make with random letters of either case")
  void takesTheNamesOfEvents_thatClientsMakeWithRandomLettersOfEitherCase() {
    var event = "{'metadata':{'name':'%s'},'involvedObject':{'namespace':'default'}}";
    String events = "/api/v1/namespaces/default/events";

    assertThat(wire.post(events, event.formatted("pod.sv5NAMVoxeiL")).statusCode())
        .isEqualTo(201);
    assertThat(wire.post(events, event.formatted("a%b")).body()).contains("may not contain '%'");

    assertThat(wire.post(events, event.formatted("a:b c")).statusCode()).isEqualTo(201);
    assertThat(wire.get(events + "/a%3Ab%20c").body()).contains("\"name\":\"a:b c\"");
    assertThat(wire.send("DELETE", events + "/a%3Ab%20c", "").statusCode()).isEqualTo(200);
  }

  @Test
  @DisplayName("explains which names are allowed")
  void explainsWhichNamesAreAllowed() {
    assertThat(wire.post(MAPS, "{'metadata':{'name':'A_b'}}").body())
        .contains("ConfigMap \\\"A_b\\\" is invalid: metadata.name: Invalid value: \\\"A_b\\\": a"
            + " lowercase RFC 1123 subdomain must consist of")
        .contains("\"reason\":\"FieldValueInvalid\"", "\"field\":\"metadata.name\"",
            "\"code\":422");
  }

  @Test
  @DisplayName("distinguishes patches that do not apply from invalid ones")
  void refusesPatchesThatDoNotFit() {
    var response = wire.patch(MAPS + "/a", "application/json-patch+json",
        "[{'op':'test','path':'/kind','value':'x'}]");

    assertThat(response.statusCode()).isEqualTo(422);
    assertThat(response.body()).isEqualTo(HEAD + "\"the server rejected our request due to an error"
        + " in our request: the test at '/kind' failed\",\"reason\":\"Invalid\",\"code\":422}");
  }

  @Test
  @DisplayName("says with a failure that will pass when to come back")
  void saysWhenToComeBack() {
    long future = api.store().revision() + 1_000_000;

    var response = wire.get(MAPS + "?resourceVersion=" + future);

    assertThat(response.statusCode()).isEqualTo(504);
    assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(response.body()).startsWith(HEAD + "\"Timeout: Too large resource version: " + future
        + ", current: ").endsWith("\",\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"reason\":"
            + "\"ResourceVersionTooLarge\",\"message\":\"Too large resource version\"}],"
            + "\"retryAfterSeconds\":1},\"code\":504}");
  }
}
