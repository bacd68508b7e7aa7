package dev.activator.ext.picker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.ClusterAccess;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.testing.EmbeddedApi;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/** InferencePools in a Kubernetes API, over HTTP. */
class InferencePoolsTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String DEFINITION = "{'metadata':{'name':"
      + "'inferencepools.inference.networking.k8s.io'},'spec':{'group':"
      + "'inference.networking.k8s.io','scope':'Namespaced','names':{'kind':'InferencePool',"
      + "'plural':'inferencepools'},'versions':[{'name':'v1','served':true,'storage':true,"
      + "'subresources':{'status':{}}}]}}";
  private static final String POOLS = "/apis/inference.networking.k8s.io/v1/namespaces/ai/inferencepools";
  private static final String SERVICES = "/api/v1/namespaces/ai/services";
  private static final Instant NOW = Instant.parse("2026-11-29T12:00:00.5Z");

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  @AutoClose
  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
      .build();
  @AutoClose
  private final KubernetesSession session = KubernetesSession.open(
      new ClusterAccess.At(URI.create(api.url())), ReflectorSettings.DEFAULT, new Random(1));
  private volatile boolean leads = true;
  private final InferencePools pools = new InferencePools(session, "ai", "activator", () -> leads,
      () -> NOW, new Random(1));

  @BeforeEach
  void define() throws Exception {
    send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION);
    pools.start();
  }

  @AfterEach
  void stop() {
    pools.stop();
  }

  private HttpResponse<String> send(String method, String path, String body)
      throws IOException, InterruptedException {
    var type = method.equals("PATCH") ? "application/merge-patch+json" : "application/json";
    return client.send(HttpRequest.newBuilder(URI.create(api.url() + path))
        .header("Content-Type", type)
        .method(method, BodyPublishers.ofString(body.replace('\'', '"'))).build(),
        BodyHandlers.ofString());
  }

  private JsonNode get(String path) {
    try {
      var answer = send("GET", path, "");
      return answer.statusCode() == 200 ? JSON.readTree(answer.body()) : JSON.missingNode();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void create(String picker, String more) throws Exception {
    var answer = send("POST", POOLS, "{'metadata':{'name':'chat'},'spec':{'selector':{"
        + "'matchLabels':{'app':'vllm'}},'targetPorts':[{'number':8000},{'number':8001}],"
        + "'endpointPickerRef':{" + picker + ",'port':{'number':9002}}" + more + "}}");
    assertThat(answer.statusCode()).isEqualTo(201);
  }

  private JsonNode awaitParents(int number) {
    await().until(() -> get(POOLS + "/chat").at("/status/parents").size() == number);
    return get(POOLS + "/chat").at("/status/parents");
  }

  @Test
  void aPoolWithOurPickerGetsAServiceForItsPods_andAStatus() throws Exception {
    create("'name':'activator'", "");

    var parent = awaitParents(1).get(0);

    assertThat(parent.at("/controllerName").asString()).isEqualTo("activator.dev/endpoint-picker");
    assertThat(parent.at("/parentRef/kind").asString()).isEqualTo("Service");
    assertThat(parent.at("/conditions/0/type").asString()).isEqualTo("Accepted");
    assertThat(parent.at("/conditions/0/status").asString()).isEqualTo("True");
    assertThat(parent.at("/conditions/0/lastTransitionTime").asString())
        .isEqualTo("2026-11-29T12:00:00Z");
    var service = get(SERVICES + "/chat-pods");
    assertThat(service.at("/spec/clusterIP").asString()).isEqualTo("None");
    assertThat(service.at("/spec/selector/app").asString()).isEqualTo("vllm");
    assertThat(service.at("/spec/ports")).extracting(port -> port.path("name").asString()
        + " " + port.path("targetPort").asInt()).containsExactly("http-8000 8000",
            "http-8001 8001");
    assertThat(service.at("/metadata/ownerReferences/0/uid").asString())
        .isEqualTo(get(POOLS + "/chat").at("/metadata/uid").asString());
  }

  @Test
  void theServiceFollowsThePool_andTheEntriesOfOthersStay() throws Exception {
    create("'name':'activator'", ",'appProtocol':'kubernetes.io/h2c'");
    awaitParents(1);
    assertThat(get(SERVICES + "/chat-pods").at("/spec/ports/0/appProtocol").asString())
        .isEqualTo("kubernetes.io/h2c");
    var parents = JSON.createArrayNode();
    parents.add(JSON.readTree("{\"controllerName\":\"example.com/gateway\"}"));
    parents.addAll((ArrayNode) awaitParents(1));
    send("PATCH", POOLS + "/chat/status", "{'status':{'parents':" + parents + "}}");

    send("PATCH", POOLS + "/chat", "{'spec':{'selector':{'matchLabels':{'app':'other'}}}}");
    await().until(() -> get(SERVICES + "/chat-pods").at("/spec/selector/app").asString("")
        .equals("other"));

    send("PATCH", POOLS + "/chat", "{'spec':{'endpointPickerRef':{'name':'epp'}}}");
    var left = awaitParents(1);
    assertThat(left.at("/0/controllerName").asString()).isEqualTo("example.com/gateway");
  }

  @Test
  void aLabelThatThePoolNoLongerSelectsLeavesTheService() throws Exception {
    create("'name':'activator'", "");
    awaitParents(1);

    send("PATCH", POOLS + "/chat",
        "{'spec':{'selector':{'matchLabels':{'app':null,'model':'llama'}}}}");

    await().untilAsserted(() -> assertThat(get(SERVICES + "/chat-pods").at("/spec/selector"))
        .hasToString("{'model':'llama'}".replace('\'', '"')));
  }

  @Test
  void theServiceGoes_whenThePoolHasAnotherPicker_butNotThatOfAnotherActivator() throws Exception {
    create("'name':'activator'", "");
    awaitParents(1);
    send("POST", POOLS,
        "{'metadata':{'name':'theirs'},'spec':{'selector':{'matchLabels':{'a':'b'}},"
            + "'targetPorts':[{'number':80}],'endpointPickerRef':{'name':'other'}}}");
    send("POST", SERVICES, "{'metadata':{'name':'theirs-pods','labels':{"
        + "'activator.dev/endpoint-picker':'other'},'ownerReferences':[{'uid':'"
        + get(POOLS + "/theirs").at("/metadata/uid").asString() + "','name':'theirs','kind':"
        + "'InferencePool','apiVersion':'inference.networking.k8s.io/v1'}]},"
        + "'spec':{'ports':[{'port':80}]}}");

    send("PATCH", POOLS + "/chat", "{'spec':{'endpointPickerRef':{'name':'epp'}}}");

    await().until(() -> get(SERVICES + "/chat-pods").isMissingNode());
    assertThat(get(SERVICES + "/theirs-pods").isMissingNode()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"chat, chat-pods", "llama-3.1-8b, pool-llama-3-1-8b-c2d50fb9-pods",
      "7b, pool-7b-0000070b-pods"})
  void aServiceHasAValidName_whateverIsThatOfThePool(String pool, String service) {
    assertThat(InferencePoolJson.serviceName(pool(pool))).isEqualTo(service);
  }

  @Test
  void longNamesOfPoolsAreCut_andStayDifferent() {
    var stem = "a".repeat(252);

    var one = InferencePoolJson.serviceName(pool(stem + "b"));
    var other = InferencePoolJson.serviceName(pool(stem + "c"));

    assertThat(one).hasSize(63).isNotEqualTo(other);
    assertThat(InferencePoolJson.serviceName(pool("a".repeat(58)))).hasSize(63);
  }

  private static InferencePool pool(String name) {
    return new InferencePool(name, "u", 1, Map.of("app", "vllm"), List.of(8000), false,
        "activator");
  }

  @Test
  void leavesAStatusThatIsCorrect_whereverItsEntryIs() {
    var pool = pool("chat");
    var parents = (ArrayNode) InferencePoolJson
        .status(pool, JSON.missingNode(), "activator", "", NOW).at("/status/parents");
    parents.addObject().put("controllerName", "example.com/gateway");
    var now = JSON.createObjectNode();
    now.putObject("status").set("parents", parents);

    assertThat(InferencePoolJson.status(pool, now, "activator", "", NOW)).isNull();

    var change = InferencePoolJson.status(pool, now, "activator", "no", NOW);
    assertThat(change.at("/status/parents"))
        .extracting(one -> one.path("controllerName").asString())
        .containsExactly(InferencePoolJson.CONTROLLER, "example.com/gateway");
  }

  @Test
  void saysWhyAServiceThatIsNotThePoolsIsNotTaken() throws Exception {
    send("POST", SERVICES, "{'metadata':{'name':'chat-pods'},'spec':{'ports':[{'port':80}]}}");
    create("'name':'activator'", "");

    var accepted = awaitParents(1).at("/0/conditions/0");

    assertThat(accepted.path("status").asString()).isEqualTo("False");
    assertThat(accepted.path("message").asString()).contains("does not belong to the pool");
    assertThat(get(SERVICES + "/chat-pods").at("/spec/ports/0/port").asInt()).isEqualTo(80);
  }

  @Test
  void leavesPoolsOfOtherPickers_andWritesOnlyWhileItLeads() throws Exception {
    create("'group':'example.com','kind':'Picker','name':'activator'", "");
    leads = false;
    var answer = send("POST", POOLS, "{'metadata':{'name':'ours'},'spec':{'selector':{"
        + "'matchLabels':{'app':'ours'}},'targetPorts':[{'number':80}],"
        + "'endpointPickerRef':{'name':'activator'}}}");
    assertThat(answer.body()).contains("'uid'".replace('\'', '"'));
    leads = true;

    await().until(() -> get(POOLS + "/ours").at("/status/parents").size() == 1);
    assertThat(get(POOLS + "/chat").path("status").isMissingNode()).isTrue();
    assertThat(get(SERVICES + "/chat-pods").isMissingNode()).isTrue();
  }
}
