package dev.activator.embedded.runtime.sidecar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotsTest {
  private final List<String> running = new ArrayList<>();

  @Test
  void anyNumberRunsWhereThereIsNoLimit() {
    var slots = new Slots(0);

    for (int i = 0; i < 1_000; i++) {
      assertThat(slots.take(() -> running.add("one"))).isTrue();
    }

    assertThat(running).hasSize(1_000);
  }

  @Test
  void tenTimesAsManyWaitAsRunAndTheNextIsRefused() {
    var slots = new Slots(2);

    for (int i = 0; i < 2 + 20; i++) {
      assertThat(slots.take(() -> running.add("one"))).isTrue();
    }

    assertThat(slots.take(() -> running.add("too many"))).isFalse();
    assertThat(running).hasSize(2);
  }

  @Test
  void aSlotGoesToWhoWaitsLongest() {
    var slots = new Slots(1);
    slots.take(() -> running.add("a"));
    slots.take(() -> running.add("b"));
    slots.take(() -> running.add("c"));

    slots.giveBack();

    assertThat(running).containsExactly("a", "b");
  }

  @Test
  void whoGaveUpIsPassedOver() {
    var slots = new Slots(1);
    Runnable gone = () -> running.add("gone");
    slots.take(() -> running.add("a"));
    slots.take(gone);
    slots.take(() -> running.add("c"));

    slots.abandon(gone);
    slots.giveBack();

    assertThat(running).containsExactly("a", "c");
  }

  @Test
  void moreGivenBackThanTakenIsABug() {
    assertThatThrownBy(new Slots(1)::giveBack).isInstanceOf(IllegalStateException.class);
  }
}
