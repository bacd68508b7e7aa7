package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.throttle.PermitSharing.PermitLease;
import dev.activator.throttle.PermitSharing.LocalQueue;
import dev.activator.throttle.PermitSharing.LocalRevision;
import dev.activator.throttle.PermitSharing.PodPermits;
import dev.activator.ext.lending.PeerMessage.Beat;
import dev.activator.ext.lending.PeerMessage.Grant;
import dev.activator.ext.lending.PeerMessage.View;
import dev.activator.ext.lending.PeerMessage.Want;
import dev.activator.ext.lending.PeerMessage.Yield;
import dev.activator.throttle.PermitSharing.SharedPods;
import dev.activator.ext.lending.policy.PodSharding;
import dev.activator.revision.Destination;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which permits an owner lends, to whom, and what it counts. */
class RevisionPermitLedgerTest extends LendingScene {
  @Test
  void countsWhatIsLent_andWhatThatSaves() {
    twoShareOnePod();

    requests(borrower, 2);
    assertThat(borrower.lending().borrowed()).isEqualTo(1);
    assertThat(owner.lending().lent()).isEqualTo(1);
    assertThat(borrower.lending().counts().borrowed().sum()).isEqualTo(1);
    assertThat(owner.lending().counts().lent().sum()).isEqualTo(1);
    assertThat(owner.lending().borrowed() + borrower.lending().lent()).isZero();

    // when it runs for a while, and others wait at the owner
    requests(owner, 1);
    pass(3_000);
    assertThat(borrower.lending().counts().savedSeconds().sum()).isBetween(2L, 4L);
    assertThat(owner.lending().counts().savedSeconds().sum()).isZero();
    all.forEach(it -> it.hold(false));
    pass(5_000);

    assertThat(borrower.lending().borrowed()).isZero();
    assertThat(owner.lending().lent()).isZero();
    assertThat(owner.lending().counts().recallsSent().sum()).isPositive()
        .isEqualTo(borrower.lending().counts().recallsReceived().sum());
  }

  @Test
  void lendsAgainAtOnce_whenARecallIsCancelledTooLate() {
    twoShareOnePod();
    requests(borrower, 1);
    requests(owner, 1);
    requests(borrower, 1);

    owner.callersLeave();
    borrower.answerOne();
    pass(20);

    assertThat(borrower.running(pod)).isOne();
    assertThat(borrower.queued()).isZero();
  }

  @Test
  void servesTheOldestRequestOfAllActivatorsFirst() {
    IntStream.range(0, 4).forEach(_ -> start());
    known();
    connected();
    pods(pods(1));
    var pod = pods(1).getFirst();
    requests(ownerOf(pod), 1);
    var order = new ArrayList<Integer>();
    for (int i : new int[]{2, 0, 3, 1, 0, 2, 1, 3}) {
      requests(all.get(i), 1);
      order.add(i);
      pass(50);
    }

    var served = new ArrayList<Integer>();
    for (int i = 0; i < order.size(); i++) {
      all.forEach(SimulatedActivator::answerOne);
      pass(20);
      var running = all.stream().filter(it -> it.running(pod) > 0).toList();
      assertThat(running).as("after %s of %s: %s", served, order,
          all.stream().map(SimulatedActivator::view).toList()).hasSize(1);
      served.add(all.indexOf(running.getFirst()));
    }

    assertThat(served).isEqualTo(order);
  }

  @Test
  void refusesARequest_ifTheQueuesOfAllActivatorsAreAtTheBoundOfTheRevision() {
    revision = revision(1, true, Duration.ofMinutes(5),
        Map.of("activator.dev/queue-capacity", "3"));
    linked(2);
    requests(all.get(0), 1);
    requests(all.get(1), 3);
    assertThat(all.get(1).queued()).isEqualTo(2);

    requests(all.get(0), 1);
    assertThat(all.get(0).queued()).as("two wait at the other").isOne();

    all.get(1).callersLeave();
    pass(20);
    requests(all.get(0), 5);
    assertThat(all.get(0).queued()).as("none waits there any more").isEqualTo(3);
    pods(pods(3));
    assertThat(all.get(0).queued()).isZero();
  }

