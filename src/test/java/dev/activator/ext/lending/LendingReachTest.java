package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessage.Grant;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pods that not all activators can reach. */
class LendingReachTest extends LendingScene {
  /** Such as one whose node has no route to the pod's. */
  @Test
  void lendsAPod_thatItsOwnerCannotReach() {
    linked(3);
    pods(pods(1));
    var pod = pods(1).getFirst();
    var owner = ownerOf(pod);
    var others = all.stream().filter(it -> it != owner).toList();

    owner.pods(List.of());
    requests(others.getFirst(), 1);
    pass(3_000);
    assertThat(others.getFirst().running(pod)).isOne();

    // when another waits for longer than the next of the first
    requests(others.getLast(), 1);
    pass(2_000);
    requests(others.getFirst(), 1);
    others.getFirst().answerOne();
    pass(2_000);
    assertThat(others.getLast().running(pod)).isOne();

    // when its owner can reach it again
    owner.pods(pods(1));
    requests(owner, 1);
    others.getLast().answerOne();
    pass(2_000);
    assertThat(others.getFirst().running(pod)).isOne();
    others.getFirst().answerOne();
    pass(2_000);
    assertThat(owner.running(pod)).isOne();
  }

  @Test
  void lendsAPod_thatItsOwnerHasNeverReached() {
    linked(2);
    var pod = pods(1).getFirst();
    var borrower = otherThanOwnerByHash(pod);

    borrower.pods(pods(1));
    requests(borrower, 2);
    pass(3_000);

    assertThat(borrower.running(pod)).isOne();
  }

  /** An owner without requests probes a new pod less often. */
  @Test
  void lendsAPodAtOnce_thatABorrowerHasFoundBeforeItsOwner() {
    linked(2);
    var pod = pods(1).getFirst();
    var borrower = otherThanOwnerByHash(pod);
    requests(borrower, 1);

    borrower.pods(pods(1));
    pass(20);

    assertThat(borrower.running(pod)).isOne();
  }

  @Test
  void lendsAnotherPod_whereTheBorrowerCannotReachTheFirst() {
    linked(2);
    pods(pods(8));
    var owner = all.getFirst();
    var borrower = all.getLast();
    var mine = pods(8).stream().filter(pod -> owns(owner, pod)).toList();
    assertThat(mine).hasSizeGreaterThan(1);
    pods(mine);
    sent.clear();

    borrower.pods(List.of(mine.getLast()));
    requests(borrower, 1);
    pass(3_000);

    assertThat(borrower.running(mine.getLast())).isOne();
    assertThat(sent.stream().filter(PeerMessage.Grant.class::isInstance).count())
        .isLessThanOrEqualTo(mine.size());
  }

  @Test
  void doesNotLendAPermit_thatARequestThroughTheClusterIpUses() {
    twoShareOnePod();
    owner.throttler().onDestinations(new HealthyDestinations(
        SimulatedActivator.ID, new Destination("10.3.0.1", 80), DestinationSet.of(pods(1))));
    pass(100);
    requests(owner, 1);
    assertThat(owner.running(new Destination("10.3.0.1", 80))).isOne();
    owner.pods(pods(1));
    pass(100);

    requests(borrower, 1);
    pass(2_000);

    assertThat(borrower.running(pod)).isZero();
  }

  @Test
  void offersAPodAgain_afterTheBorrowerCouldNotReachItForAMoment() {
    twoShareOnePod();
    requests(borrower, 1);
    borrower.retryAll();
    pass(3_000);

    assertThat(borrower.running(pod)).isOne();
  }

  @Test
  void keepsAPodThatCouldNotBeReachedForAMoment_whileAnActivatorIsNotLinkedYet() {
    var one = start();
    linked(1);
    pods(pods(4));
    var mine = pods(4).stream().filter(pod -> owns(one, pod)).toList();
    start();
    known();

    requests(all.get(1), 4 - mine.size());
    requests(one, mine.size());
    one.retryAll();
    pass(2_000);

    assertThat(one.queued()).isZero();
  }
}
