package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.Rig;
import dev.activator.embedded.api.cache.Windows;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Kind;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Failure;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Fault.FailWatch.Ending;
import dev.activator.testing.faults.Lifetime;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Pause;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.faults.When;
import java.time.Duration;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two clients, while objects are written at random and everything legal goes wrong. In the end each
 * is as the API is, and no handler was told what cannot be. The system property {@code convergence.rounds} sets how many faults each seed draws: 6, or 300
 * for a long run.
 */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time, each with a server of its own.
class ConvergenceTest {
  private static final int ROUNDS = Integer.getInteger("convergence.rounds", 6);
  private static final int KEYS = 50;
  private static final int WRITES_A_ROUND = 60;

  static LongStream seeds() {
    return LongStream.range(0, 20);
  }

  @ParameterizedTest(name = "seed {0}")
  @DisplayName("every informer is as the API in the end, whatever legal faults come between")
  @MethodSource("seeds")
  void convergesWhateverGoesWrong(long seed) {
    var random = new Random(seed);
    var api = EmbeddedApi.start(Windows.of(300));
    api.faults().seed(seed);
    try (var one = new Rig(api, Rig.QUICK, config -> {
    }).begin();
        var other = new Rig(api, Rig.QUICK, config -> {
        }).begin()) {
      for (int round = 0; round < ROUNDS; round++) {
        disturb(api, BuiltInKinds.ENDPOINTS, random);
        write(one, random);
      }

      api.faults().heal();
      one.converges();
      other.converges();
      assertThat(one.lease().view().counts().drifted()).isZero();
      assertThat(other.lease().view().counts().drifted()).isZero();
    }
  }

  /** Some of it while a fault is at work, some of it after a while. */
  private static void write(Rig rig, Random random) {
    for (int i = 0; i < WRITES_A_ROUND; i++) {
      var name = "k" + random.nextInt(KEYS);
      boolean exists = rig.api.store().find(BuiltInKinds.ENDPOINTS, "default", name) != null;
      if (exists && random.nextInt(4) == 0) {
        rig.delete(name);
      } else {
        rig.touch(name);
      }
    }
    var seen = "default/k0";
    rig.touch("k0");
    if (random.nextBoolean()) {
      // every other round is followed to its end, so that faults also hit those who are up to date
      await()
          .until(() -> rig.truth().get(seen) != null && rig.truth().equals(rig.stored()));
    }
  }

  /** One of the things that go wrong with lists and watches of a kind. */
  static void disturb(EmbeddedApi api, Kind kind, Random random) {
    var faults = api.faults();
    var watches = Match.requests(Verb.WATCH).of(kind);
    var some = new Pause(Duration.ofMillis(1), Duration.ofMillis(20));
    switch (random.nextInt(14)) {
      case 0 -> faults.strike(watches, new Fault.EndWatch(When.now()));
      case 1 -> faults.strike(watches, new Fault.Reset(When.now()));
      case 2 -> faults.once(watches, new Fault.Reset(When.afterBytes(random.nextInt(2000))));
      case 3 -> faults.strike(watches, new Fault.FailWatch(When.now(), Failure.of(410, 0),
          Ending.LATER));
      case 4 -> faults.strike(watches, new Fault.FailWatch(When.now(), Failure.of(500, 0),
          Ending.LATER));
      case 5 -> faults.add(Match.requests(Verb.LIST).of(kind), Fault.Answer.status(503),
          new Lifetime.Times(2));
      case 6 -> api.disruptions().compact(kind);
      case 7 -> api.disruptions().takeDown(Duration.ofMillis(300), kind);
      case 8 -> api.disruptions().freeze(Duration.ofMillis(300), kind);
      case 9 -> faults.once(watches, new Fault.Duplicate(1 + random.nextInt(20),
          Fault.Duplicate.As.THE_SAME));
      case 10 -> faults.once(watches, new Fault.Bookmarks(Fault.Bookmarks.Flaw.DUPLICATED));
      case 11 -> faults.add(Match.requests(), new Fault.LateAnswer(some), new Lifetime.Times(5));
      case 12 -> faults.once(watches, Fault.Fragments.of(1 + random.nextInt(30)));
      default -> api.disruptions().refuse(Duration.ofMillis(500));
    }
  }
}
