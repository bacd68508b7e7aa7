package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.ext.console.WaitingOverview.ApiState.Watched;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingOverviewTest {
  @Test
  void aProblemThatSeveralWatchesShareIsNamedOnce() {
    var state = new ApiState(true, List.of(new Watched("services", false, false, 1, "refused"),
        new Watched("revisions", true, false, 0, null), new Watched("pods", false, true, 61, null),
        new Watched("services", false, true, 61, "refused"),
        new Watched("endpoints", false, true, 61, "refused")));

    assertThat(state.problems()).containsExactly("services, endpoints: refused",
        "pods: no watch is open");
    assertThat(new ApiState(true, List.of()).problems()).isEmpty();
  }
}
