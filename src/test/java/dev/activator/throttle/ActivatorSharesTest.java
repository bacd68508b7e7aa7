package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What one activator among others may use of the pods. */
class ActivatorSharesTest extends ThrottlerScene {
  /** A request that may run on this pod only, and fails if it is gone. */
  private record OnlyOn(Destination pod) implements PodChoice {
    @Override
    public Wanted wanted(List<Destination> pods) {
      return pods.contains(pod) ? new Only(pod) : GONE;
    }

    @Override
    public long score(Destination any) {
      return 0;
    }
  }

  @Test
  @DisplayName("an activator among others uses its share")
  void anActivatorAmongOthersUsesItsShare() {
    exists(1);
    activators("130.0.0.1", OWN);
    pods(A, B, C);

    // three pods among two activators: the second gets one
    assertThat(destinations(requests(2))).containsExactly(B, null);
  }

  @Test
  @DisplayName("the share grows when another activator leaves")
  void theShareGrowsWhenAnotherActivatorLeaves() {
    exists(1);
    pods(A, B, C);
    activators("130.0.0.1", OWN);
    var held = requests(3);
    assertThat(destinations(held)).containsExactly(B, null, null);

    activators(OWN);

    assertThat(destinations(held)).containsExactly(B, A, C);
  }

  @Test
  @DisplayName("the share stays when the own address leaves the path")
  void theShareStaysWhenTheOwnAddressLeavesThePath() {
    exists(1);
    pods(A, B, C);
    activators("130.0.0.1", OWN);
    activators("130.0.0.1");

    assertThat(throttler.view(ID).capacity()).isEqualTo(1);
  }

  @Test
  void requestsReachThePodTheyBelongToAlsoInTheShareOfAnotherActivator() {
    exists(1);
    pods(A, B, C);
    activators("130.0.0.1", OWN);
    throttler.choose(exist.of(ID), caller -> ((HeldRequest) caller).choice());
    loop.run();

    for (var pod : List.of(A, B, C)) {
      var request = new HeldRequest(loop).choosing(new OnlyOn(pod));
      request.received(throttler.admit(exist.of(ID), request));
      loop.run();

      assertThat(request.answers()).containsExactly(pod);
    }
  }

  @Test
  void activatorsDivideThePodsAgainOnceRequestsNoLongerChoose() {
    exists(1);
    pods(A, B, C);
    activators("130.0.0.1", OWN);
    throttler.choose(exist.of(ID), _ -> null);
    loop.run();
    assertThat(throttler.view(ID).capacity()).isEqualTo(3);

    throttler.choose(exist.of(ID), null);
    loop.run();

    assertThat(throttler.view(ID).capacity()).isEqualTo(1);
  }

  /** A limit that no queue-proxy keeps is not exceeded. */
  @Test
  void activatorsDivideThePodsOfAScaledServiceAlsoIfRequestsChoose() {
    revision = new Revision(ID, "", PortProtocol.HTTP1, 1, RequestTimeouts.DEFAULT, true,
        ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null);
    throttler.onRevision(exist.put(revision));
    pods(A, B, C);
    activators("130.0.0.1", OWN);

    throttler.choose(exist.of(ID), _ -> null);
    loop.run();

    assertThat(throttler.view(ID).capacity()).isEqualTo(1);
  }

  @Test
  @DisplayName("activators are counted on the revisions own port")
  void activatorsAreCountedOnTheRevisionsOwnPort() {
    revision = new Revision(ID, "", PortProtocol.H2C, 1, RequestTimeouts.DEFAULT, true, null,
        Map.of(),
        Map.of(), null);
    exist.put(revision);
    pods(A, B, C);
    throttler.onPublicAddresses(
        new PublicEndpointAddresses(ID, List.of(OWN), List.of("130.0.0.1", OWN)));
    loop.run();

    assertThat(throttler.view(ID).capacity()).isEqualTo(1);
  }
}
