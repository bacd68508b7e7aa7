package dev.activator.kube.faults;

import static dev.activator.kube.Rig.LISTS;
import static dev.activator.kube.Rig.PATIENCE;
import static dev.activator.kube.Rig.WATCHES;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.Rig;
import dev.activator.embedded.api.store.BuiltInKinds;
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
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists that are refused or broken, and a server that is to be spared them. */
@Execution(ExecutionMode.CONCURRENT) // They wait most of the time, each with a server of its own.
class ListFaultsTest {
  @AutoClose
  private final Rigs rigs = new Rigs();

  @ParameterizedTest(name = "{0} on the first lists: starts once they are answered")
  @ValueSource(ints = {401, 403, 404, 410, 429, 500, 503})
  void startsOnceListsAreAnswered(int code) {
    var rig = rigs.use(new Rig());
    rig.touch("a");
    var refusing = rig.api.faults().add(LISTS, Fault.Answer.status(code).retryAfter(1));
    rig.begin();
    refusing.awaitFired(3, PATIENCE);

    refusing.remove();
    rig.converges();
    rig.awaitWatches(1);

    assertThat(rig.witness.received).containsExactly("add a", "add proof");
    assertThat(rig.lease().error()).isNull();
  }

  @ParameterizedTest(name = "{0} on a list after a 410: the difference in the end")
  @ValueSource(ints = {401, 403, 404, 429, 500, 503})
  void keepsWhatItHasWhileListsFail(int code) {
    var rig = rigs.following();
    var refusing = rig.api.faults().add(LISTS, Fault.Answer.text(code, "not now"));
    rig.strike(new Fault.FailWatch(When.now(), Failure.of(410, 0), Ending.LATER));
    refusing.awaitFired(2, PATIENCE);
    assertThat(rig.witness.received).isEmpty();
    rig.delete("a");

    refusing.remove();
    rig.converges();

    assertThat(rig.witness.received).containsExactly("lose a");
  }

  @Test
  @DisplayName("lists again after the events it missed are gone, and reports the difference")
  void listsAgainAfterACompaction() {
    var rig = rigs.following();
    var refusing = rig.api.faults().add(WATCHES, Fault.Answer.status(503));
    rig.strike(new Fault.Reset(When.now()));
    refusing.awaitFired(1, PATIENCE);
    rig.touch("c");
    rig.delete("a");
    rig.api.disruptions().compact(BuiltInKinds.ENDPOINTS);

    refusing.remove();
    rig.converges();

    assertThat(rig.witness.received).containsExactlyInAnyOrder("add c", "lose a");
    assertThat(rig.lists()).isEqualTo(2);
  }

  @ParameterizedTest(name = "a list that is {0}: listed again")
  @EnumSource(value = Fault.BrokenList.Flaw.class, names = "ITEMS_NULL", mode = Mode.EXCLUDE)
  void listsAgainAfterABrokenList(Fault.BrokenList.Flaw flaw) {
    var rig = rigs.use(new Rig());
    rig.touch("a");
    rig.touch("b");
    rig.api.faults().add(LISTS, new Fault.BrokenList(flaw), new Lifetime.Times(2));

    rig.start();

    assertThat(rig.witness.received).containsExactlyInAnyOrder("add a", "add b", "add proof");
  }

  @Test
  @DisplayName("at most a list a second while every watch is answered with 410, then all is well")
  void sparesTheServerInAStorm() {
    var rig = rigs.following();
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
    assertThat(rig.witness.received).doesNotHaveDuplicates();
  }
}
