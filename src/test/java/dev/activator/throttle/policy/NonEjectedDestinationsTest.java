package dev.activator.throttle.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import java.util.List;
import org.junit.jupiter.api.Test;

class NonEjectedDestinationsTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final Destination A = new Destination("10.0.0.1", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);
  private static final Destination C = new Destination("10.0.0.3", 8012);
  private static final Destination CLUSTER_IP = new Destination("10.1.0.1", 80);
  private static final String OWN = "10.9.0.1";

  private static HealthyDestinations pods(Destination... pods) {
    return HealthyDestinations.pods(ID, DestinationSet.of(pods));
  }

  private final NonEjectedDestinations onAll = NonEjectedDestinations.initial(ID)
      .withHealthy(pods(A, B, C));

  @Test
  void anUnreachableDestinationIsEjectedForAWhile() {
    var eligible = onAll.eject(B, 100);

    assertThat(eligible.subset(2, 99)).isEqualTo(new DestinationSubset(List.of(A, C), 2, 4));
    assertThat(eligible.subset(2, 100)).isEqualTo(new DestinationSubset(List.of(A, B, C), 2, 6));
  }

  @Test
  void theLastPodIsEjectedToo() {
    var eligible = NonEjectedDestinations.initial(ID).withHealthy(pods(A)).eject(A, 100);

    assertThat(eligible.subset(1, 99)).isEqualTo(DestinationSubset.NONE);
    assertThat(eligible.subset(1, 100)).isEqualTo(new DestinationSubset(List.of(A), 1, 1));
  }

  @Test
  void aPodReturnsOnceItWasRemovedAndListedAgain() {
    var eligible = onAll.eject(B, 100).withHealthy(pods(A, C)).withHealthy(pods(A, B, C));

    assertThat(eligible.subset(1, 1)).isEqualTo(new DestinationSubset(List.of(A, B, C), 1, 3));
  }

  @Test
  void aPodThatIsStillListedStaysEjected() {
    var eligible = onAll.eject(B, 100).withHealthy(pods(A, B));

    assertThat(eligible.subset(1, 1)).isEqualTo(new DestinationSubset(List.of(A), 1, 1));
  }

  @Test
  void sharesStayTheSameWhateverIsEjected() {
    // three pods, two activators: the first has A and C
    var eligible = onAll.withActivators(List.of(OWN, "10.9.0.2"), OWN).eject(A, 100);

    assertThat(eligible.subset(1, 1)).isEqualTo(new DestinationSubset(List.of(C), 1, 1));
  }

  @Test
  void theServiceIsEjectedToo() {
    var eligible = NonEjectedDestinations.initial(ID)
        .withHealthy(new HealthyDestinations(ID, CLUSTER_IP, DestinationSet.of(A)))
        .eject(CLUSTER_IP, 100);

    assertThat(eligible.subset(1, 1)).isEqualTo(DestinationSubset.NONE);
    assertThat(eligible.subset(1, 100).destinations()).containsExactly(CLUSTER_IP);
  }

  @Test
  void keepsNoLimitWhereThereIsNone() {
    assertThat(onAll.eject(B, 100).subset(0, 1))
        .isEqualTo(new DestinationSubset(List.of(A, C), DestinationSubset.UNLIMITED,
            DestinationSubset.UNLIMITED));
  }

  @Test
  void knowsThePodsBehindTheService() {
    var service = new HealthyDestinations(ID, CLUSTER_IP, DestinationSet.of(A, B));

    assertThat(NonEjectedDestinations.initial(ID).withHealthy(service).podsBehindClusterIp())
        .isEqualTo(DestinationSet.of(A, B));
    assertThat(onAll.podsBehindClusterIp()).isEqualTo(DestinationSet.NONE);
  }
}
