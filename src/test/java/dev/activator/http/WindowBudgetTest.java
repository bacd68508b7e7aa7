package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WindowBudgetTest {
  private final WindowBudget budget = new WindowBudget(1_000);

  @Test
  void givesAConnectionNoMoreThanItLeaves() {
    var one = budget.new Share();
    var other = budget.new Share();

    assertThat(one.take(500)).isTrue();
    assertThat(one.take(1)).isFalse();
    assertThat(other.take(251)).isFalse();
    assertThat(other.take(250)).isTrue();
    assertThat(budget.free()).isEqualTo(250);
  }

  @Test
  void takesBackWhatAConnectionHad() {
    var one = budget.new Share();
    var other = budget.new Share();
    one.take(500);

    one.giveBack(500);

    assertThat(budget.free()).isEqualTo(1_000);
    assertThat(other.take(500)).isTrue();
  }
}
