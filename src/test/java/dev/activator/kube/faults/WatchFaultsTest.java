package dev.activator.kube.faults;

import static dev.activator.kube.Rig.PATIENCE;
import static dev.activator.kube.Rig.WATCHES;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.Rig;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.cache.WatchCacheSettings;
import dev.activator.embedded.api.cache.Windows;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Failure;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Fault.FailWatch.Ending;
import dev.activator.testing.faults.Lifetime;
import dev.activator.testing.faults.When;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A watch that breaks, or tells what is not so. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time, each with a server of its own.
class WatchFaultsTest {
  @AutoClose
  private final Rigs rigs = new Rigs();

  @Test
  @DisplayName("goes on after a reset where it was: in order, once each, without a list")
  void goesOnAfterAReset() {
    var rig = rigs.patient();
    rig.touch("c");
    rig.touch("a");
    rig.converges();

    rig.strike(new Fault.Reset(When.now()));
    rig.touch("b");
    rig.converges();

    assertThat(rig.witness.received).containsExactly("add c", "update a", "update b");
    assertThat(rig.lists()).isOne();
  }

  @Test
  @DisplayName("goes on without a list after a watch that had events")
  void goesOnAfterAnEnd() {
    var rig = rigs.patient();

    rig.strike(new Fault.EndWatch(When.now()));
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.received).containsExactly("add c", "delete a");
    assertThat(rig.lists()).isOne();
  }

  @Test
  @DisplayName("lists again after watches that end at once, and reports nothing twice")
  void reportsNothingTwiceWhereWatchesEndAtOnce() {
    var rig = rigs.use(new Rig());
    rig.touch("a");
    rig.api.faults().add(WATCHES, new Fault.EndWatch(When.now()), new Lifetime.Times(3));

    rig.start();

    assertThat(rig.witness.received).containsExactly("add a", "add proof");
    // One that took longer than a second to end, on a busy machine, is resumed.
    await().until(() -> rig.lists() > 1);
  }

  @ParameterizedTest(name = "survives a reset {0} bytes into a watch")
  @ValueSource(ints = {1, 50, 200, 500, 1500})
  void survivesAResetInTheMiddleOfAMessage(int bytes) {
    var rig = rigs.use(new Rig());
    rig.touch("a");
    rig.api.faults().once(WATCHES, new Fault.Reset(When.afterBytes(bytes)));
    rig.begin();
    await().until(() -> {
      rig.touch("b");
      return rig.watches() > 1;
    });

    rig.touch("a");
    rig.converges();
  }

  @Test
  @DisplayName("finds out that a connection is half open, by a fresh list")
  void findsOutThatAConnectionIsHalfOpen() {
    var doubting = new ReflectorSettings(ofSeconds(60), ofSeconds(2), ofMinutes(10),
        ofMillis(500));
    var rig = rigs.following(new Rig(doubting, config -> {
    }));
    rig.strike(new Fault.HalfOpen(When.now(), ofMinutes(60)));
    rig.touch("c");
    rig.delete("a");
    rig.converges();
    assertThat(rig.witness.received).containsExactlyInAnyOrder("add c", "lose a");
  }

  @ParameterizedTest(name = "410 in the stream, with the end {0}: one list, the difference")
  @EnumSource(Ending.class)
  void reportsTheDifferenceAfterA410(Ending ending) {
    var rig = rigs.following();
    rig.api.disruptions().freeze(ofMinutes(60), BuiltInKinds.ENDPOINTS);
    rig.touch("a");
    rig.touch("c");
    rig.delete("b");

    rig.strike(new Fault.FailWatch(When.now(), Failure.of(410, 0), ending));
    rig.api.faults().heal();
    rig.converges();

    assertThat(rig.witness.received).containsExactlyInAnyOrder("update a", "add c", "lose b");
    assertThat(rig.lists()).isEqualTo(2);
  }

  @ParameterizedTest(name = "{0} in the stream: nothing is lost, nothing is listed")
  @ValueSource(ints = {429, 500, 504})
  void goesOnAfterAFailureInTheStream(int code) {
    var rig = rigs.patient();

    rig.strike(new Fault.FailWatch(When.now(), Failure.of(code, 1), Ending.LATER));
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.received).containsExactly("add c", "delete a");
    assertThat(rig.lists()).isOne();
  }

  @ParameterizedTest(name = "an event twice, the second time {0}: reported once")
  @EnumSource(Fault.Duplicate.As.class)
  void reportsADuplicateOnce(Fault.Duplicate.As as) {
    var rig = rigs.use(Rigs.patientRig());
    rig.touch("a");
    rig.api.faults().add(WATCHES, new Fault.Duplicate(2, as));

    rig.start();
    rig.touch("a");
    rig.touch("b");
    rig.converges();

    assertThat(rig.witness.received).containsExactly("add a", "add proof", "update a", "add b");
    assertThat(rig.lists()).isOne();
  }

  @Test
  @DisplayName("an audit finds an event that never came, and makes up for it")
  void healsAfterAnEventThatNeverCame() {
    // On a busy machine an event that comes may take seconds.
    var auditing = new ReflectorSettings(ofSeconds(60), ofMinutes(3), ofSeconds(1), ofSeconds(4));
    var rig = rigs.use(new Rig(auditing, config -> {
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
    assertThat(rig.witness.received).contains("lose b");
  }

  @Test
  @DisplayName("a bookmark moves the version to go on from, without an event")
  void goesOnFromABookmark() {
    var often = new WatchCacheSettings(Windows.fixed(1000), ofSeconds(3), ofMillis(200),
        ofSeconds(2),
        ofSeconds(1), WatchCacheSettings.DEFAULT.buffers());
    var rig = rigs.following(new Rig(EmbeddedApi.start(often), Rigs.PATIENT, config -> {
    }));

    // when only another kind changes, and the watch is cut after a bookmark
    var other = rig.api.store().create(BuiltInKinds.CONFIG_MAP, Objects.named("other"));
    var version = other.path("metadata").path("resourceVersion").asString();
    await()
        .until(() -> rig.lease().view().resourceVersion().compareTo(version) >= 0);
    rig.strike(new Fault.Reset(When.now()));

    // then the next watch begins there
    var next = rig.api.faults().journal().await(WATCHES, 2, PATIENCE);
    assertThat(next.asked().resourceVersion()).isGreaterThanOrEqualTo(version);
    assertThat(rig.witness.received).isEmpty();
    assertThat(rig.lists()).isOne();
  }

  @ParameterizedTest(name = "an event that is {0}: the store is right in the end")
  @EnumSource(Fault.Malformed.Shape.class)
  void makesUpForAMalformedEvent(Fault.Malformed.Shape shape) {
    var auditing = new ReflectorSettings(ofSeconds(60), ofMinutes(3), ofSeconds(3), ofMillis(500));
    var rig = rigs.use(new Rig(auditing, config -> {
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

  @Test
  @DisplayName("a watch that was too slow is made up for")
  void makesUpForAWatchThatWasTooSlow() {
    var rig = rigs.following();
    rig.api.faults().once(WATCHES, new Fault.StopTaking(1));
    rig.strike(new Fault.Reset(When.now()));
    rig.touch("stuck");
    await().until(() -> rig.witness.received.contains("add stuck"));

    for (int i = 0; i < 500; i++) {
      rig.touch("k" + i % 20);
    }
    rig.converges();
  }
}
