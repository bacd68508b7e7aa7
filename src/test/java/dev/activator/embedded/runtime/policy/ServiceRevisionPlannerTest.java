package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.runtime.policy.ServiceRevisionPlanner.Entry;
import dev.activator.embedded.runtime.policy.ServiceRevisionPlanner.Plan;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ServiceRevisionPlannerTest {
  private static final Entry ONE = new Entry(1, "a");
  private static final Entry TWO = new Entry(2, "b");

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
  void deletesTheOldest_whenTwentyOlderThanTheNewestAreKept() {
    var entries = entries(21);

    assertThat(history(entries).plan("t21").stale()).isEmpty();
    assertThat(history(entries).plan("new"))
        .isEqualTo(new Plan(new Entry(22, "new"), true, List.of(entries[0])));
  }

  @Test
  void deletesWhatAnEarlierRunLeft() {
    var entries = entries(23);

    assertThat(history(entries).plan("t23").stale()).containsExactly(entries[0], entries[1]);
  }

  private static Entry[] entries(int count) {
    return IntStream.rangeClosed(1, count).mapToObj(number -> new Entry(number, "t" + number))
        .toArray(Entry[]::new);
  }

  private static ServiceRevisionPlanner history(Entry... entries) {
    return new ServiceRevisionPlanner(List.of(entries));
  }
}
