package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.console.Diagnoses;
import dev.activator.ext.console.WaitDiagnosis;
import dev.activator.ext.console.WaitState;
import dev.activator.revision.Destination;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of permits at an activator whose link is lost, and what the explanation says. */
class LostPeerTest extends LendingScene {
  /** Each of two activators has all permits of a pod of the other. */
  private void lendEachOther() {
    linked(2);
    var pods = pods(8);
    pods(pods);
    var first = all.getFirst();
    var its = pods.stream().filter(pod -> owns(first, pod)).findFirst().orElseThrow();
    var others = pods.stream().filter(pod -> !owns(first, pod)).findFirst().orElseThrow();
    all.forEach(it -> it.pods(List.of(its, others)));
    pass(1_000);
    requests(first, 2);
    requests(all.getLast(), 2);
    // Of the pod that is served, the permit goes to the one that waits.
    first.answerOne();
    first.answerOne();
    pass(100);
    assertThat(all.getLast().running(its) + all.getLast().running(others)).isEqualTo(2);
  }

  private WaitDiagnosis diagnosis(SimulatedActivator at, List<Destination> pods) {
    return Diagnoses.of(at.throttler().inspect(SimulatedActivator.ID), pods);
  }

  @Test
  void usesItsPodsAgain_whereAQueueProxyKeepsTheLimit_onceTheLeaseOfALostPeerIsOver() {
    revision = revision(1, false);
    twoShareOnePod();
    requests(borrower, 1);
    links.getFirst().cut();
    pass(9_000);
    requests(owner, 1);
    assertThat(owner.running(pod)).as("within the lease").isZero();

    pass(6_000);

    assertThat(owner.running(pod)).as("after it").isOne();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void saysForHowLongPermitsAreReservedForALostPeer(boolean exact) {
    revision = revision(1, exact, Duration.ofSeconds(80), Map.of());
    twoShareOnePod();
    requests(borrower, 1);
    links.getFirst().cut();
    pass(5_000);
    requests(owner, 1);

    var diagnosis = diagnosis(owner, List.of(pod));

    assertThat(diagnosis.state()).isEqualTo(WaitState.PEER_LOST);
    assertThat(diagnosis.summary()).matches(".*1 permit is at " + borrower.id().address()
        + ", whose link has been lost for \\d[.]\\d s [(]used again in at most "
        + (exact ? "2 min" : "\\d[.]\\d s") + "[)].*");
    assertThat(Diagnoses.forCallers(owner.throttler().inspect(SimulatedActivator.ID), List.of(pod)))
        .isEqualTo("permits are at an activator that cannot be reached");
    connected();
  }

  @Test
  void saysThatPermitsAreInUseAtAPeer() {
    twoShareOnePod();
    requests(owner, 1);
    requests(borrower, 1);

    var diagnosis = diagnosis(borrower, List.of(pod));

    assertThat(diagnosis.state()).isEqualTo(WaitState.AT_PEERS);
    assertThat(diagnosis.summary()).contains("1 pod is listed, but their permits are at other"
        + " activators, " + pod + " at " + owner.id().address());
    owner.answerOne();
  }

  @Test
  void saysThatPodsBelongToALostPeer() {
    twoShareOnePod();
    links.getFirst().cut();
    pass(20_000);
    requests(borrower, 1);

    var diagnosis = diagnosis(borrower, List.of(pod));

    assertThat(diagnosis.state()).isEqualTo(WaitState.PEER_LOST);
    assertThat(diagnosis.summary()).contains(
        "they belong to " + owner.id().address() + ", whose link has been lost for ");
    connected();
  }

  /** Its messages still come. */
  @Test
  void getsPermitsBack_fromABorrowerThatNoLongerReceivesItsMessages() {
    twoShareOnePod();
    borrower.hold(false);
    requests(borrower, 1);
    all.forEach(it -> it.hold(true));
    requests(borrower, 2);
    links.getFirst().stall(owner, Duration.ofSeconds(100));
    requests(owner, 1);
    pass(5_500);
    borrower.answerOne();
    pass(100);

    assertThat(owner.running(pod)).isOne();
    assertThat(borrower.running(pod)).isZero();
    links.getFirst().cut();
    pass(100_000);
    connected();
  }

  /** The permit cannot be acquired any more, although the borrower still holds it. */
  @Test
  void neverSaysThatThereIsRoom_onceALeaseIsOver() {
    lendEachOther();
    var pods = List.copyOf(all.getLast().view().pods().stream().map(it -> it.pod()).toList());
    links.getFirst().cut();
    for (int i = 0; i < 30; i++) {
      all.forEach(it -> it.answerOne());
      all.forEach(it -> requests(it, 1));
      pass(980);
      all.stream().filter(it -> it.queued() > 0).forEach(it -> assertThat(
          diagnosis(it, pods).state()).isNotIn(WaitState.MOVING, WaitState.NOT_DELIVERABLE));
    }
    connected();
  }

  @Test
  void saysWhenThePodsOfALostPeerThatHasLeftAreUsed() {
    revision = revision(1, true, Duration.ofSeconds(80), Map.of());
    twoShareOnePod();
    links.getFirst().cut();
    pass(5_000);
    borrower.listed(List.of(borrower.id().address()));
    requests(borrower, 1);
    pass(10_000);

    var diagnosis = diagnosis(borrower, List.of(pod));

    assertThat(diagnosis.state()).isEqualTo(WaitState.PEER_LOST);
    assertThat(diagnosis.summary()).contains("requests may still run at " + owner.id().address());
    pass(200_000);
    assertThat(borrower.running(pod)).isOne();
  }
}
