package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.RevisionHistory.Entry;
import dev.activator.embedded.runtime.policy.RevisionHistory.Plan;
import java.util.List;
import org.junit.jupiter.api.Test;

class RevisionHistoryTest {
  private static final Entry ONE = new Entry(1, "a");
  private static final Entry TWO = new Entry(2, "b");
  private static final Entry THREE = new Entry(3, "c");

  @Test
  void beginsWithOne() {
    assertThat(history().plan("a")).isEqualTo(new Plan(ONE, true, List.of()));
  }

  @Test
  void keepsTheNewestWhileTheTemplateIsTheSame() {
    assertThat(history(TWO, ONE).plan("b")).isEqualTo(new Plan(TWO, false, List.of()));
  }

  @Test
  void makesANewOneForATemplateThatIsNotTheNewest() {
    assertThat(history(ONE, TWO).plan("a"))
        .isEqualTo(new Plan(new Entry(3, "a"), true, List.of()));
  }

  @Test
  void takesAwayAllButTheLastThree() {
    assertThat(history(ONE, TWO, THREE).plan("d"))
        .isEqualTo(new Plan(new Entry(4, "d"), true, List.of(ONE)));
  }

  @Test
  void takesAwayWhatAnEarlierRunLeft() {
    assertThat(history(ONE, TWO, THREE, new Entry(4, "d")).plan("d").stale()).containsExactly(ONE);
  }

  private static RevisionHistory history(Entry... entries) {
    return new RevisionHistory(List.of(entries));
  }
}
