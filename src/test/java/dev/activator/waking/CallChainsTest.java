package dev.activator.waking;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ContainerFailure;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.waking.CallChains.Mode;
import dev.activator.waking.CallChains.Source;
import dev.activator.waking.ChainWorld.Step;
import dev.activator.waking.policy.WakeWithNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallChainsTest {
  private static final Duration START = Duration.ofSeconds(3);
  private static final Duration SOON = Duration.ofMillis(50);
  private static final String STRANGER = "192.0.2.7";
  private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  /** a calls b, which calls c. */
  private static final Map<String, List<Step>> CHAIN = Map.of("a", List.of(new Step("b", SOON)),
      "b", List.of(new Step("c", SOON)));

  private static ChainWorld world(Mode mode, String... trustedHops) {
    var world = new ChainWorld(mode, trustedHops);
    List.of("a", "b", "c").forEach(name -> world.service(name, START));
    return world;
  }

  @Test
  void startsTheWholeChainTogetherAfterThreeEpisodes() {
    var world = world(Mode.ON);
    for (int i = 0; i < 3; i++) {
      assertThat(world.answer("a", CHAIN)).isGreaterThan(Duration.ofSeconds(9));
      world.sleep();
    }

    assertThat(world.answer("a", CHAIN)).isLessThan(Duration.ofMillis(3_300));

    assertThat(world.starts.cause(ChainWorld.id("b")))
        .isEqualTo("n/a was (3 of 3 times within 3.1 s)");
    assertThat(world.starts.cause(ChainWorld.id("c"))).startsWith("n/b was (3 of 3 times");
    assertThat(world.counts.used(Source.LEARNED) + world.counts.late(Source.LEARNED)).isEqualTo(2);
    assertThat(world.counts.savedSeconds(Source.LEARNED)).isBetween(5.5, 6.5);
    world.end();
    assertThat(world.counts.unused(Source.LEARNED)).isZero();
  }

  @Test
  void keepsWhatItLearnedWhileItIsUsed() {
    var world = world(Mode.ON);
    for (int i = 0; i < 30; i++) {
      var took = world.answer("a", CHAIN);
      assertThat(took).isLessThan(Duration.ofMillis(i < 3 ? 9_300 : 3_300));
      world.sleep();
    }
    assertThat(world.counts.unused(Source.LEARNED)).isZero();
    world.end();
  }

  @Test
  void observingStartsNothingAndCountsTheSame() {
    var world = world(Mode.OBSERVE);
    for (int i = 0; i < 4; i++) {
      assertThat(world.answer("a", CHAIN)).isGreaterThan(Duration.ofSeconds(9));
      world.sleep();
    }

    assertThat(world.starts.cause(ChainWorld.id("b"))).isNull();
    assertThat(world.counts.used(Source.OBSERVED) + world.counts.late(Source.OBSERVED))
        .isEqualTo(2);
    assertThat(world.counts.savedSeconds(Source.OBSERVED)).isBetween(5.5, 6.5);
    assertThat(learned(world, "a"))
        .containsExactly("n/b: called 4 of 4 times; would start with it");
    world.end();
  }

  private static List<String> learned(ChainWorld world, String name) {
    var answer = world.chains.learned(ChainWorld.id(name));
    world.loop.run();
    return answer.join();
  }

  @Test
  void offObservesNothing() {
    var world = world(Mode.OFF);
    world.answer("a", CHAIN);

    assertThat(world.watching).isFalse();
    assertThat(learned(world, "a")).isEmpty();
    world.end();
  }

  @Test
  void requestsAreObservedOnlyInTheSecondsAfterAStart() {
    var world = world(Mode.ON);
    world.answer("a", CHAIN);
    assertThat(world.watching).isTrue();

    world.loop.advance(Duration.ofMinutes(2));
    assertThat(world.watching).isFalse();
    // when pods are up
    world.answer("a", CHAIN);

    assertThat(world.watching).isFalse();
    assertThat(learned(world, "a"))
        .containsExactly("n/b: called 1 of 1 times; does not start with it");
    world.end();
  }

  @Test
  void aCalleeThatWasNotAtZeroIsNeitherAHitNorAMiss() {
    var world = world(Mode.ON);
    for (int i = 0; i < 3; i++) {
      world.answer("a", CHAIN);
      world.sleep();
    }
    for (int i = 0; i < 5; i++) {
      // b is kept up by others.
      world.answer("b", Map.of());
      world.loop.advance(Duration.ofMinutes(2));
      world.answer("a", Map.of());
      world.sleep();
    }

    assertThat(learned(world, "a")).containsExactly("n/b: called 3 of 3 times; starts with it");
    world.end();
  }

  @Test
  void theTraceNamesTheCallerWhereTheAddressDoesNot() {
    var world = world(Mode.ON);
    var trace = Map.of("traceparent", TRACE);
    world.service(ChainWorld.id("a")).call(STRANGER, trace, ChainWorld.Request::end);
    world.loop.advance(Duration.ofSeconds(4));
    world.service(ChainWorld.id("b")).call("192.0.2.99", trace, ChainWorld.Request::end);
    world.loop.advance(Duration.ofSeconds(4));

    assertThat(learned(world, "a")).singleElement().asString().startsWith("n/b: called 1 of 1");
    world.end();
  }

  @ParameterizedTest
  // The second is that of a sidecar of a mesh.
  @ValueSource(strings = {"192.0.2.99", "127.0.0.6"})
  void theLastEntryOfATrustedHopNamesTheCaller(String hop) {
    var world = world(Mode.ON, "192.0.2.0/24", "127.0.0.6");
    called(world, hop, "198.51.100.1, " + world.service(ChainWorld.id("a")).address);

    assertThat(learned(world, "a")).hasSize(1);
    world.end();
  }

  @Test
  void forgedAddressesTeachNothing() {
    var world = world(Mode.ON, "192.0.2.0/24");
    var pod = world.service(ChainWorld.id("a")).address;
    for (int i = 0; i < 10; i++) {
      // One that is not trusted says that a pod of "a" calls.
      called(world, "198.51.100.1", pod);
      // One that is trusted says who does; what that one has said comes before.
      called(world, "192.0.2.99", pod + ", 198.51.100.1");
      world.sleep();
    }

    assertThat(learned(world, "a")).isEmpty();
    assertThat(world.starts.cause(ChainWorld.id("b"))).isNull();
    world.end();
  }

  /** A request for b while the start of a is over. */
  private static void called(ChainWorld world, String peer, String forwardedFor) {
    world.service(ChainWorld.id("a")).call(STRANGER, ChainWorld.Request::end);
    world.loop.advance(Duration.ofSeconds(4));
    world.service(ChainWorld.id("b")).call(peer, Map.of("X-Forwarded-For", forwardedFor),
        ChainWorld.Request::end);
    world.loop.advance(Duration.ofSeconds(4));
  }

  @Test
  void forgedTracesStartNothingBeyondTheBudget() {
    var world = world(Mode.ON);
    for (int i = 0; i < 60; i++) {
      world.service("victim" + i, START);
    }
    for (int round = 0; round < 6; round++) {
      world.service(ChainWorld.id("a")).call(STRANGER, Map.of("traceparent", TRACE),
          ChainWorld.Request::end);
      world.loop.advance(Duration.ofSeconds(4));
      for (int i = 0; i < 60 && round < 5; i++) {
        world.service(ChainWorld.id("victim" + i)).call(STRANGER, Map.of("traceparent", TRACE),
            ChainWorld.Request::end);
      }
      world.loop.advance(Duration.ofSeconds(4));
      if (round < 5) {
        world.sleep();
      }
    }

    // Of the last round, in which the attacker sent only the one request for "a".
    assertThat(world.services.values().stream()
        .filter(one -> one.id.name().startsWith("victim") && one.begun > 5).count())
        .isEqualTo(SpeculativeStarts.MAX_AT_ONCE);
    world.end();
  }

  @Test
  void aStartSoonAfterAnotherIsItsOwnEpisode() {
    var world = world(Mode.ON);
    for (int i = 0; i < 3; i++) {
      world.answer("a", CHAIN);
      world.loop.advance(Duration.ofMillis(100));
      world.services.values().forEach(ChainWorld.Service::stop);
      world.loop.advance(Duration.ofMillis(100));
    }

    assertThat(learned(world, "a")).containsExactly("n/b: called 3 of 3 times; starts with it");
    assertThat(learned(world, "b")).containsExactly("n/c: called 3 of 3 times; starts with it");
    world.end();
  }

  @ParameterizedTest
  @CsvSource({"OBSERVE, n/b: called 3 of 3 times; would start with it",
      // It has started b in vain, once.
      "ON, n/b: called 3 of 4 times; does not start with it"})
  void aStartWhoseRequestNeverRanTeachesNothingUnlessItStartedOthers(Mode mode, String learned) {
    var world = world(mode);
    for (int i = 0; i < 3; i++) {
      world.answer("a", CHAIN);
      world.sleep();
    }
    world.throttler.starts().subscribe("test", id -> {
      if (id.equals(ChainWorld.id("a"))) {
        world.throttler.containerFailure(
            new ContainerFailure(id, new RevisionStartFailure("ExitCode1", "", "")));
      }
    });
    int before = world.service(ChainWorld.id("b")).begun;
    for (int i = 0; i < 5; i++) {
      world.rejected("a");
      world.sleep();
    }

    assertThat(learned(world, "a")).containsExactly(learned);
    assertThat(world.service(ChainWorld.id("b")).begun - before)
        .isEqualTo(mode == Mode.ON ? 1 : 0);
    world.end();
  }

  @Test
  void whatWasStartedInVainTwoCallsAway_isUnlearned() {
    var world = world(Mode.ON);
    for (int i = 0; i < 3; i++) {
      world.answer("a", CHAIN);
      world.sleep();
    }
    int before = world.service(ChainWorld.id("c")).begun;
    // c is up before b's request comes.
    world.service(ChainWorld.id("a")).start = Duration.ofSeconds(5);
    for (int i = 0; i < 8; i++) {
      world.answer("a", Map.of("a", List.of(new Step("b", SOON))));
      world.sleep();
    }

    assertThat(world.service(ChainWorld.id("c")).begun - before).isLessThanOrEqualTo(3);
    world.end();
  }

  @Test
  void aRequestThatWentToItsFallback_saysNothingOfItsRevision() {
    var world = world(Mode.ON);
    for (int i = 0; i < 3; i++) {
      world.answer("a", CHAIN);
      world.sleep();
    }
    world.fallenBack("a", TRACE);
    world.loop.advance(Duration.ofSeconds(1));
    world.service(ChainWorld.id("c")).call(STRANGER, Map.of("traceparent", TRACE),
        ChainWorld.Request::end);
    world.sleep();

    // The call to c was of the other service; and that b was not called is a miss only as it was started.
    assertThat(learned(world, "a")).singleElement().asString().startsWith("n/b");
    world.end();
  }

  @Test
  void aRequestThatMustNotWake_teachesNothingAndIsNoUse() {
    var world = world(Mode.ON);
    for (int i = 0; i < 3; i++) {
      world.answer("a", CHAIN);
      world.sleep();
    }
    long used = world.counts.used(Source.LEARNED) + world.counts.late(Source.LEARNED);
    world.answer("a", Map.of());
    // b is up now, as it was started with a.
    world.probe("b", world.service(ChainWorld.id("a")).address);
    world.sleep();

    assertThat(world.counts.used(Source.LEARNED) + world.counts.late(Source.LEARNED))
        .isEqualTo(used);
    assertThat(learned(world, "a"))
        .containsExactly("n/b: called 3 of 4 times; does not start with it");
    world.end();
  }

  @Test
  void whatALearnedStartNames_startsWithIt() {
    var world = world(Mode.ON);
    var wakeWith = new WakeWithStarter(world.starts, name -> name, world.chains::startedByName);
    world.throttler.starts().subscribe("test", wakeWith::started);
    world.chains.onStarted(wakeWith::follow);
    wakeWith.revision(new Revision(ChainWorld.id("b"), "u", PortProtocol.HTTP1, 0,
        RequestTimeouts.DEFAULT, true, null, Map.of(),
        Map.of(WakeWithNames.ANNOTATION, "c"), null));
    var program = Map.of("a", List.of(new Step("b", SOON)));
    for (int i = 0; i < 3; i++) {
      world.answer("a", program);
      world.sleep();
    }

    world.answer("a", program);

    assertThat(world.starts.cause(ChainWorld.id("b"))).startsWith("n/a was");
    assertThat(world.service(ChainWorld.id("c")).begun).isEqualTo(4);
    world.end();
    wakeWith.gone(ChainWorld.id("b"));
  }

  @Test
  void aDeletedRevisionIsForgotten() {
    var world = world(Mode.ON);
    world.answer("a", CHAIN);
    world.chains.gone(ChainWorld.id("b"));
    world.loop.run();

    assertThat(learned(world, "a")).isEmpty();
    world.end();
  }
}
