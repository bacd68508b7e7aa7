package dev.activator.ext.lending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Destination;
import dev.activator.throttle.PodChoice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Requests that may run on one pod only, at an activator that does not own it. */
class BoundRequestsTest extends LendingScene {
  /** A request that may run on this pod only. */
  private record Only(Destination pod) implements PodChoice {
    @Override
    public Wanted wanted(List<Destination> pods) {
      return new PodChoice.Only(pod);
    }

    @Override
    public long score(Destination any) {
      return 0;
    }
  }

  private List<Destination> shared;

  private void twoShare(int count) {
    linked(2);
    shared = pods(count);
    pods(shared);
  }

  private void request(SimulatedActivator at, Destination only) {
    at.request(new Only(only));
    pass(20);
  }

  @Test
  void getThePermitOfTheirPod_notOneOfAnother() {
    twoShare(8);
    for (var one : shared) {
      var asking = other(ownerOf(one));

      request(asking, one);

      assertThat(asking.running(one)).isEqualTo(1);
    }
    assertThat(all).allSatisfy(it -> assertThat(it.queued()).isZero());
  }

  @Test
  void getThePermitOfTheirPodWhenItIsReleased() {
    twoShare(2);
    var wanted = shared.getFirst();
    var its = ownerOf(wanted);
    request(its, wanted);
    request(other(its), wanted);
    assertThat(other(its).queued()).isEqualTo(1);

    its.hold(false);
    pass(100);

    assertThat(other(its).running(wanted)).isEqualTo(1);
  }

  @Test
  void callTheLentPermitOfTheirPodBack() {
    twoShare(1);
    var wanted = shared.getFirst();
    var its = ownerOf(wanted);
    // The other one keeps the permit, because its requests follow each other.
    requests(other(its), 3);
    request(its, wanted);
    assertThat(its.running(wanted)).isZero();

    other(its).hold(false);
    pass(200);

    assertThat(its.running(wanted)).isEqualTo(1);
  }

  @Test
  void leaveThePermitsOfOtherPodsToRequestsThatCanUseThem() {
    twoShare(2);
    var wanted = shared.getFirst();
    var its = ownerOf(wanted);
    request(its, wanted);
    request(other(its), wanted);
    request(other(its), wanted);

    requests(its, 1);

    var free = shared.getLast();
    assertThat(running(free)).isEqualTo(1);
    assertThat(other(its).queued()).isEqualTo(2);
  }

  /** Three activators, of which the first one returned owns the pod. */
  private List<SimulatedActivator> threeShare(Destination wanted) {
    linked(3);
    pods(shared);
    var owning = ownerOf(wanted);
    var three = new ArrayList<>(all);
    three.remove(owning);
    three.addFirst(owning);
    return three;
  }

  @Test
  void doNotKeepTheirPodIdleWhileTheLeaseOfTheirActivatorIsLost() {
    shared = pods(1);
    var wanted = shared.getFirst();
    var three = threeShare(wanted);
    request(three.get(0), wanted);
    request(three.get(1), wanted);
    requests(three.get(2), 1);
    late.add(three.get(1).id());
    pass(40_000);

    three.get(0).hold(false);
    pass(100);

    assertThat(three.get(2).running(wanted)).isEqualTo(1);
    late.clear();
    three.get(2).hold(false);
    pass(60_000);
  }

  @Test
  void leaveTheRestOfTheirPodToOthersAtOnce() {
    shared = pods(1);
    var wanted = shared.getFirst();
    var three = threeShare(wanted);
    request(three.get(0), wanted);
    request(three.get(1), wanted);
    requests(three.get(2), 1);
    // The owner does not learn that its permit was taken.
    late.add(three.get(1).id());

    revision = revision(5, true);
    all.forEach(it -> it.setRevision(revision));
    pass(20);

    assertThat(three.get(2).running(wanted)).isEqualTo(1);
    late.clear();
    pass(30_000);
  }

  @Test
  void doNotKeepIdlePermitsOfOtherPods() {
    twoShare(8);
    var wanted = shared.getFirst();
    var its = ownerOf(wanted);
    request(its, wanted);
    // More than its own pods: it borrows all of the other's, which are then idle.
    requests(other(its), 7);
    other(its).hold(false);
    pass(100);
    other(its).hold(true);

    request(other(its), wanted);
    pass(3_000);

    assertThat(other(its).queued()).isEqualTo(1);
    assertThat(its.view().pods()).allSatisfy(pod -> assertThat(pod.lent()).isZero());
  }

  @Test
  void doNotExceedTheLimitOfTheirPod() {
    revision = revision(3, true);
    twoShare(2);
    var wanted = shared.getFirst();
    for (int i = 0; i < 5; i++) {
      request(all.get(0), wanted);
      request(all.get(1), wanted);
    }

    assertThat(running(wanted)).isEqualTo(3);
    assertThat(Map.of("queued", all.get(0).queued() + all.get(1).queued())).containsValue(7L);
  }
}
