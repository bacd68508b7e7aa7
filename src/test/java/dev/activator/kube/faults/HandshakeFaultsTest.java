package dev.activator.kube.faults;

import static dev.activator.kube.Rig.PATIENCE;
import static dev.activator.kube.Rig.WATCHES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.Rig;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Lifetime;
import dev.activator.testing.faults.When;
import io.fabric8.kubernetes.client.Config;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Watches that are not accepted, or not answered. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time, each with a server of its own.
class HandshakeFaultsTest {
  @AutoClose
  private final Rigs rigs = new Rigs();

  @Test
  @DisplayName("text that is not ASCII is fine")
  void takesAnyText() {
    var rig = rigs.use(new Rig());
    rig.touch("a");
    rig.api.faults().add(WATCHES, new Fault.RawUtf8());
    rig.start();

    rig.api.store().writes().update(BuiltInKinds.ENDPOINTS, Objects
        .with(Objects.named("a"), "text", "Grüße, 世界"));
    rig.touch("b");
    rig.touch("a");

    rig.converges();
    assertThat(rig.lists()).isOne();
    assertThat(rig.watches()).isOne();
  }

  @ParameterizedTest(name = "{0} to watches for a while: gets there")
  @MethodSource("refusals")
  void getsThereAfterRefusals(String name, Fault fault) {
    var rig = rigs.following(new Rig(Rig.QUICK, HandshakeFaultsTest::impatient));
    rig.api.faults().add(WATCHES, fault, new Lifetime.Times(4));
    rig.strike(new Fault.Reset(When.now()));
    rig.touch("c");
    rig.delete("a");
    rig.converges();
  }

  static Stream<Arguments> refusals() {
    return Stream.<Fault>of(Fault.Answer.status(400), Fault.Answer.status(404),
        Fault.Answer.status(410), Fault.Answer.status(503), Fault.Answer.empty(200),
        new Fault.NoAnswer())
        .map(fault -> Arguments.of(
            fault instanceof Fault.Answer answer ? String.valueOf(answer.code()) : "nothing",
            fault));
  }

  private static void impatient(Config config) {
    config.setRequestTimeout(2_000);
  }

  @Test
  @DisplayName("410 to every watch until it lists again: alarms, and lists again")
  void alarmsWhereEveryWatchIsRefused() {
    var rig = rigs.following();
    var gone = rig.api.faults().add(WATCHES, Fault.Answer.status(410));
    rig.strike(new Fault.Reset(When.now()));
    rig.touch("c");
    gone.awaitFired(2, PATIENCE);
    int listsBefore = rig.lists();

    // when nothing but a new list would help
    await().until(() -> rig.lease().view().health().alarmed());
    await().until(() -> rig.lists() > listsBefore);
    gone.remove();

    // then all is well again
    rig.converges();
    await().until(() -> !rig.lease().view().health().alarmed());
    assertThat(rig.witness.received).containsExactly("add c");
  }
}
