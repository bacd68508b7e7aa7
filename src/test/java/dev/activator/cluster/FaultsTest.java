package dev.activator.cluster;

import static dev.activator.cluster.Rig.LISTS;
import static dev.activator.cluster.Rig.PATIENCE;
import static dev.activator.cluster.Rig.WATCHES;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.embedded.api.Kinds;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.Restart;
import dev.activator.embedded.api.cache.CacheSettings;
import dev.activator.embedded.api.cache.Capacity;
import dev.activator.embedded.api.faults.Asked.Transport;
import dev.activator.embedded.api.faults.Failure;
import dev.activator.embedded.api.faults.Fault;
import dev.activator.embedded.api.faults.Fault.FailWatch.Ending;
import dev.activator.embedded.api.faults.Lifetime;
import dev.activator.embedded.api.faults.Match;
import dev.activator.embedded.api.faults.Pause;
import dev.activator.embedded.api.faults.When;
import dev.activator.testing.EmbeddedApi;
import io.fabric8.kubernetes.client.Config;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What becomes of the store and of who listens when the API or the way to it fails. Whatever
 * happens, the store is a fresh list in the end, and nobody was told what is not so.
 */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time, each with a server of its own.
class FaultsTest {
  private @Nullable Rig rig;

  @AfterEach
  void close() {
    if (rig != null) {
      rig.close();
    }
  }

  private Rig use(Rig fresh) {
    rig = fresh;
    return fresh;
  }

  /** With a and b told, and a watch on. */
  private Rig following() {
    return following(new Rig());
  }

  private Rig following(Rig fresh) {
    var following = use(fresh);
    following.touch("a");
    following.touch("b");
    following.start();
    following.witness.told.clear();
    return following;
  }

  @Test
  @DisplayName("2.1 goes on after a reset where it was: in order, once each, without a list")
  void goesOnAfterAReset() {
    var rig = following();
    rig.touch("c");
    rig.touch("a");
    rig.converges();

    rig.strike(new Fault.Reset(When.now()));
    rig.touch("b");
    rig.converges();

    assertThat(rig.witness.told).containsExactly("add c", "update a", "update b");
    assertThat(rig.lists()).isOne();
  }