  @Test
  void countsEachQueueByItself_whileAnActivatorDoesNotLend() {
    revision = revision(1, true, Duration.ofMinutes(5),
        Map.of("activator.dev/queue-capacity", "3"));
    linked(2);
    all.forEach(it -> it.lending().onLegacy("10.1.0.9"));
    all.forEach(it -> it.listed(List.of("10.1.0.1", "10.1.0.2", "10.1.0.9")));
    pass(100);

    all.forEach(it -> requests(it, 5));

    assertThat(all).allSatisfy(it -> assertThat(it.queued()).isEqualTo(3));
    pods(pods(3));
  }

  @Test
  void isAtRest_afterManyPodsThatWereLentToSeveralAreGone() {
    var owner = start();
    linked(2);
    pods(pods(200));
    var mine = pods(200).stream().filter(pod -> owns(owner, pod)).limit(56).toList();
    for (int borrower = 1; borrower <= 2; borrower++) {
      pods(mine.subList((borrower - 1) * 28, borrower * 28));
      requests(all.get(borrower), 28);
      assertThat(all.get(borrower).lending().borrowed()).isEqualTo(28);
      all.get(borrower).hold(false);
      pass(5_000);
    }
    pods(List.of());
    pass(5_000);

    sent.clear();
    pass(5_000);

    assertThat(owner.view().pods()).hasSizeLessThanOrEqualTo(32);
    assertThat(sent).isNotEmpty().allSatisfy(it -> assertThat(it).isInstanceOf(Beat.class));
  }

  @Test
  void lendsAPermit_thatARequestTookWhileItWasLent_onceThatHasEnded() {
    var racing = new RacingPermits();
    var messages = new ArrayList<PeerMessage>();
    var lending = new PermitLending("10.1.0.1");
    var peer = new PeerId("10.1.0.2", "p");
    lending.start(world, (_, message) -> messages.add(message));
    lending.onActivators(Set.of("10.1.0.1", peer.address()));
    lending.onConnected(peer);
    var pod = pods(100).stream().filter(it -> "10.1.0.1".equals(
        new PodSharding(List.of("10.1.0.1", peer.address()), true, List.of()).owner(it)))
        .findFirst().orElseThrow();
    var id = SimulatedActivator.ID;
    racing.lending = lending.revision(new LocalRevision(id, world, racing, racing),
        new SharedPods(List.of(pod), Set.of(), Set.of(), 1, true, Duration.ofMinutes(5)));
    racing.lending.open();
    racing.lending.onActivators(List.of("10.1.0.1", peer.address()));
    pass(1);
    var asked = messages.stream().filter(View.class::isInstance).map(View.class::cast).toList()
        .getLast();
    lending.onReceived(peer, new Beat(1, 1));
    lending.onReceived(peer, new View(id, 1, asked.view()));
    lending.onReceived(peer, new Yield(id, asked.epoch(), 1, Map.of()));
    racing.lending.onPods(new SharedPods(List.of(pod), Set.of(), Set.of(), 1, true,
        Duration.ofMinutes(5)));
    pass(1);
    assertThat(racing.held).isOne();

    racing.takenMeanwhile = true;
    lending.onReceived(peer, new Want(id, 1, 1, Duration.ofMillis(50), 0, Map.of()));
    pass(1);
    assertThat(racing.running).isOne();
    assertThat(messages).noneMatch(Grant.class::isInstance);
    racing.release();
    pass(1);

    assertThat(messages).anyMatch(Grant.class::isInstance);
    racing.lending.close();
  }

  /** One pod with a limit of 1, of which another thread takes the permit just before it is lent. */
  private static final class RacingPermits implements PodPermits, LocalQueue {
    private RevisionLending lending;
    private boolean takenMeanwhile;
    private int held;
    private int target;
    private int running;

    @Override
    public int setPermits(Destination pod, int permits, @Nullable PermitLease lease) {
      if (takenMeanwhile) {
        takenMeanwhile = false;
        running++;
      }
      target = permits;
      held = Math.max(permits, running);
      return held;
    }

    void release() {
      running--;
      if (held > target) {
        held--;
        lending.onQueue();
      }
    }

    @Override
    public int permits(Destination pod) {
      return held;
    }

    @Override
    public int running(Destination pod) {
      return running;
    }

    @Override
    public Map<Destination, Integer> running() {
      return Map.of();
    }

    @Override
    public int queued() {
      return 0;
    }

    @Override
    public long oldestNanos() {
      return 0;
    }

    @Override
    public void grant() {}

    @Override
    public void updateSubset() {}
  }
}
