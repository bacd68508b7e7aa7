package dev.activator.kube.faults;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.kube.Rig;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Restart;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Lifetime;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Pause;
import dev.activator.testing.faults.When;
import io.fabric8.kubernetes.client.Config;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A server that is slow, behind, away or another one, and the way to it. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time, each with a server of its own.
class ServerFaultsTest {
  @AutoClose
  private final Rigs rigs = new Rigs();

  @Test
  @DisplayName("follows a cache that is down, and one that is behind")
  void followsACacheThatIsDownOrBehind() {
    var rig = rigs.following();

    rig.api.disruptions().takeDown(ofSeconds(2), BuiltInKinds.ENDPOINTS);
    rig.touch("c");
    rig.converges();
    rig.api.disruptions().freeze(ofSeconds(2), BuiltInKinds.ENDPOINTS);
    rig.delete("a");
    rig.converges();
    rig.api.disruptions().delay(ofMillis(300), BuiltInKinds.ENDPOINTS);
    rig.touch("d");
    rig.converges();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("slowWays")
  void getsThereOverASlowWay(Fault fault) {
    var rig = rigs.use(new Rig());
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
  @DisplayName("a server that refuses connections for a while is found again")
  void findsAServerThatWasDown() {
    var rig = rigs.following(new Rig(ReflectorSettings.DEFAULT, config -> {
    }));

    // Shorter than what makes a reflector list again, whatever the pauses between its watches.
    rig.api.disruptions().refuse(ofSeconds(1));
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.received).containsExactly("add c", "delete a");
  }

  @Test
  @DisplayName("a server that answers nothing for a while is found again")
  void findsAServerThatAnsweredNothing() {
    var rig = rigs.following(new Rig(Rig.QUICK, ServerFaultsTest::impatient));

    rig.api.faults().add(Match.requests(), new Fault.NoAnswer(), new Lifetime.During(ofSeconds(3)));
    rig.strike(new Fault.Reset(When.now()));
    rig.touch("c");
    rig.delete("a");
    rig.converges();
  }

  private static void impatient(Config config) {
    config.setRequestTimeout(2_000);
  }

  @Test
  @DisplayName("a server restarted with higher versions: one list, only the difference")
  void reportsTheDifferenceAfterARestart() {
    var rig = rigs.following();

    rig.api.restart(Restart.SAME_DATA);
    rig.touch("c");
    rig.delete("a");
    rig.converges();

    assertThat(rig.witness.received).containsOnlyOnce("add c");
    assertThat(rig.witness.received).doesNotContain("add b", "update b", "add a");
  }

  @Test
  @DisplayName("a server restarted without objects: all are gone")
  void losesWhatARestartedServerForgot() {
    var rig = rigs.following();

    rig.api.restart(Restart.EMPTY);
    rig.touch("c");
    rig.converges();

    assertThat(rig.witness.received).contains("lose a", "lose b", "add c");
  }
}