  @Test
  @DisplayName("6.1 C-1 goes on after a watch ended that had told something, without a list")
  void goesOnAfterAnEnd() {
    var rig = following();

    rig.strike(new Fault.EndWatch(When.now()));
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.told).containsExactly("add c", "delete a");
    assertThat(rig.lists()).isOne();
  }

  @Test
  @DisplayName("6.1 C-1 lists again after watches that end at once, and tells nothing twice")
  void tellsNothingTwiceWhereWatchesEndAtOnce() {
    var rig = use(new Rig());
    rig.touch("a");
    rig.api.faults().add(WATCHES, new Fault.EndWatch(When.now()), new Lifetime.Times(3));

    rig.start();

    assertThat(rig.witness.told).containsExactly("add a", "add proof");
    assertThat(rig.lists()).isGreaterThan(1);
  }

  @ParameterizedTest(name = "6.1 C-2 survives a reset {0} bytes into a watch")
  @ValueSource(ints = {1, 50, 200, 500, 1500})
  void survivesAResetInTheMiddleOfAMessage(int bytes) {
    var rig = use(new Rig());
    rig.touch("a");
    rig.api.faults().once(WATCHES, new Fault.Reset(When.afterBytes(bytes)));
    rig.begin();
    await().atMost(PATIENCE).until(() -> {
      rig.touch("b");
      return rig.watches() > 1;
    });

    rig.touch("a");
    rig.converges();
  }

  @Test
  @DisplayName("8.8 C-3 finds out that a connection is half open, by its pings")
  void findsOutThatAConnectionIsHalfOpen() {
    var rig = following(new Rig(Rig.QUICK, config -> config.setWebsocketPingInterval(500L)));

    rig.strike(new Fault.HalfOpen(When.now(), ofMinutes(60)));
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.told).containsExactly("add c", "delete a");
  }

  @ParameterizedTest(name = "6.1 C-4 410 in the stream, with the end {0}: one list, the difference")
  @EnumSource(Ending.class)
  void tellsTheDifferenceAfterA410(Ending ending) {
    var rig = following();
    rig.api.disruptions().freeze(ofSeconds(1), Kinds.ENDPOINTS);
    rig.touch("a");
    rig.touch("c");
    rig.delete("b");

    rig.strike(new Fault.FailWatch(When.now(), Failure.of(410, 0), ending));
    rig.converges();

    assertThat(rig.witness.told).containsExactlyInAnyOrder("update a", "add c", "lose b");
    assertThat(rig.lists()).isEqualTo(2);
  }

  @ParameterizedTest(name = "6.1 C-4 {0} in the stream: nothing is lost, nothing is listed")
  @ValueSource(ints = {429, 500, 504})
  void goesOnAfterAFailureInTheStream(int code) {
    var rig = following();

    rig.strike(new Fault.FailWatch(When.now(), Failure.of(code, 1), Ending.LATER));
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.told).containsExactly("add c", "delete a");
    assertThat(rig.lists()).isOne();
  }

  @ParameterizedTest(name = "6.5 C-5 C-26 {0} on the first lists: starts once they are answered")
  @ValueSource(ints = {401, 403, 404, 410, 429, 500, 503})
  void startsOnceListsAreAnswered(int code) {
    var rig = use(new Rig());
    rig.touch("a");
    var refusing = rig.api.faults().add(LISTS, Fault.Answer.status(code).retryAfter(1));
    rig.begin();
    refusing.awaitFired(3, PATIENCE);

    refusing.remove();
    rig.converges();
    rig.awaitWatches(1);

    assertThat(rig.witness.told).containsExactly("add a", "add proof");
    assertThat(rig.lease().complaint()).isNull();
  }

  @ParameterizedTest(name = "6.1 C-5 C-26 {0} on a list after a 410: the difference in the end")
  @ValueSource(ints = {401, 403, 404, 429, 500, 503})
  void keepsWhatItHasWhileListsFail(int code) {
    var rig = following();
    var refusing = rig.api.faults().add(LISTS, Fault.Answer.text(code, "not now"));
    rig.strike(new Fault.FailWatch(When.now(), Failure.of(410, 0), Ending.LATER));
    refusing.awaitFired(2, PATIENCE);
    assertThat(rig.witness.told).isEmpty();
    rig.delete("a");

    refusing.remove();
    rig.converges();

    assertThat(rig.witness.told).containsExactly("lose a");
  }

  @Test
  @DisplayName("6.1 C-6 lists again after the events it missed are gone, and tells the difference")
  void listsAgainAfterACompaction() {
    var rig = following();
    var refusing = rig.api.faults().add(WATCHES, Fault.Answer.status(503));
    rig.strike(new Fault.Reset(When.now()));
    refusing.awaitFired(1, PATIENCE);
    rig.touch("c");
    rig.delete("a");
    rig.api.disruptions().compact(Kinds.ENDPOINTS);

    refusing.remove();
    rig.converges();

    assertThat(rig.witness.told).containsExactlyInAnyOrder("add c", "lose a");
    assertThat(rig.lists()).isEqualTo(2);
  }

  @Test
  @DisplayName("6.1 C-7 C-8 follows a cache that is down, and one that is behind")
  void followsACacheThatIsDownOrBehind() {
    var rig = following();

    rig.api.disruptions().takeDown(ofSeconds(2), Kinds.ENDPOINTS);
    rig.touch("c");
    rig.converges();
    rig.api.disruptions().freeze(ofSeconds(2), Kinds.ENDPOINTS);
    rig.delete("a");
    rig.converges();
    rig.api.disruptions().delay(ofMillis(300), Kinds.ENDPOINTS);
    rig.touch("d");
    rig.converges();
  }

  @ParameterizedTest(name = "6.1 C-10 an event twice, the second time {0}: told once")
  @EnumSource(Fault.Duplicate.As.class)
  void tellsADuplicateOnce(Fault.Duplicate.As as) {
    var rig = use(new Rig());
    rig.touch("a");
    rig.api.faults().add(WATCHES, new Fault.Duplicate(2, as));

    rig.start();
    rig.touch("a");
    rig.touch("b");
    rig.converges();

    assertThat(rig.witness.told).containsExactly("add a", "add proof", "update a", "add b");
    assertThat(rig.lists()).isOne();
  }

  @Test
  @DisplayName("C-11 an audit finds an event that never came, and makes up for it")
  void healsAfterAnEventThatNeverCame() {
    var auditing = new ReflectorSettings(ofSeconds(60), ofMinutes(3), ofSeconds(1), ofMillis(200));
    var rig = use(new Rig(auditing, config -> {
    }));
    rig.touch("a");
    rig.touch("b");
    // the first event on the watch is the proof that it is on
    rig.api.faults().once(WATCHES, new Fault.Drop(3));
    rig.start();

    rig.touch("a");
    rig.delete("b");
    rig.touch("c");
    rig.converges();

    assertThat(rig.lease().view().counts().drifted()).isOne();
    assertThat(rig.lease().view().counts().restarts()).isOne();
    assertThat(rig.witness.told).contains("lose b");
  }

  @Test
  @DisplayName("6.3 C-13 a bookmark moves the version to go on from, and nobody is told")
  void goesOnFromABookmark() {
    var often = new CacheSettings(Capacity.fixed(1000), ofSeconds(3), ofMillis(200), ofSeconds(2),
        ofSeconds(1), CacheSettings.DEFAULT.buffers());
    var rig = following(new Rig(EmbeddedApi.start(often), Rig.QUICK, config -> {
    }));

    // when only another kind changes, and the watch is cut after a bookmark
    var other = rig.api.store().create(Kinds.CONFIG_MAP, Objects.named("other"));
    var version = other.path("metadata").path("resourceVersion").asString();
    await().atMost(PATIENCE)
        .until(() -> rig.lease().view().resourceVersion().compareTo(version) >= 0);
    rig.strike(new Fault.Reset(When.now()));

    // then the next watch begins there
    var next = rig.api.faults().journal().await(WATCHES, 2, PATIENCE);
    assertThat(next.asked().resourceVersion()).isGreaterThanOrEqualTo(version);
    assertThat(rig.witness.told).isEmpty();
    assertThat(rig.lists()).isOne();
  }

  @ParameterizedTest(name = "6.1 C-15 C-16 {0}")
  @MethodSource("slowWays")
  void getsThereOverASlowWay(Fault fault) {
    var rig = use(new Rig());
    rig.touch("a");
    rig.api.faults().add(Match.requests(), fault);
    rig.begin();

    for (int i = 0; i < 10; i++) {
      rig.touch("x" + i % 3);
      rig.touch("k" + i % 3);
    }
    rig.delete("k1");
    rig.converges();
  }

  static Stream<Fault> slowWays() {
    var some = new Pause(ofMillis(1), ofMillis(50));
    return Stream.of(new Fault.LateAnswer(some), new Fault.LateBody(some),
        new Fault.LateEvents(some), Fault.Fragments.of(1), Fault.Fragments.of(7),
        new Fault.Bursts(ofMillis(200)));
  }

  @Test
  @DisplayName("8.1 C-17 text that is not ASCII is fine over a WebSocket")
  void takesAnyTextOverAWebSocket() {
    var rig = use(new Rig());
    rig.touch("a");
    rig.api.faults().add(WATCHES, new Fault.RawUtf8());
    rig.start();

    writeUmlaut(rig);
    rig.touch("b");
    rig.converges();

    assertThat(rig.lists()).isOne();
    assertThat(rig.watches()).isOne();
  }

  @Test
  @DisplayName("8.1 C-17 text that is not ASCII breaks a plain watch, which is made up for")
  void healsAPlainWatchThatTextBroke() {
    var rig = use(new Rig(Rig.QUICK, config -> config.setOnlyHttpWatches(true)));
    rig.touch("a");
    rig.api.faults().add(WATCHES, new Fault.RawUtf8());
    rig.start();

    writeUmlaut(rig);
    rig.touch("b");
    rig.touch("a");
    rig.converges();
  }

  private static void impatient(Config config) {
    config.setRequestTimeout(2_000);
  }

  private static void writeUmlaut(Rig rig) {
    rig.api.store().update(Kinds.ENDPOINTS, Objects
        .with(Objects.named("a"), "text", "Grüße, 世界"));
  }

  @ParameterizedTest(name = "6.1 C-18 an event that is {0}: the store is right in the end")
  @EnumSource(Fault.Malformed.Shape.class)
  void makesUpForAMalformedEvent(Fault.Malformed.Shape shape) {
    var auditing = new ReflectorSettings(ofSeconds(60), ofMinutes(3), ofSeconds(3), ofMillis(500));
    var rig = use(new Rig(auditing, config -> {
    }));
    rig.touch("a");
    rig.touch("b");
    rig.api.faults().once(WATCHES, new Fault.Malformed(2, shape));
    rig.start();

    rig.touch("a");
    rig.touch("b");
    rig.touch("c");
    rig.converges();
  }

  @ParameterizedTest(name = "6.1 C-19 a list that is {0}: listed again")
  @EnumSource(Fault.BrokenList.Flaw.class)
  void listsAgainAfterABrokenList(Fault.BrokenList.Flaw flaw) {
    var rig = use(new Rig());
    rig.touch("a");
    rig.touch("b");
    rig.api.faults().add(LISTS, new Fault.BrokenList(flaw), new Lifetime.Times(2));

    rig.start();

    assertThat(rig.witness.told).containsExactlyInAnyOrder("add a", "add b", "add proof");
  }

  @ParameterizedTest(name = "C-22 {0} to handshakes for a while: gets there")
  @MethodSource("refusedHandshakes")
  void getsThereAfterRefusedHandshakes(String name, Fault fault) {
    var rig = following(new Rig(Rig.QUICK, FaultsTest::impatient));
    rig.api.faults().add(WATCHES.over(Transport.WEBSOCKET), fault, new Lifetime.Times(4));

    rig.strike(new Fault.Reset(When.now()));
    rig.touch("c");
    rig.delete("a");
    rig.converges();
  }

  static Stream<Arguments> refusedHandshakes() {
    return Stream.<Fault>of(Fault.Answer.status(400), Fault.Answer.status(404),
        Fault.Answer.status(410), Fault.Answer.status(503), Fault.Answer.empty(200),
        new Fault.NoAnswer())
        .map(fault -> Arguments.of(
            fault instanceof Fault.Answer answer ? String.valueOf(answer.code()) : "nothing",
            fault));
  }

  @ParameterizedTest(name = "C-22 {0} to every handshake: plain watches instead")
  @ValueSource(ints = {200, 503})
  void watchesWithoutAWebSocketWhereThereIsNone(int code) {
    var rig = use(new Rig());
    rig.touch("a");
    rig.api.faults().add(WATCHES.over(Transport.WEBSOCKET), Fault.Answer.empty(code));

    rig.start();
    rig.touch("a");
    rig.delete("a");
    rig.converges();
  }

  @Test
  @DisplayName("C-22 410 to every handshake until it lists again: alarms, and lists again")
  void alarmsWhereHandshakesLoop() {
    var rig = following();
    var gone = rig.api.faults().add(WATCHES, Fault.Answer.status(410));
    rig.strike(new Fault.Reset(When.now()));
    rig.touch("c");
    gone.awaitFired(2, PATIENCE);
    int listsBefore = rig.lists();

    // when nothing but a new list would help
    await().atMost(PATIENCE).until(() -> rig.lease().view().health().alarmed());
    await().atMost(PATIENCE).until(() -> rig.lists() > listsBefore);
    gone.remove();

    // then all is well again
    rig.converges();
    await().atMost(PATIENCE).until(() -> !rig.lease().view().health().alarmed());
    assertThat(rig.witness.told).containsExactly("add c");
  }

  @ParameterizedTest(name = "C-22 {0}")
  @MethodSource("oddSockets")
  void copesWithOddWebSockets(Fault fault) {
    var rig = use(new Rig(Rig.QUICK, config -> config.setWebsocketPingInterval(500L)));
    rig.touch("a");
    rig.api.faults().add(WATCHES, fault);
    rig.start();

    rig.api.endWatches();
    rig.touch("a");
    rig.touch("b");
    rig.converges();
  }

  static List<Fault> oddSockets() {
    return List.of(new Fault.BinaryMessages(), new Fault.CloseCode(1001), new Fault.CloseCode(1011),
        new Fault.IgnoredPings());
  }

  @Test
  @DisplayName("C-23 a watch that was too slow is made up for")
  void makesUpForAWatchThatWasTooSlow() {
    var rig = following();
    rig.api.faults().once(WATCHES, new Fault.StopTaking(1));
    rig.strike(new Fault.Reset(When.now()));
    rig.touch("stuck");
    await().atMost(PATIENCE).until(() -> rig.witness.told.contains("add stuck"));

    for (int i = 0; i < 500; i++) {
      rig.touch("k" + i % 20);
    }
    rig.converges();
  }

  @Test
  @DisplayName("6.1 C-24 a server that refuses connections for a while is found again")
  void findsAServerThatWasDown() {
    var rig = following();

    rig.api.disruptions().refuse(ofSeconds(3));
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.told).containsExactly("add c", "delete a");
  }

  @Test
  @DisplayName("6.1 C-24 a server that answers nothing for a while is found again")
  void findsAServerThatAnsweredNothing() {
    var rig = following(new Rig(Rig.QUICK, FaultsTest::impatient));

    rig.api.faults().add(Match.requests(), new Fault.NoAnswer(), new Lifetime.During(ofSeconds(3)));
    rig.strike(new Fault.Reset(When.now()));
    rig.touch("c");
    rig.delete("a");
    rig.converges();
  }

  @Test
  @DisplayName("8.4 C-25 a server restarted with higher versions: one list, only the difference")
  void tellsTheDifferenceAfterARestart() {
    var rig = following();

    rig.api.restart(Restart.SAME_DATA);
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.told).containsOnlyOnce("add c");
    assertThat(rig.witness.told).doesNotContain("add b", "update b", "add a");
  }

  @Test
  @DisplayName("8.4 C-25 a server restarted without objects: all are gone")
  void losesWhatARestartedServerForgot() {
    var rig = following();

    rig.api.restart(Restart.EMPTY);
    rig.touch("c");
    rig.converges();

    assertThat(rig.witness.told).contains("lose a", "lose b", "add c");
  }

  @Test
  @DisplayName("8.7 at most a list a second while every watch is answered with 410, then all is well")
  void sparesTheServerInAStorm() {
    var rig = following();
    int before = rig.lists();
    var storm = rig.api.faults().add(WATCHES,
        new Fault.FailWatch(When.now(), Failure.of(410, 0), Ending.LATER));
    rig.strike(new Fault.FailWatch(When.now(), Failure.of(410, 0), Ending.LATER));
    storm.awaitFired(4, PATIENCE);
    var calls = rig.api.faults().journal().calls(LISTS);
    var lasted = calls.getLast().at().minus(calls.get(before).at());

    storm.remove();
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    // two quick ones at the beginning are a matter of course
    assertThat(calls.size() - before).isLessThanOrEqualTo((int) lasted.toSeconds() + 3);
    assertThat(rig.witness.told).doesNotHaveDuplicates();
  }
}
