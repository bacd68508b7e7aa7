package dev.activator.testing.faults;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static dev.activator.embedded.api.store.BuiltInKinds.POD;
import static dev.activator.testing.faults.Verb.WATCH;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.cache.Windows;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault.Bookmarks;
import dev.activator.testing.faults.Fault.Duplicate;
import dev.activator.testing.faults.Fault.FailWatch.Ending;
import dev.activator.testing.faults.Fault.Malformed;
import dev.activator.testing.faults.Fault.Swap;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

class WatchFaultsWireTest {
  private static final Duration PATIENCE = ofSeconds(120);
  private static final String PATH = "/api/v1/namespaces/default/configmaps?watch=true";
  private static final String WATCH_LIST = PATH + "&sendInitialEvents=true"
      + "&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  private static final Match WATCHES = Match.requests(WATCH).of(CONFIG_MAP);

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi
      .start(Windows.of(100));
  private final ApiStore store = api.store();
  private final Faults faults = api.faults();

  @Test
  @DisplayName("ends a watch as it begins, or after this many events, without a word")
  void endsAWatchAfterANumberOfEvents() {
    faults.add(WATCHES.first(), new Fault.EndWatch(When.now()));
    faults.add(WATCHES.nth(2), new Fault.EndWatch(When.afterEvents(2)));

    try (var first = watch(PATH)) {
      assertThat(first.end()).isEqualTo(RawClient.End.COMPLETE);
    }
    try (var second = watch(PATH)) {
      create("a", "b", "c");
      assertThat(event(second)).isEqualTo("ADDED a");
      assertThat(event(second)).isEqualTo("ADDED b");
      assertThat(second.line()).isEmpty();
      assertThat(second.end()).isEqualTo(RawClient.End.COMPLETE);
    }
    try (var third = watch(PATH)) {
      assertThat(event(third)).isEqualTo("ADDED a");
    }
  }

  @Test
  @DisplayName("ends a watch after a while, and those that are on, all or some")
  void endsAWatchAfterAWhileOrThoseThatAreOn() {
    faults.once(WATCHES, new Fault.EndWatch(When.after(ofMillis(200))));
    try (var late = watch(PATH); var one = watch(PATH); var other = watch("/api/v1/pods?watch=1")) {
      // the first ends when its time is over
      assertThat(late.end()).isEqualTo(RawClient.End.COMPLETE);
      faults.journal().awaitEnd(faults.journal().await(WATCHES, 1, PATIENCE), PATIENCE);

      // when those of one kind are struck, then the other goes on
      assertThat(faults.strike(WATCHES, new Fault.EndWatch(When.now()))).hasSize(1);
      assertThat(one.end()).isEqualTo(RawClient.End.COMPLETE);
      assertThat(other.silent()).isTrue();
      assertThat(faults.strike(Match.requests(WATCH).of(POD), new Fault.EndWatch(When.now())))
          .hasSize(1);
      assertThat(other.end()).isEqualTo(RawClient.End.COMPLETE);
    }
  }

  @ParameterizedTest(name = "sends {0} in the stream, after {1} events")
  @CsvSource({"410, 0", "500, 1", "504, 2", "429, 1"})
  void sendsAFailureInTheStream(int code, int events) {
    faults.once(WATCHES,
        new Fault.FailWatch(When.afterEvents(events), Failure.of(code, 7), Ending.AT_ONCE));

    try (var watch = watch(PATH)) {
      create("a", "b", "c");
      for (int i = 0; i < events; i++) {
        assertThat(event(watch)).startsWith("ADDED ");
      }
      var error = Json.MAPPER.readTree(watch.line());
      assertThat(error.get("type").stringValue()).isEqualTo("ERROR");
      assertThat(error.at("/object/code").intValue()).isEqualTo(code);
      assertThat(error.at("/object/details/retryAfterSeconds").intValue()).isEqualTo(7);
      assertThat(watch.end()).isEqualTo(RawClient.End.COMPLETE);
    }
  }

