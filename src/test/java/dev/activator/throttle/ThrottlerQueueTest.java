package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.Loop;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.util.ArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whose turn it is, and who gives it up. */
class ThrottlerQueueTest extends ThrottlerScene {
  @Test
  void eachFirstRequestAtZeroNamesItsLoop_alsoSoonAfterAnother() {
    var revision = new OneRevision(1);
    var other = VirtualLoop.nearOverflow();
    var loops = new ArrayList<Loop>();
    revision.throttler.requestWaits().subscribe("test", waiting -> loops.add(waiting.on()));

    revision.requestOn(other).giveUp();
    revision.loop.run();
    revision.request();
    revision.requestOn(other);

    assertThat(loops).containsExactly(other, revision.loop);
  }

  @Test
  @DisplayName("permits are handed over in order of arrival")
  void permitsAreHandedOverInOrderOfArrival() {
    exists(1);
    pods(A);
    var held = requests(3);
    assertThat(destinations(held)).containsExactly(A, null, null);

    held.get(0).release();
    loop.run();
    assertThat(destinations(held)).containsExactly(null, A, null);

    held.get(1).release();
    loop.run();
    assertThat(destinations(held)).containsExactly(null, null, A);
  }

  @Test
  void aNewRequestDoesNotOvertakeAQueuedOne() {
    exists(1);
    pods(A);
    var held = requests(2);

    // when the permit is back but nobody has been called yet
    held.get(0).release();
    var newcomer = request();

    assertThat(held.get(1).answers()).containsExactly(A);
    assertThat(newcomer.waits()).isTrue();
  }

  @Test
  @DisplayName("a permit that comes back on the way to the queue is not missed")
  void aPermitReleasedBeforeARequestIsQueuedIsNotMissed() {
    exists(1);
    pods(A);
    var first = request();

    // given a request that found no permit, and has not reached the queue
    var second = new HeldRequest(loop);
    second.received(throttler.admit(exist.of(ID), second));
    first.release();
    loop.run();

    assertThat(second.answers()).containsExactly(A);
  }

  @Test
  @DisplayName("who gives up is not called and loses its turn")
  void aCallerThatGaveUpIsNotCalled() {
    exists(1);
    pods(A);
    var held = requests(3);

    held.get(1).giveUp();
    held.get(0).release();
    loop.run();

    assertThat(held.get(1).waits()).isTrue();
    assertThat(held.get(2).answers()).containsExactly(A);
    assertThat(throttler.view(ID).queued()).isZero();
  }

  @Test
  void aPermitGrantedToACallerThatGaveUpGoesToTheNext() {
    var requestLoop = VirtualLoop.nearOverflow();
    exists(1);
    var first = new HeldRequest(requestLoop);
    first.received(throttler.admit(exist.of(ID), first));
    var second = new HeldRequest(requestLoop);
    second.received(throttler.admit(exist.of(ID), second));

    // given a grant that has left the revision's loop and not arrived
    pods(A);
    first.giveUp();
    requestLoop.run();
    loop.run();
    requestLoop.run();

    assertThat(first.answers()).isEmpty();
    assertThat(second.answers()).containsExactly(A);
    assertThat(throttler.view(ID).inFlight()).isOne();
  }

  @Test
  @DisplayName("giving up after the call changes nothing")
  void keepsThePermit_whenTheCallerGivesUpAfterTheGrant() {
    exists(1);
    var held = request();
    pods(A);

    held.giveUp();
    loop.run();

    assertThat(held.answers()).containsExactly(A);
    assertThat(throttler.view(ID).inFlight()).isOne();
  }

  @Test
  @DisplayName("no more wait than may")
  void noMoreAreQueuedThanTheCapacity() {
    exists(1);
    var held = requests(4);

    assertThat(held.get(3).answers()).singleElement()
        .isInstanceOf(Rejection.QueueFull.class);
    assertThat(throttler.view(ID).queued()).isEqualTo(3);

    held.get(1).giveUp();
    loop.run();
    assertThat(request().waits()).isTrue();
  }

  @Test
  void aRejectionIsCalledOnTheCallersLoopAndNotInsideAdmit() {
    exists(1);
    requests(3);
    var tooMany = new HeldRequest(loop);

    tooMany.received(throttler.admit(exist.of(ID), tooMany));

    assertThat(tooMany.answers()).isEmpty();
    loop.run();
    assertThat(tooMany.answers()).singleElement()
        .isInstanceOf(Rejection.QueueFull.class);
  }
}
