package dev.activator.testing.faults;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.Restart;
import dev.activator.testing.EmbeddedApi;
import java.net.ConnectException;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class DisruptionsWireTest {
  private static final String PATH = "/api/v1/namespaces/default/configmaps";
  private static final Duration LONG = ofSeconds(600);

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();

  @Test
  @DisplayName("forgets its events: old watches, exact lists and tokens get 410, new ones work")
  void forgetsItsEvents() {
    store.create(CONFIG_MAP, named("a"));
    long old = store.revision();
    store.create(CONFIG_MAP, named("b"));
    var page = list("?limit=1");
    String token = page.at("/metadata/continue").stringValue();

    api.disruptions().compact(CONFIG_MAP);

    try (var watch = RawClient.get(api.port(), PATH + "?watch=1&resourceVersion=" + old)) {
      watch.head();
      assertThat(watch.line()).contains("\"code\":410");
    }
    // what is newest is still told
    assertThat(list("?resourceVersion=" + old + "&resourceVersionMatch=Exact").path("code")
        .intValue()).isEqualTo(410);
    assertThat(list("").get("items")).hasSize(2);
    store.create(CONFIG_MAP, named("c"));
    await().until(() -> list("").get("items").size() == 3);
    assertThat(list("?limit=1&continue=" + token).path("kind").stringValue())
        .isIn("Status", "ConfigMapList");
  }

  @Test
  @DisplayName("a cache that is down ends its watches and answers 429, until it is filled again")
  void isDownAndUpAgain() {
    store.create(CONFIG_MAP, named("a"));
    try (var watch = RawClient.get(api.port(), PATH + "?watch=1")) {
      watch.head();
      watch.line();

      api.disruptions().takeDown(LONG, CONFIG_MAP);

      assertThat(watch.end()).isEqualTo(RawClient.End.COMPLETE);
    }
    try (var refused = RawClient.get(api.port(), PATH)) {
      assertThat(refused.head()).startsWith("HTTP/1.1 429 ").containsIgnoringCase("retry-after:");
    }
    try (var other = RawClient.get(api.port(), "/api/v1/pods")) {
      assertThat(other.head()).startsWith("HTTP/1.1 200 ");
    }
    // what was written meanwhile is there when it is up
    store.create(CONFIG_MAP, named("b"));
    api.faults().heal();
    await().until(() -> list("").path("items").size() == 2);
  }

  @Test
  @DisplayName("a frozen feed shows old lists, keeps watches silent, and refuses what is newer")
  void freezesTheFeed() {
    store.create(CONFIG_MAP, named("a"));
    try (var watch = RawClient.get(api.port(), PATH + "?watch=1")) {
      watch.head();
      watch.line();
      api.disruptions().freeze(LONG, CONFIG_MAP);
      store.create(CONFIG_MAP, named("b"));

      // the old state for who takes anything, 504 for who wants the newest; others are not touched
      assertThat(list("?resourceVersion=0").get("items")).hasSize(1);
      assertThat(list("").path("code").intValue()).isEqualTo(504);
      assertThat(watch.silent()).isTrue();
      try (var other = RawClient.get(api.port(), "/api/v1/pods")) {
        assertThat(other.head()).startsWith("HTTP/1.1 200 ");
      }

      // when it thaws, then all is there
      api.faults().heal();
      assertThat(watch.line()).contains("\"name\":\"b\"");
      assertThat(list("").get("items")).hasSize(2);
    }
  }

  @Test
  @DisplayName("a feed that lags brings everything, in order, later; consistent lists wait")
  void delaysTheFeed() {
    api.disruptions().delay(ofMillis(100), CONFIG_MAP);
    store.create(CONFIG_MAP, named("a"));
    store.create(CONFIG_MAP, named("b"));

    assertThat(list("").get("items")).hasSize(2);
  }

  @Test
  @DisplayName("refuses connections for a while, and is back on the same port")
  void refusesConnections() {
    int port = api.port();
    try (var watch = RawClient.get(port, PATH + "?watch=1")) {
      watch.head();

      api.disruptions().refuse(LONG);

      assertThat(watch.end()).isEqualTo(RawClient.End.RESET);
    }
    // A program that another test starts holds the closed port until it runs.
    await()
        .untilAsserted(() -> assertThatThrownBy(() -> RawClient.connect(port).close()).rootCause()
            .isInstanceOf(ConnectException.class));

    api.faults().heal();
    await().ignoreExceptions()
        .until(() -> list("").path("kind").stringValue("").equals("ConfigMapList"));
    assertThat(api.port()).isEqualTo(port);
  }

  @Test
  @DisplayName("is back by itself when the time is over")
  void isBackByItself() {
    api.disruptions().refuse(ofMillis(50));

    await().ignoreExceptions()
        .until(() -> list("").path("kind").stringValue("").equals("ConfigMapList"));
  }

  @Test
  @DisplayName("after a restart with the same data, a watch from before gets 410")
  void makesWatchesFromBeforeARestartListAgain() {
    var a = store.create(CONFIG_MAP, named("a"));
    long before = store.revision();
    int port = api.port();

    api.restart(Restart.SAME_DATA);

    assertThat(api.port()).isEqualTo(port);
    try (var watch = RawClient.get(port, PATH + "?watch=1&resourceVersion=" + before)) {
      assertThat(watch.head()).startsWith("HTTP/1.1 200 ");
      assertThat(watch.line()).contains("\"type\":\"ERROR\"", "\"code\":410");
    }
    var list = list("");
    assertThat(list.at("/items/0")).isEqualTo(a);
    assertThat(list.at("/metadata/resourceVersion").asLong(0)).isGreaterThan(before);
  }

  @Test
  @DisplayName("after a restart without data, there is nothing but the namespaces")
  void forgetsAllAtARestart() {
    store.create(CONFIG_MAP, named("a"));
    long before = store.revision();

    api.restart(Restart.EMPTY);

    assertThat(list("").get("items")).isEmpty();
    assertThat(list("").at("/metadata/resourceVersion").asLong(0)).isGreaterThan(before);
    assertThat(store.list(BuiltInKinds.NAMESPACE)).hasSize(3);
  }

  @Test
  @DisplayName("after a restart with lower revisions, an old watch gets nothing")
  void beginsAgainWithLowerRevisions() {
    store.create(CONFIG_MAP, named("a"));
    long before = store.revision();

    api.restart(Restart.LOWER_REVISIONS);

    // given a watch from before, and one that starts anew
    try (var old = RawClient.get(api.port(), PATH + "?watch=1&resourceVersion=" + before);
        var fresh = RawClient.get(api.port(), PATH + "?watch=1")) {
      assertThat(old.head()).startsWith("HTTP/1.1 200 ");
      fresh.head();
      assertThat(fresh.line()).contains("\"name\":\"a\"");
      // when something is written, then only one of them is told
      long now = ObjectMeta.revision(store.create(CONFIG_MAP, named("b")));
      assertThat(now).isLessThan(before);
      assertThat(fresh.line()).contains("\"name\":\"b\"");
      assertThat(old.silent()).isTrue();
    }
  }

  private JsonNode list(String query) {
    try (var list = RawClient.get(api.port(), PATH + query, "Connection: close")) {
      String head = list.head();
      return Json.MAPPER.readTree(head.contains("chunked") ? list.line() : list.all());
    }
  }
}
