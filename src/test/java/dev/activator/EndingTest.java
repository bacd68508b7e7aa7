package dev.activator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class EndingTest {
  private final List<String> done = new ArrayList<>();
  private final Ending ending = new Ending(() -> done.add("abandon"),
      code -> done.add("exit " + code), code -> done.add("halt " + code));

  private void runs() {
    assertThat(ending.running(() -> done.add("unready"))).isTrue();
  }

  @Test
  @DisplayName("8.4 a signal makes it unready at once, and ends it in order with 0")
  void aSignalEndsItInOrder() {
    runs();
    ending.signal("TERM");
    assertThat(done).containsExactly("unready", "exit 0");
  }

  @Test
  @DisplayName("8.4 a second signal ends it at once with 1")
  void aSecondSignalEndsItAtOnce() {
    runs();
    ending.signal("TERM");
    ending.signal("INT");
    assertThat(done).containsExactly("unready", "exit 0", "halt 1");
  }

  @Test
  @DisplayName("8.3 a listener that fails ends it in order with 1, once")
  void aListenerThatFailsEndsItInOrder() {
    runs();
    ending.failed("no requests are taken any more");
    ending.failed("no requests are taken any more");
    assertThat(done).containsExactly("unready", "exit 1");
  }

  @Test
  void aListenerThatGoesDuringTheEndIsNoFailure() {
    runs();
    ending.signal("TERM");
    ending.failed("closed");
    assertThat(done).containsExactly("unready", "exit 0");
  }

  @Test
  void aSignalDuringTheStartAbandonsIt() {
    ending.signal("TERM");
    assertThat(ending.running(() -> done.add("unready"))).isFalse();
    ending.signal("TERM");
    assertThat(done).containsExactly("abandon", "halt 1");
  }
}