  @Test
  @DisplayName("sends a failure and stays open until the client goes")
  void staysOpenAfterAFailure() {
    faults.once(WATCHES, new Fault.FailWatch(When.now(), Failure.of(500), Ending.NEVER));

    try (var watch = watch(PATH); var sound = watch(PATH)) {
      assertThat(watch.line()).contains("\"type\":\"ERROR\"");
      create("a");
      assertThat(event(sound)).isEqualTo("ADDED a");
      assertThat(watch.silent()).isTrue();
    }
    faults.journal().awaitEnd(faults.journal().await(WATCHES, 1, PATIENCE), PATIENCE);
  }

  @Test
  @DisplayName("sends a failure, and ends a second later")
  void endsASecondAfterAFailure() {
    faults.once(WATCHES, new Fault.FailWatch(When.now(), Failure.of(410), Ending.LATER));

    try (var watch = watch(PATH)) {
      assertThat(watch.line()).contains("\"reason\":\"Expired\"");
      assertThat(watch.end()).isEqualTo(RawClient.End.COMPLETE);
    }
  }

  @ParameterizedTest(name = "sends an event twice: {0}")
  @EnumSource(Duplicate.As.class)
  void sendsAnEventTwice(Duplicate.As as) {
    faults.once(WATCHES, new Duplicate(2, as));

    try (var watch = watchFromNow()) {
      create("a");
      store.writes().update(CONFIG_MAP, with(named("a"), "k", "1"));
      assertThat(event(watch)).isEqualTo("ADDED a");
      String changed = watch.line();
      String type = as == Duplicate.As.ADDED ? "ADDED" : "MODIFIED";
      assertThat(watch.line()).isEqualTo(changed.replace("MODIFIED", type));
    }
  }

  @Test
  @DisplayName("leaves one event out")
  void leavesOneEventOut() {
    faults.once(WATCHES, new Fault.Drop(2));

    try (var watch = watch(PATH)) {
      create("a", "b", "c");
      assertThat(event(watch)).isEqualTo("ADDED a");
      assertThat(event(watch)).isEqualTo("ADDED c");
    }
  }

  @Test
  @DisplayName("swaps events of two keys, and keeps the order of each")
  void swapsEventsOfTwoKeys() {
    faults.once(WATCHES, new Swap(1, Swap.Of.DIFFERENT_KEYS));

    try (var watch = watch(PATH)) {
      create("a", "b", "c");
      assertThat(event(watch)).isEqualTo("ADDED b");
      assertThat(event(watch)).isEqualTo("ADDED a");
      assertThat(event(watch)).isEqualTo("ADDED c");
    }
  }

  @Test
  @DisplayName("swaps events of one key")
  void swapsEventsOfOneKey() {
    faults.once(WATCHES, new Swap(1, Swap.Of.ONE_KEY));

    try (var watch = watchFromNow()) {
      create("a", "b");
      store.delete(CONFIG_MAP, "default", "a");
      assertThat(event(watch)).isEqualTo("ADDED b");
      assertThat(event(watch)).isEqualTo("DELETED a");
      assertThat(event(watch)).isEqualTo("ADDED a");
    }
  }

  @ParameterizedTest(name = "bookmarks: {0}")
  @CsvSource(delimiter = '|', value = {"NONE|ADDED a,ADDED b,ADDED c",
      "END_NOT_MARKED|ADDED a,ADDED b,BOOKMARK,ADDED c",
      "DUPLICATED|ADDED a,ADDED b,SYNCED,SYNCED,ADDED c",
      "LOWER_REVISION|ADDED a,ADDED b,SYNCED,ADDED c",
      "BEFORE_THE_LAST|ADDED a,SYNCED,ADDED b,ADDED c"})
  void spoilsBookmarks(Bookmarks.Flaw flaw, String expected) {
    create("a", "b");
    long now = store.revision();
    faults.once(WATCHES, new Bookmarks(flaw));

    try (var watch = watch(WATCH_LIST)) {
      for (var each : expected.split(",")) {
        if (each.equals("ADDED c")) {
          create("c");
        }
        var received = Json.MAPPER.readTree(watch.line());
        assertThat(text(received)).isEqualTo(each);
        if (each.equals("SYNCED")) {
          long revision = received.at("/object/metadata/resourceVersion").asLong(0);
          assertThat(revision)
              .isEqualTo(flaw == Bookmarks.Flaw.LOWER_REVISION ? now - 1_000 : now);
        }
      }
    }
  }

