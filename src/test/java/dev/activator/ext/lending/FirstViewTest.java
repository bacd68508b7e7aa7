package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.ThrottleView.SharedPermitsView;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** An activator whose requests come before it knows which other activators there are. */
class FirstViewTest extends LendingScene {
  private SimulatedActivator unlisted() {
    var one = start();
    one.activators(Set.of(one.id().address()));
    pods(pods(1));
    return one;
  }

  @Test
  void usesNoPod_untilItIsListed() {
    var one = unlisted();
    requests(one, 1);
    assertThat(one.queued()).isOne();

    one.listed(List.of(one.id().address()));
    pass(1);

    assertThat(one.queued()).isZero();
  }

  @Test
  void usesNoPod_untilItKnowsAllThatAreListedWithIt() {
    var one = unlisted();
    var other = start();
    other.pods(pods(1));
    one.listed(sorted());
    requests(one, 1);
    assertThat(one.queued()).isOne();

    other.listed(sorted());
    all.forEach(it -> it.activators(addresses()));
    connected();

    assertThat(one.queued()).isZero();
  }

  /** The list of a revision comes before that of all activators. */
  @Test
  void usesNoPod_whileNoActivatorsAreKnown() {
    IntStream.range(0, 2).forEach(_ -> start());
    all.forEach(it -> it.listed(sorted()));
    pods(pods(1));

    all.forEach(it -> requests(it, 1));

    assertThat(running(pods(1).getFirst())).isZero();
    all.forEach(it -> it.activators(addresses()));
    connected();
    assertThat(running(pods(1).getFirst())).isOne();
  }

  @Test
  void usesNoPodOfAnother_thatServedAlone() {
    var one = start();
    known();
    pods(pods(1));
    requests(one, 1);

    var next = start();
    next.activators(Set.of(next.id().address()));
    next.pods(pods(1));
    requests(next, 1);

    assertThat(running(pods(1).getFirst())).isOne();
    one.answerOne();
    known();
    connected();
    assertThat(next.queued()).isZero();
  }

  /** It may take longer than that until it is ready, and listed. */
  @Test
  void usesAllPods_whereNoListHasItForTenSecondsAfterItsFirstRequest() {
    var one = unlisted();
    pass(60_000);
    requests(one, 1);
    pass(9_900);
    assertThat(one.queued()).isOne();

    pass(100);

    assertThat(one.queued()).isZero();
    assertThat(one.view()).isEqualTo(SharedPermitsView.ALONE);
  }

  /** One that runs outside the cluster is in no list. */
  @Test
  void doesNotWaitAgain_whereItWasInNoListForAnotherRevision() {
    var one = unlisted();
    requests(one, 1);
    pass(10_000);
    assertThat(one.queued()).isZero();
    one.answerOne();

    one.revisionGone();
    one.revision(revision);
    pods(pods(1));
    requests(one, 1);
    pass(1);

    assertThat(one.queued()).isZero();
  }

  @Test
  void usesItsPodsAtOnce_whereAQueueProxyKeepsTheLimit() {
    revision = revision(1, false);
    var one = unlisted();

    requests(one, 1);

    assertThat(one.queued()).isZero();
  }

  @Test
  void usesNoPod_onceTheQueueProxyIsGone_untilItIsListed() {
    revision = revision(1, false);
    var one = unlisted();
    changed(revision(1, true));

    requests(one, 1);
    assertThat(one.queued()).isOne();

    one.listed(List.of(one.id().address()));
    pass(1);
    assertThat(one.queued()).isZero();
  }
}
