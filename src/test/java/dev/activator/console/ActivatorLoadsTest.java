package dev.activator.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.lending.link.ActivatorLoad;
import dev.activator.lending.link.ActivatorLoad.Busy;
import dev.activator.lending.link.ActivatorLoad.Memory;
import dev.activator.lending.link.ActivatorLoad.Processors;
import dev.activator.lending.link.ActivatorLoad.Requests;
import dev.activator.lending.link.PeerNetwork.AnsweredLoad;
import dev.activator.lending.link.PeerSnapshot;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ActivatorLoadsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web-00001");
  private static final long SECOND = 1_000_000_000L;

  private static ActivatorLoad load(Requests requests, Map<Integer, Integer> errors,
      boolean starting) {
    return new ActivatorLoad("0.1.0", Duration.ofMinutes(3), new Processors(0.5, 2),
        new Memory(1, 2), 0.1, requests, errors, List.of(new Busy(WEB, requests, starting)), false);
  }

  private static PeerSnapshot peer(String address, PeerSnapshot.State state, String problem) {
    return new PeerSnapshot(address, state == PeerSnapshot.State.LINKED ? "pod-" + address : "",
        state,
        problem, Duration.ZERO);
  }

  @Test
  void addsUpAllActivators_andNamesThoseThatAreMissing() {
    var own = load(new Requests(10, 2, 0, Duration.ZERO), Map.of(500, 1), true);
    var other = load(new Requests(5.5, 1, 3, Duration.ofSeconds(7)), Map.of(500, 2, 503, 4), true);
    var now = ActivatorLoads.of("me", own,
        List.of(peer("10.0.0.2", PeerSnapshot.State.LINKED, ""),
            peer("10.0.0.3", PeerSnapshot.State.LINKED, ""),
            peer("10.0.0.4", PeerSnapshot.State.LINKED, ""),
            peer("10.0.0.5", PeerSnapshot.State.UNREACHABLE, "refused")),
        Map.of("10.0.0.2", new AnsweredLoad(other, 9 * SECOND), "10.0.0.3",
            new AnsweredLoad(other, 4 * SECOND), "10.0.0.5", new AnsweredLoad(other, 10 * SECOND)),
        10 * SECOND);

    assertThat(now.requests()).isEqualTo(new Requests(15.5, 3, 3, Duration.ofSeconds(7)));
    assertThat(now.errors()).isEqualTo(Map.of(500, 3, 503, 4));
    assertThat(now.coldStarts()).as("the same revision").isEqualTo(1);
    assertThat(now.elsewhere()).isEqualTo(Map.of(WEB, other.requests()));
    assertThat(now.silent()).extracting(each -> each.pod() + " " + each.problem()).containsExactly(
        "pod-10.0.0.3 does not answer", "pod-10.0.0.4 does not answer",
        "10.0.0.5 is not linked: refused");
  }
}