  @Test
  @DisplayName("sends bookmarks as often as is wanted")
  void sendsBookmarksOften() {
    create("a");
    faults.once(WATCHES, new Fault.FrequentBookmarks(ofMillis(20)));

    try (var watch = watch(PATH)) {
      assertThat(event(watch)).isEqualTo("ADDED a");
      assertThat(event(watch)).isEqualTo("BOOKMARK");
      assertThat(event(watch)).isEqualTo("BOOKMARK");
    }
  }

  @ParameterizedTest(name = "sends a change among the initial events: {0}")
  @CsvSource(delimiter = '|', value = {"MODIFIED|ADDED a,MODIFIED a,SYNCED",
      "DELETED|ADDED a,DELETED a,ADDED a,SYNCED"})
  void sendsAChangeAmongTheInitialEvents(ApiStoreChange.Type type, String expected) {
    create("a");
    faults.once(WATCHES, new Fault.EarlyChange(type));

    try (var watch = watch(WATCH_LIST)) {
      for (var each : expected.split(",")) {
        assertThat(event(watch)).isEqualTo(each);
      }
    }
  }

  @Test
  @DisplayName("sends each event late, and all of them in order")
  void sendsEventsLate() {
    faults.once(WATCHES, new Fault.LateEvents(new Pause(ofMillis(1), ofMillis(30))));

    try (var watch = watch(PATH)) {
      create("a", "b", "c");
      assertThat(event(watch)).isEqualTo("ADDED a");
      assertThat(event(watch)).isEqualTo("ADDED b");
      assertThat(event(watch)).isEqualTo("ADDED c");
    }
  }

  @Test
  @DisplayName("sends characters beyond ASCII as they are")
  void sendsRawUtf8() {
    faults.once(WATCHES, new Fault.RawUtf8());
    store.create(CONFIG_MAP, with(named("a"), "k", "h\u00e4"));

    try (var watch = watch(PATH)) {
      // the client reads bytes as Latin-1
      assertThat(watch.line()).contains("\"h\u00c3\u00a4\"");
    }
  }

  @ParameterizedTest(name = "sends what no client can read: {0}")
  @EnumSource(Malformed.Shape.class)
  void sendsMalformedEvents(Malformed.Shape shape) {
    faults.once(WATCHES, new Malformed(2, shape));
    create("a", "b", "c");

    try (var watch = watch(PATH)) {
      assertThat(event(watch)).isEqualTo("ADDED a");
      String line = watch.line();
      switch (shape) {
        case TRUNCATED_JSON -> assertThat(line).startsWith("{\"type\":\"ADDED\"")
            .doesNotEndWith("}");
        case UNKNOWN_TYPE -> assertThat(line).startsWith("{\"type\":\"SOMETHING\"");
        case UNKNOWN_KIND -> assertThat(line).contains("\"kind\":\"Unheard\"");
        case NO_METADATA -> assertThat(line).doesNotContain("metadata");
        case OTHER_KIND -> assertThat(line).contains("\"kind\":\"Secret\"");
        case HUGE -> assertThat(line).hasSizeGreaterThan(5_000_000);
      }
      assertThat(event(watch)).isEqualTo("ADDED c");
    }
  }

  @Test
  @DisplayName("takes no more events, so that the cache ends the watch for being slow")
  void stopsTakingUntilTheCacheLosesPatience() {
    faults.once(WATCHES, new Fault.StopTaking(1));

    try (var slow = watch(PATH); var other = watch(PATH)) {
      for (int i = 0; i < 50; i++) {
        create("x" + i);
        assertThat(event(other)).isEqualTo("ADDED x" + i);
      }
      assertThat(event(slow)).isEqualTo("ADDED x0");
      assertThat(slow.end()).isEqualTo(RawClient.End.COMPLETE);
    }
  }

