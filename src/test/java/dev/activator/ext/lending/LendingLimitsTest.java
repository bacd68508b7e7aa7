package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Limits, timeouts and revisions that change while permits are lent. */
class LendingLimitsTest extends LendingScene {
  @Test
  void runsNoMoreThanALoweredLimit_onceRequestsHaveEnded() {
    revision = revision(2, true);
    IntStream.range(0, 3).forEach(_ -> start());
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    var borrowers = all.stream().filter(it -> !owns(it, pod)).toList();
    borrowers.forEach(it -> requests(it, 1));
    assertThat(running(pod)).isEqualTo(2);
    borrowers.forEach(it -> IntStream.range(0, 5).forEach(_ -> it.request()));
    pass(20);

    all.forEach(it -> it.setRevision(revision(1, true)));
    pass(1_000);
    borrowers.forEach(SimulatedActivator::answerOne);
    pass(1_000);

    assertThat(running(pod)).isEqualTo(1);
  }

  @Test
  void countsWhatRanWithoutALimit_whenTheRevisionGetsOne() {
    revision = revision(0, true);
    linked(2);
    pods(pods(1));
    var pod = pods(1).getFirst();
    all.forEach(it -> requests(it, 1));
    assertThat(running(pod)).isEqualTo(2);

    changed(revision(1, true));
    var owner = ownerOf(pod);
    var other = other(owner);
    owner.answerOne();
    requests(owner, 1);
    pass(2_000);
    assertThat(owner.running(pod)).as("while one runs at the other").isZero();

    other.answerOne();
    pass(20);
    assertThat(owner.running(pod)).isOne();
  }

  @Test
  void waitsForActivatorsThatDoNotKnowOfTheLimitYet() {
    revision = revision(0, true);
    linked(2);
    pods(pods(1));
    var pod = pods(1).getFirst();
    var late = all.get(1);
    var early = all.get(0);
    requests(late, 1);

    early.setRevision(revision(1, true));
    pass(1_000);
    requests(early, 1);
    assertThat(early.running(pod)).isZero();

    late.setRevision(revision(1, true));
    pass(1_000);
    assertThat(early.running(pod)).as("one runs at the other").isZero();
    late.answerOne();
    pass(20);
    assertThat(early.running(pod)).isOne();
  }

  @Test
  void lendsAndBorrowsAgain_afterTheLimitWasAwayForAMoment() {
    linked(2);
    pods(pods(2));
    changed(revision(0, true));
    all.forEach(it -> requests(it, 2));
    changed(revision(1, true));
    all.forEach(it -> it.hold(false));
    pass(1_000);
    all.forEach(it -> it.hold(true));

    requests(all.get(0), 3);

    assertThat(pods(2)).allSatisfy(pod -> assertThat(running(pod)).isOne());
    assertThat(all.get(0).queued()).isOne();
  }

  @Test
  void countsALentPermit_forAsLongAsATimeoutThatWasRaised() {
    revision = revision(1, true, Duration.ofSeconds(1), Map.of());
    twoShareOnePod();
    changed(revision(1, true));
    requests(borrower, 1);
    links.getFirst().cut();

    requests(owner, 1);
    pass(200_000);

    assertThat(owner.running(pod)).isZero();
    connected();
  }

  @Test
  void countsALentPermit_forAsLongAsTheTimeoutThatItsRequestsBeganWith() {
    twoShareOnePod();
    requests(borrower, 1);
    links.getFirst().cut();

    changed(revision(1, true, Duration.ofSeconds(1), Map.of()));
    requests(owner, 1);
    pass(200_000);

    assertThat(owner.running(pod)).isZero();
    connected();
  }

  @Test
  void borrowsAgain_afterTheRevisionWasCreatedAgainHereAlone() {
    linked(2);
    pods(pods(4));
    for (var here : all) {
      var lender = all.get(all.indexOf(here) == 0 ? 1 : 0);
      assertThat(pods(4)).anyMatch(pod -> owns(lender, pod));
      here.revisionGone();
      pass(10);
      here.setRevision(revision);
      here.listed(sorted());
      here.pods(pods(4));
      pass(1_000);

      requests(here, 4);
      assertThat(here.queued()).as(here.id().toString()).isZero();
      here.hold(false);
      pass(5_000);
      here.hold(true);
    }
  }
}
