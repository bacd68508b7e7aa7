package dev.activator.testing.faults;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.testing.faults.Asked.Transport.WEBSOCKET;
import static dev.activator.testing.faults.Verb.LIST;
import static dev.activator.testing.faults.Verb.WATCH;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault.Answer;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionFaultsWireTest {
  private static final Duration PATIENCE = ofSeconds(120);
  private static final Duration LONG = ofSeconds(600);
  private static final String LIST_PATH = "/api/v1/namespaces/default/configmaps";
  private static final String PATH = LIST_PATH + "?watch=true";
  private static final Match WATCHES = Match.requests(WATCH).of(CONFIG_MAP);
  private static final Match SOCKETS = WATCHES.over(WEBSOCKET);

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final Faults faults = api.faults();

  @Test
  @DisplayName("resets a connection instead of an answer, and that of a watch that is on")
  void resetsConnections() {
    faults.once(Match.requests(LIST), new Fault.Reset(When.now()));

    try (var list = RawClient.get(api.port(), LIST_PATH)) {
      assertThat(list.all()).isEmpty();
      assertThat(list.end()).isEqualTo(RawClient.End.RESET);
    }
    try (var watch = watch()) {
      faults.strike(WATCHES, new Fault.Reset(When.now()));
      assertThat(watch.end()).isEqualTo(RawClient.End.RESET);
    }
  }

  @ParameterizedTest(name = "resets a connection after {0} events")
  @ValueSource(ints = {0, 1, 3})
  void resetsAConnectionAfterEvents(int events) {
    faults.once(WATCHES, new Fault.Reset(When.afterEvents(events)));

    try (var watch = watch()) {
      create("a", "b", "c", "d");
      for (int i = 0; i < events; i++) {
        assertThat(watch.line()).contains("\"name\":\"" + "abcd".charAt(i) + "\"");
      }
      assertThat(watch.end()).isEqualTo(RawClient.End.RESET);
      assertThat(watch.rest()).isEmpty();
    }
  }

  @Test
  @DisplayName("resets a connection in the middle of a chunk, and after a while")
  void resetsAConnectionInTheMiddleOfAChunk() {
    faults.add(WATCHES.first(), new Fault.Reset(When.afterBytes(300)));
    faults.add(WATCHES.nth(2), new Fault.Reset(When.after(ofMillis(50))));

    try (var watch = RawClient.get(api.port(), PATH)) {
      store.create(CONFIG_MAP, with(named("a"), "k", "x".repeat(1_000)));
      assertThat(watch.all()).hasSize(300).contains("{\"type\":\"ADDED\"");
      assertThat(watch.end()).isEqualTo(RawClient.End.RESET);
    }
    try (var watch = RawClient.get(api.port(), PATH)) {
      watch.all();
      assertThat(watch.end()).isEqualTo(RawClient.End.RESET);
    }
  }

  @Test
  @DisplayName("a half-open connection says nothing, not even its end, and then goes on")
  void keepsAConnectionHalfOpen() {
    try (var watch = watch(); var sound = watch()) {
      // given one watch whose connection is half open
      var first = faults.journal().await(WATCHES, 1, PATIENCE);
      faults.strike(WATCHES, new Fault.HalfOpen(When.now(), LONG));
      assertThat(first.faults()).hasSize(1);
      create("a");
      try (var later = RawClient.get(api.port(), PATH)) {
        later.head();
        assertThat(later.line()).contains("\"name\":\"a\"");
      }
      assertThat(watch.silent()).isTrue();
      assertThat(sound.silent()).isTrue();

      // when it is healed, then all comes
      faults.heal();
      assertThat(watch.line()).contains("\"name\":\"a\"");
      assertThat(sound.line()).contains("\"name\":\"a\"");
    }
  }

  @Test
  @DisplayName("goes on by itself when the time is over")
  void goesOnWhenTheTimeIsOver() {
    faults.once(WATCHES, new Fault.HalfOpen(When.afterEvents(1), ofMillis(50)));

    try (var watch = watch()) {
      create("a", "b");
      assertThat(watch.line()).contains("\"name\":\"a\"");
      assertThat(watch.line()).contains("\"name\":\"b\"");
    }
  }

  @Test
  @DisplayName("stopping the server ends what is half open")
  void endsWhatIsHalfOpenWhenTheServerStops() {
    var rule = faults.once(WATCHES, new Fault.HalfOpen(When.now(), LONG));

    try (var watch = RawClient.get(api.port(), PATH)) {
      rule.awaitFired(1, PATIENCE);
      api.close();
      assertThat(watch.all()).startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  @DisplayName("sends bytes one at a time, with pauses, inside characters too")
  void sendsFewBytesAtATime() {
    store.create(CONFIG_MAP, with(named("a"), "k", "h\u00e4"));
    faults.add(WATCHES, new Fault.RawUtf8());
    faults.add(WATCHES, Fault.Fragments.of(1));

    try (var watch = watch()) {
      assertThat(watch.line()).contains("\"h\u00c3\u00a4\"");
      create("b");
      assertThat(watch.line()).contains("\"name\":\"b\"");
    }
    faults.heal();
    faults.once(WATCHES, new Fault.Fragments(50, new Pause(ofMillis(0), ofMillis(2))));
    try (var watch = watch()) {
      assertThat(watch.line()).contains("\"name\":\"a\"");
      faults.heal();
      assertThat(watch.line()).contains("\"name\":\"b\"");
    }
  }

  @Test
  @DisplayName("a watch in fragments ends as it should")
  void endsInFragments() {
    faults.once(WATCHES, Fault.Fragments.of(3));

    try (var watch = watch()) {
      create("a");
      api.endWatches();
      assertThat(watch.end()).isEqualTo(RawClient.End.COMPLETE);
    }
  }

  @Test
  @DisplayName("sends many events in one piece")
  void sendsManyEventsInOnePiece() {
    faults.once(WATCHES, new Fault.Bursts(ofMillis(50)));

    try (var watch = watch()) {
      create("a", "b", "c");
      assertThat(watch.line()).contains("\"name\":\"a\"");
      assertThat(watch.line()).contains("\"name\":\"b\"");
      assertThat(watch.line()).contains("\"name\":\"c\"");
    }
  }

  @Test
  @DisplayName("a WebSocket is answered 200, whole or endless, or a failure")
  void answersAWebSocketWithSomethingElse() {
    faults.add(SOCKETS.first(), Answer.empty(200));
    faults.add(SOCKETS.nth(2), new Fault.EndlessAnswer(200));
    faults.add(SOCKETS.nth(3), Answer.status(410));

    try (var whole = socket()) {
      assertThat(whole.head()).startsWith("HTTP/1.1 200 ")
          .containsIgnoringCase("content-length: 0");
    }
    try (var endless = socket()) {
      assertThat(endless.head()).startsWith("HTTP/1.1 200 ").containsIgnoringCase("chunked");
      assertThat(endless.silent()).isTrue();
      faults.release();
      assertThat(endless.end()).isEqualTo(RawClient.End.RESET);
    }
    try (var gone = socket()) {
      assertThat(gone.head()).startsWith("HTTP/1.1 410 ");
    }
    try (var right = socket(); var http = watch()) {
      assertThat(right.head()).startsWith("HTTP/1.1 101 ");
      create("a");
      assertThat(http.line()).contains("\"name\":\"a\"");
    }
  }

  @Test
  @DisplayName("a WebSocket says nothing to pings")
  void ignoresPings() {
    faults.once(SOCKETS, new Fault.IgnoredPings());

    try (var deaf = socket(); var right = after(deaf)) {
      create("first");
      assertThat(deaf.frame()).startsWith("text ");
      assertThat(right.frame()).startsWith("text ");
      deaf.ping("one");
      right.ping("two");
      assertThat(right.frame()).isEqualTo("pong two");
      create("a");
      assertThat(deaf.frame()).startsWith("text ");
      deaf.ping("three");
      create("b");
      assertThat(deaf.frame()).startsWith("text ");
    }
  }

  /** Another socket, whose request comes behind that of the first. */
  private RawClient after(RawClient first) {
    first.head();
    var next = socket();
    next.head();
    return next;
  }

  @Test
  @DisplayName("a WebSocket sends binary messages, and closes with another code")
  void sendsBinaryMessagesAndAnotherCode() {
    faults.once(SOCKETS, new Fault.BinaryMessages());
    faults.once(SOCKETS, new Fault.CloseCode(1_011));

    try (var socket = socket()) {
      socket.head();
      create("a");
      assertThat(socket.frame()).startsWith("binary {\"type\":\"ADDED\"");
      api.endWatches();
      assertThat(socket.frame()).isEqualTo("close 1011");
    }
  }

  @Test
  @DisplayName("resets a WebSocket after this many messages")
  void resetsAWebSocketAfterMessages() {
    faults.once(SOCKETS, new Fault.Reset(When.afterEvents(1)));

    try (var socket = socket()) {
      socket.head();
      create("a", "b");
      assertThat(socket.frame()).startsWith("text ");
      assertThat(socket.frame()).isEmpty();
      assertThat(socket.end()).isEqualTo(RawClient.End.RESET);
    }
  }

  private RawClient watch() {
    var watch = RawClient.get(api.port(), PATH);
    assertThat(watch.head()).startsWith("HTTP/1.1 200 ");
    return watch;
  }

  private RawClient socket() {
    return RawClient.webSocket(api.port(), PATH);
  }

  private void create(String... names) {
    for (var name : names) {
      store.create(CONFIG_MAP, named(name));
    }
  }
}
