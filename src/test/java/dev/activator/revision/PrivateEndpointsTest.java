package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Which pods a port's protocol may use. */
class PrivateEndpointsTest {
  private static final DestinationSet LAST = DestinationSet.of(List.of(pod(1)));
  private static final DestinationSet STARTING = DestinationSet.of(List.of(pod(2)));
  private static final PrivateEndpoints ENDING = new PrivateEndpoints(
      new RevisionId("shop", "db"), new PodsByReadiness(LAST, STARTING, LAST),
      PodsByReadiness.NONE);

  private static Destination pod(int number) {
    return new Destination("10.0.0." + number, 5432);
  }

  @Test
  void requestsGoToATerminatingPod_ifNoOtherIsReady() {
    assertThat(ENDING.on(PortProtocol.HTTP1).ready()).isEqualTo(LAST);
  }

  @Test
  void connectionsOverTcpWaitForAnotherPod_whileTheLastOneTerminates() {
    var pods = ENDING.on(PortProtocol.TCP);

    assertThat(pods.ready()).isEqualTo(DestinationSet.NONE);
    assertThat(pods.notReady()).isEqualTo(STARTING);
    assertThat(pods.ending()).isEqualTo(DestinationSet.NONE);
  }
}
