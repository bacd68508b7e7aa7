package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.console.ConsoleHomePage.ActivatorTotals;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.PeerSnapshot.Load;
import dev.activator.throttle.PeerSnapshot.State;
import dev.activator.throttle.ThrottleView;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ActivatorTotalsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web-00001");

  private static ThrottleView queue(int capacity, int inFlight, int queued, Duration oldest) {
    return new ThrottleView(WEB, 1, capacity, inFlight, queued, oldest, false, List.of());
  }

  private static PeerSnapshot peer(String address, State state, String problem,
      @Nullable Load load) {
    return new PeerSnapshot(address, state == State.LINKED ? "pod-" + address : "", state, problem,
        Duration.ZERO, load);
  }

  @Test
  void addsUpAllActivators_andNamesThoseThatAreMissing() {
    var now = ActivatorTotals.of(
        List.of(queue(1, 2, 0, Duration.ZERO), queue(0, 0, 4, Duration.ofSeconds(7))),
        Map.of(WEB, 1.5, new RevisionId("shop", "cart-00001"), 2.0), Map.of(500, 3),
        List.of(peer("10.0.0.2", State.LINKED, "", new Load(10, 20)),
            peer("10.0.0.3", State.LINKED, "", null),
            peer("10.0.0.5", State.UNREACHABLE, "refused", null)));

    assertThat(now).isEqualTo(new ActivatorTotals(3.5, 12, 24, Duration.ofSeconds(7),
        Map.of(500, 3), 1, 3,
        List.of("pod-10.0.0.3 does not answer", "10.0.0.5 is not linked: refused")));
  }
}