  @Test
  @DisplayName("goes on once it is healed, and nothing is missing")
  void goesOnOnceHealed() {
    faults.once(WATCHES, new Fault.StopTaking(1));

    try (var slow = watch(PATH); var other = watch(PATH)) {
      create("a", "b", "c");
      assertThat(event(other)).isEqualTo("ADDED a");
      assertThat(event(other)).isEqualTo("ADDED b");
      assertThat(event(slow)).isEqualTo("ADDED a");
      assertThat(slow.silent()).isTrue();

      faults.heal();
      assertThat(event(slow)).isEqualTo("ADDED b");
      assertThat(event(slow)).isEqualTo("ADDED c");
    }
  }

  @Test
  @DisplayName("knows no watch-list: 422, a failure in the stream, or no mark for ever")
  void knowsNoWatchList() {
    create("a");
    var watchLists = WATCHES.having("sendInitialEvents", "true");
    faults.once(watchLists, Fault.Answer.status(422));
    faults.once(watchLists.nth(2),
        new Fault.FailWatch(When.now(), Failure.of(422), Ending.AT_ONCE));
    faults.once(watchLists.nth(3), new Bookmarks(Bookmarks.Flaw.NONE));

    try (var refused = RawClient.get(api.port(), WATCH_LIST)) {
      assertThat(refused.head()).startsWith("HTTP/1.1 422 ");
    }
    try (var failing = watch(WATCH_LIST)) {
      assertThat(failing.line()).contains("\"type\":\"ERROR\"", "\"code\":422");
    }
    try (var ignored = watch(WATCH_LIST)) {
      assertThat(event(ignored)).isEqualTo("ADDED a");
      create("b");
      assertThat(event(ignored)).isEqualTo("ADDED b");
    }
    try (var right = watch(WATCH_LIST)) {
      assertThat(event(right)).isEqualTo("ADDED a");
      assertThat(event(right)).isEqualTo("ADDED b");
      assertThat(event(right)).isEqualTo("SYNCED");
    }
  }

  @Test
  @DisplayName("a watch lasts as long as the test says, whatever the client requests")
  void lastsAsLongAsTheTestSays() {
    faults.once(WATCHES, new Fault.WatchTimeout(ofSeconds(2)));

    try (var watch = watch(PATH + "&timeoutSeconds=500")) {
      assertThat(watch.end()).isEqualTo(RawClient.End.COMPLETE);
    }
  }

  @Test
  void hitsOnlyWhatItMatches() {
    faults.add(Match.requests(WATCH).of(ENDPOINTS), new Fault.EndWatch(When.now()));

    try (var watch = watch(PATH); var hit = watch("/api/v1/endpoints?watch=true")) {
      assertThat(hit.end()).isEqualTo(RawClient.End.COMPLETE);
      create("a");
      assertThat(event(watch)).isEqualTo("ADDED a");
    }
  }

  /** A watch that is on. */
  private RawClient watch(String path) {
    var watch = RawClient.get(api.port(), path);
    assertThat(watch.head()).startsWith("HTTP/1.1 200 ");
    return watch;
  }

  /** A watch of what comes from now on, each change of it. */
  private RawClient watchFromNow() {
    return watch(PATH + "&resourceVersion=" + store.revision());
  }

  private void create(String... names) {
    for (var name : names) {
      store.create(CONFIG_MAP, named(name));
    }
  }

  private static String event(RawClient watch) {
    return text(Json.MAPPER.readTree(watch.line()));
  }

  private static String text(JsonNode event) {
    String type = event.path("type").asString("");
    if (!type.equals("BOOKMARK")) {
      return type + " " + event.at("/object/metadata/name").asString("");
    }
    boolean marked = event.at("/object/metadata/annotations").has("k8s.io/initial-events-end");
    return marked ? "SYNCED" : "BOOKMARK";
  }
}
