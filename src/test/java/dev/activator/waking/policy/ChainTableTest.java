package dev.activator.waking.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import dev.activator.waking.policy.CallChainTable.StartTime;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ChainTableTest {
  private final CallChainTable table = new CallChainTable();

  private static RevisionId id(String name) {
    return new RevisionId("n", name);
  }

  /** Of each ten episodes. */
  private void learn(String caller, String callee, int calls, int delayMillis) {
    for (int i = 0; i < 40; i++) {
      if (i * (10 - calls) % 10 < 10 - calls) {
        table.missed(id(caller), id(callee));
      } else {
        table.called(id(caller), id(callee), delayMillis);
      }
    }
  }

  private List<String> predicted(String first, StartTime start) {
    return table.predict(id(first), _ -> start).stream()
        .map(one -> one.callee().name() + "@" + one.afterMillis()).toList();
  }

  @Test
  void allStartWithTheFirstWhereStartsTakeLongerThanTheCallsAreApart() {
    learn("a", "b", 10, 20);
    learn("b", "c", 10, 30);
    learn("c", "a", 10, 30);

    assertThat(predicted("a", new StartTime(3_000, 3_000))).containsExactly("b@20", "c@50");
    assertThat(predicted("a", new StartTime(2_800, 3_200))).containsExactly("b@0", "c@30");
    assertThat(predicted("a", StartTime.UNKNOWN)).containsExactly("b@0", "c@0");
  }

  @Test
  void aStartThatIsNeededLateBeginsLate() {
    learn("a", "b", 10, 10_000);
    learn("b", "c", 10, 0);

    assertThat(predicted("a", new StartTime(1_000, 2_000))).containsExactly("b@9000", "c@9000");
    // It is called while "a" starts.
    learn("x", "y", 10, -500);
    assertThat(predicted("x", new StartTime(3_000, 3_000))).containsExactly("y@0");
  }

  @Test
  void theProductOfTheSharesOnTheWayIsAtLeastSeventyPercent() {
    learn("a", "b", 9, 0);
    learn("b", "c", 9, 0);
    learn("c", "d", 9, 0);
    learn("d", "e", 9, 0);
    learn("e", "f", 9, 0);
    learn("b", "half", 5, 0);

    assertThat(predicted("a", StartTime.UNKNOWN)).containsExactly("b@0", "c@0", "d@0", "e@0");
    assertThat(predicted("e", StartTime.UNKNOWN)).containsExactly("f@0");
  }

  @Test
  void sixteenOfOneAndFiveStepsStartAtMost() {
    IntStream.range(0, 20).forEach(i -> learn("a", "b" + i, 10, 0));
    IntStream.range(0, 8).forEach(i -> learn("s" + i, "s" + (i + 1), 10, 0));

    assertThat(table.predict(id("a"), _ -> StartTime.UNKNOWN)).hasSize(16);
    assertThat(predicted("s0", StartTime.UNKNOWN)).containsExactly("s1@0", "s2@0", "s3@0", "s4@0",
        "s5@0");
  }

  @Test
  void theEdgeThatWasUsedLeastRecentlyIsForgottenFirst() {
    for (int i = 0; i < CallChainTable.MAX_EDGES; i++) {
      table.called(id("a" + i), id("b"), 0);
    }
    table.called(id("a0"), id("b"), 0);

    table.called(id("new"), id("b"), 0);

    for (int i = 0; i < CallChainTable.MAX_EDGES; i++) {
      assertThat(table.callees(id("a" + i))).hasSize(i == 1 ? 0 : 1);
    }
    assertThat(table.edge(id("a1"), id("b"))).isEqualTo(CallChainEdge.UNKNOWN);
  }

  @Test
  void aDeletedRevisionIsForgottenAsCallerAndAsCallee() {
    learn("a", "b", 10, 0);
    learn("b", "c", 10, 0);

    table.forget(id("b"));

    assertThat(table.callees(id("a"))).isEmpty();
    assertThat(table.callees(id("b"))).isEmpty();
    assertThat(predicted("a", StartTime.UNKNOWN)).isEmpty();
  }
}
