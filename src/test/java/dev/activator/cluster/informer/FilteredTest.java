package dev.activator.cluster.informer;

import static dev.activator.cluster.informer.Seen.at;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.informer.Notification.Added;
import dev.activator.cluster.informer.Notification.Deleted;
import dev.activator.cluster.informer.Notification.FinalState;
import dev.activator.cluster.informer.Notification.Moment;
import dev.activator.cluster.informer.Notification.Updated;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class FilteredTest {
  private static final VersionedObject<String> OUT_1 = at("x", 1, "");
  private static final VersionedObject<String> IN_2 = at("x", 2, "mine");
  private static final VersionedObject<String> IN_3 = at("x", 3, "mine, too");
  private static final VersionedObject<String> OUT_4 = at("x", 4, "");

  private final List<Notification<String>> told = new ArrayList<>();
  private final Handler<String> filtered = new Filtered<>(
      object -> object.object().startsWith("mine"), told::add);

  @Test
  @DisplayName("5.7 adds what comes to be concerned, and deletes what no longer is")
  void followsAnObjectInAndOut() {
    filtered.on(new Added<>(OUT_1, Moment.INITIAL));
    filtered.on(new Updated<>(OUT_1, IN_2));
    filtered.on(new Updated<>(IN_2, IN_3));
    filtered.on(new Updated<>(IN_3, OUT_4));
    filtered.on(new Updated<>(OUT_4, OUT_4));
    filtered.on(new Deleted<>(OUT_4, FinalState.KNOWN));

    assertThat(told).containsExactly(new Added<>(IN_2, Moment.LATER), new Updated<>(IN_2, IN_3),
        new Deleted<>(IN_3, FinalState.KNOWN));
  }

  @Test
  @DisplayName("5.7 passes on a deletion that a list revealed, for what it is")
  void passesATombstoneOn() {
    filtered.on(new Added<>(IN_2, Moment.INITIAL));
    filtered.on(new Deleted<>(IN_2, FinalState.UNKNOWN));

    assertThat(told).containsExactly(new Added<>(IN_2, Moment.INITIAL),
        new Deleted<>(IN_2, FinalState.UNKNOWN));
  }

  @Test
  void endsWhatItBeganEvenIfTheLastStateIsNotConcerned() {
    filtered.on(new Added<>(IN_2, Moment.LATER));
    filtered.on(new Deleted<>(OUT_4, FinalState.KNOWN));

    assertThat(told).containsExactly(new Added<>(IN_2, Moment.LATER),
        new Deleted<>(OUT_4, FinalState.KNOWN));
  }
}
