package dev.activator.testing.faults;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.REVISION;
import static dev.activator.testing.faults.Verb.CREATE;
import static dev.activator.testing.faults.Verb.LIST;
import static dev.activator.testing.faults.Verb.UPDATE;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault.Answer;
import dev.activator.testing.faults.Fault.BrokenList;
import dev.activator.testing.faults.Fault.RefusedWrite;
import dev.activator.testing.faults.Fault.StaleRead;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class AnswerFaultsWireTest {
  private static final Duration PATIENCE = ofSeconds(120);
  private static final String PATH = "/api/v1/namespaces/default/configmaps";
  private static final Match LISTS = Match.requests(LIST).of(CONFIG_MAP);

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final Faults faults = api.faults();

  @ParameterizedTest(name = "answers {0} with the Status that goes with it")
  @ValueSource(ints = {400, 401, 403, 404, 410, 429, 500, 503, 504})
  void answersWithAStatus(int code) {
    faults.once(LISTS, Answer.status(code));

    var answer = get(PATH);
    assertThat(answer.head()).startsWith("HTTP/1.1 " + code)
        .containsIgnoringCase("content-type: application/json")
        .doesNotContainIgnoringCase("retry-after");
    assertThat(answer.tree().get("kind").stringValue()).isEqualTo("Status");
    assertThat(answer.tree().get("code").intValue()).isEqualTo(code);
    assertThat(get(PATH).head()).startsWith("HTTP/1.1 200 ");
  }

  @Test
  @DisplayName("says when to come again, answers text, or nothing, or without a type")
  void answersInOtherForms() {
    faults.add(LISTS.first(), Answer.status(Failure.of(429, 7)));
    faults.add(LISTS.nth(2), Answer.text(503, "no healthy upstream").retryAfter(2));
    faults.add(LISTS.nth(3), Answer.empty(200));
    faults.add(LISTS.nth(4), new Answer(502, "", "?", 0));

    var busy = get(PATH);
    assertThat(busy.head()).startsWith("HTTP/1.1 429 ").containsIgnoringCase("retry-after: 7");
    assertThat(busy.tree().at("/details/retryAfterSeconds").intValue()).isEqualTo(7);
    var text = get(PATH);
    assertThat(text.head()).startsWith("HTTP/1.1 503 ").containsIgnoringCase("retry-after: 2")
        .containsIgnoringCase("content-type: text/plain");
    assertThat(text.body()).isEqualTo("no healthy upstream");
    var empty = get(PATH);
    assertThat(empty.head()).startsWith("HTTP/1.1 200 ").containsIgnoringCase("content-length: 0");
    assertThat(get(PATH).head()).startsWith("HTTP/1.1 502 ")
        .doesNotContainIgnoringCase("content-type");
  }

  @Test
  @DisplayName("keeps the connection in order: the next request on it is answered as usual")
  void keepsTheConnectionInOrder() {
    faults.once(LISTS, Answer.status(503));

    try (var client = RawClient.get(api.port(), PATH)) {
      assertThat(client.head()).startsWith("HTTP/1.1 503 ");
      client.bytes(Answer.status(503).body().length());
      client.send("GET", PATH, "");
      assertThat(client.head()).startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  @DisplayName("shows an older state to lists that take anything")
  void showsAnOlderState() {
    store.create(CONFIG_MAP, named("a"));
    long then = store.revision();
    store.create(CONFIG_MAP, named("b"));
    store.create(CONFIG_MAP, named("c"));
    faults.add(LISTS, new StaleRead(2, StaleRead.Reads.THAT_TAKE_ANYTHING));

    var stale = get(PATH + "?resourceVersion=0&limit=500").tree();
    assertThat(names(stale)).isEqualTo("a");
    assertThat(stale.at("/metadata/resourceVersion").asLong(0)).isEqualTo(then);
    assertThat(names(get(PATH).tree())).isEqualTo("abc");
  }

  @Test
  @DisplayName("shows an older state even to lists that want the newest")
  void showsAnOlderStateToAll() {
    store.create(CONFIG_MAP, named("a"));
    store.create(CONFIG_MAP, named("b"));
    faults.add(LISTS, new StaleRead(1, StaleRead.Reads.ALL));

    assertThat(names(get(PATH).tree())).isEqualTo("a");
  }

  @Test
  @DisplayName("answers late: before the head, or between head and body")
  void answersLate() {
    faults.add(LISTS.first(), new Fault.LateAnswer(Pause.of(ofMillis(100))));
    faults.add(LISTS.nth(2), new Fault.LateBody(Pause.of(ofMillis(100))));

    assertThat(get(PATH).tree().get("items")).isEmpty();
    assertThat(get(PATH).tree().get("items")).isEmpty();
  }

  @Test
  @DisplayName("sends the head before a late body")
  void sendsTheHeadBeforeALateBody() {
    faults.once(LISTS, new Fault.LateBody(Pause.of(ofSeconds(600))));

    try (var client = RawClient.get(api.port(), PATH)) {
      assertThat(client.head()).startsWith("HTTP/1.1 200 ").containsIgnoringCase("content-length");
      assertThat(client.silent()).isTrue();
    }
  }

  @Test
  @DisplayName("ends a list in the middle, or says a wrong length")
  void cutsLists() {
    store.create(CONFIG_MAP, with(named("a"), "k", "v"));
    String whole = get(PATH).body();
    faults.add(LISTS.first(), new BrokenList(BrokenList.Flaw.TRUNCATED));
    faults.add(LISTS.nth(2), new BrokenList(BrokenList.Flaw.LENGTH_TOO_LARGE));
    faults.add(LISTS.nth(3), new BrokenList(BrokenList.Flaw.LENGTH_TOO_SMALL));

    var truncated = get(PATH);
    assertThat(truncated.head()).containsIgnoringCase("content-length: " + whole.length());
    assertThat(truncated.body()).isEqualTo(whole.substring(0, whole.length() / 2));
    var large = get(PATH);
    assertThat(large.head()).containsIgnoringCase("content-length: " + (whole.length() + 100));
    assertThat(large.body()).isEqualTo(whole);
    var small = get(PATH);
    assertThat(small.head()).containsIgnoringCase("content-length: " + whole.length() / 2);
    assertThat(get(PATH).body()).isEqualTo(whole);
  }

  @Test
  @DisplayName("leaves out the type, the items or the revision")
  void leavesThingsOut() {
    store.create(CONFIG_MAP, named("a"));
    faults.add(LISTS.first(), new BrokenList(BrokenList.Flaw.NO_CONTENT_TYPE));
    faults.add(LISTS.nth(2), new BrokenList(BrokenList.Flaw.ITEMS_NULL));
    faults.add(LISTS.nth(3), new BrokenList(BrokenList.Flaw.NO_REVISION));

    var untyped = get(PATH);
    assertThat(untyped.head()).doesNotContainIgnoringCase("content-type");
    assertThat(names(untyped.tree())).isEqualTo("a");
    assertThat(get(PATH).tree().get("items").isNull()).isTrue();
    assertThat(get(PATH).tree().get("metadata").has("resourceVersion")).isFalse();
  }

  @Test
  @DisplayName("a token expires: 410 with another token, which goes on")
  void expiresTokens() {
    for (var name : new String[]{"a", "b", "c"}) {
      store.create(CONFIG_MAP, named(name));
    }
    faults.once(LISTS.having("continue"), new Fault.ExpiredToken());

    String token = next(get(PATH + "?limit=1").tree());
    var expired = get(PATH + "?limit=1&continue=" + token).tree();
    assertThat(expired.get("code").intValue()).isEqualTo(410);
    assertThat(names(get(PATH + "?limit=1&continue=" + next(expired)).tree())).isEqualTo("b");
  }

  @Test
  @DisplayName("a page begins with the last object of the one before")
  void repeatsAnItem() {
    for (var name : new String[]{"a", "b", "c"}) {
      store.create(CONFIG_MAP, named(name));
    }
    faults.once(LISTS.having("continue"), new Fault.RepeatedItem());

    String token = next(get(PATH + "?limit=2").tree());
    assertThat(names(get(PATH + "?limit=2&continue=" + token).tree())).isEqualTo("bc");
  }

  @Test
  @DisplayName("refuses the next updates as conflicts, and a create as too late")
  void refusesWrites() {
    store.create(CONFIG_MAP, named("a"));
    long revision = store.revision();
    faults.add(Match.requests(UPDATE), new RefusedWrite(RefusedWrite.Reason.CONFLICT),
        new Lifetime.Times(2));
    faults.once(Match.requests(CREATE).of(REVISION),
        new RefusedWrite(RefusedWrite.Reason.ALREADY_EXISTS));
    String changed = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}";

    for (int i = 0; i < 2; i++) {
      var refused = send("PUT", PATH + "/a", changed).tree();
      assertThat(refused.get("reason").stringValue()).isEqualTo("Conflict");
      assertThat(refused.get("message").stringValue())
          .startsWith("Operation cannot be fulfilled on configmaps \"a\": ");
    }
    assertThat(store.revision()).isEqualTo(revision);
    assertThat(send("PUT", PATH + "/a", changed).head()).startsWith("HTTP/1.1 200 ");
    var exists = send("POST", "/apis/serving.knative.dev/v1/namespaces/default/revisions",
        "{\"metadata\":{\"name\":\"r\"}}").tree();
    assertThat(exists.get("reason").stringValue()).isEqualTo("AlreadyExists");
    assertThat(exists.at("/details/group").stringValue()).isEqualTo("serving.knative.dev");
  }

  @Test
  @DisplayName("a write is applied, and its answer lost")
  void losesTheAnswer() {
    faults.once(Match.requests(CREATE), new Fault.LostAnswer());

    try (var client = RawClient.connect(api.port())) {
      client.send("POST", PATH, "{\"metadata\":{\"name\":\"a\"}}");
      assertThat(client.all()).isEmpty();
      assertThat(client.end()).isEqualTo(RawClient.End.RESET);
    }
    assertThat(store.find(CONFIG_MAP, "default", "a")).isNotNull();
  }

  @Test
  @DisplayName("never answers, until it is healed: then the connection is cut")
  void neverAnswers() {
    var rule = faults.add(LISTS, new Fault.NoAnswer());

    try (var client = RawClient.get(api.port(), PATH)) {
      rule.awaitFired(1, PATIENCE);
      assertThat(client.silent()).isTrue();
      faults.heal();
      assertThat(client.all()).isEmpty();
    }
    assertThat(get(PATH).head()).startsWith("HTTP/1.1 200 ");
  }

  /** An answer as it came. */
  private record Got(String head, String body) {
    JsonNode tree() {
      return Json.MAPPER.readTree(body);
    }
  }

  private Got get(String path) {
    return send("GET", path, "");
  }

  private Got send(String method, String path, String body) {
    try (var client = RawClient.connect(api.port())) {
      client.send(method, path, body, "Connection: close");
      String head = client.head();
      return new Got(head, client.all());
    }
  }

  private static String names(JsonNode list) {
    var names = new StringBuilder();
    list.get("items").forEach(item -> names.append(item.at("/metadata/name").stringValue()));
    return names.toString();
  }

  private static String next(JsonNode list) {
    return list.at("/metadata/continue").stringValue();
  }

}
