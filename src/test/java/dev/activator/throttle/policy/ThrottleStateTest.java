package dev.activator.throttle.policy;

import static dev.activator.throttle.policy.Balancer.FIRST_AVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.revision.Destination;
import dev.activator.throttle.policy.ThrottleEffect.Granted;
import dev.activator.throttle.policy.ThrottleEffect.Reason;
import dev.activator.throttle.policy.ThrottleEffect.Refused;
import dev.activator.throttle.policy.ThrottleEvent.Arrived;
import dev.activator.throttle.policy.ThrottleEvent.GaveUp;
import dev.activator.throttle.policy.ThrottleEvent.Gone;
import dev.activator.throttle.policy.ThrottleEvent.Broken;
import dev.activator.throttle.policy.ThrottleEvent.SubsetChanged;
import dev.activator.throttle.policy.ThrottleEvent.StartFailed;
import dev.activator.throttle.policy.ThrottleEvent.Undelivered;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ThrottleStateTest {
  private static final Destination A = new Destination("128.0.0.1", 1234);
  private static final Destination B = new Destination("128.0.0.2", 1234);
  private static final SubsetChanged ON_A = new SubsetChanged(
      new DestinationSubset(List.of(A), 1, 1),
      FIRST_AVAILABLE);
  private static final SubsetChanged ON_A_AND_B = new SubsetChanged(
      new DestinationSubset(List.of(A, B), 1, 2),
      FIRST_AVAILABLE);
  private static final SubsetChanged NOWHERE = new SubsetChanged(DestinationSubset.NONE,
      FIRST_AVAILABLE);

  private final Random random = new Random(1);
  private ThrottleState state = ThrottleState.initial(2, 0);

  private List<ThrottleEffect> after(ThrottleEvent... events) {
    var effects = new ArrayList<ThrottleEffect>();
    for (var event : events) {
      var step = state.on(event, random);
      state = step.next();
      effects.addAll(step.effects());
    }
    return effects;
  }

  @Test
  void aRequestRunsWhereThereIsRoom() {
    assertThat(after(ON_A, new Arrived(1))).containsExactly(new Granted(1, A));
  }

  @Test
  void requestsWaitInOrderForAPermit() {
    assertThat(after(new Arrived(1), new Arrived(2))).isEmpty();
    assertThat(after(ON_A)).containsExactly(new Granted(1, A));
    assertThat(after(new Broken(A))).containsExactly(new Granted(2, A));
  }

  @Test
  void aCallerThatGaveUpIsSkipped() {
    assertThat(after(new Arrived(1), new Arrived(2), new GaveUp(1), ON_A))
        .containsExactly(new Granted(2, A));
  }

  @Test
  void keepsTheGrant_whenTheCallerGivesUpAfterIt() {
    assertThat(after(ON_A, new Arrived(1), new GaveUp(1))).containsExactly(new Granted(1, A));
  }

  @Test
  void noMoreAreQueuedThanTheCapacity() {
    assertThat(after(new Arrived(1), new Arrived(2), new Arrived(3)))
        .containsExactly(new Refused(3, Reason.QUEUE_FULL));
    assertThat(after(new GaveUp(1), new Arrived(4))).isEmpty();
  }

  @Test
  void withoutAQueueWhatCannotRunAtOnceIsRefused() {
    state = ThrottleState.initial(0, 0);

    assertThat(after(ON_A, new Arrived(1), new Arrived(2))).containsExactly(new Granted(1, A),
        new Refused(2, Reason.QUEUE_FULL));
  }

  @Test
  void aShrinkingCapacityStopsAndStartsNoRequest() {
    after(ON_A_AND_B, new Arrived(1), new Arrived(2));

    // two run, one may: the next waits for the one on A, however the other ends
    assertThat(after(ON_A, new Arrived(3), new Broken(B))).isEmpty();
    assertThat(after(new Broken(A))).containsExactly(new Granted(3, A));
  }

  @Test
  void aPodThatComesBackStillCountsItsRunningRequests() {
    assertThat(after(ON_A, new Arrived(1), NOWHERE, ON_A, new Arrived(2)))
        .containsExactly(new Granted(1, A));
    assertThat(after(new Broken(A))).containsExactly(new Granted(2, A));
  }

  @Test
  void queuedRequestsAreRefusedWhenNoPodCanStart() {
    assertThat(after(new Arrived(1), new Arrived(2), new StartFailed())).containsExactly(
        new Refused(1, Reason.CANNOT_START), new Refused(2, Reason.CANNOT_START));
    assertThat(after(new Arrived(3))).isEmpty();
  }

  @Test
  void queuedRequestsStayWhileAPodRunsThoughAnotherCannotStart() {
    after(ON_A, new Arrived(1), new Arrived(2));

    assertThat(after(new StartFailed())).isEmpty();
    assertThat(after(new Broken(A))).containsExactly(new Granted(2, A));
  }

  @Test
  void aDeletedRevisionRefusesAllAndForgetsTheRest() {
    after(ON_A, new Arrived(1));

    assertThat(after(new Arrived(2), new Gone())).containsExactly(new Refused(2, Reason.GONE));
    assertThat(after(new Broken(A), ON_A_AND_B)).isEmpty();
    assertThat(after(new Arrived(3))).containsExactly(new Refused(3, Reason.GONE));
  }

  @Test
  void anUndeliveredRequestRunsElsewhere() {
    after(ON_A_AND_B, new Arrived(1));

    assertThat(after(new Undelivered(1, A))).containsExactly(new Granted(1, B));
    assertThat(after(new Arrived(2))).isEmpty();
    assertThat(after(ON_A_AND_B)).containsExactly(new Granted(2, A));
  }

  @Test
  void anUndeliveredRequestWaitsBeforeTheOthers() {
    after(ON_A_AND_B, new Arrived(1), new Arrived(2), new Arrived(3));

    assertThat(after(new Undelivered(1, A))).isEmpty();
    assertThat(after(new Undelivered(2, B))).isEmpty();
    assertThat(after(ON_A)).containsExactly(new Granted(1, A));
    assertThat(after(new Broken(A))).containsExactly(new Granted(2, A));
    assertThat(after(new GaveUp(3), new Broken(A))).isEmpty();
  }

  @Test
  void anUndeliveredRequestIsQueuedEvenIfTheQueueIsFull() {
    after(ON_A, new Arrived(1), new Arrived(2), new Arrived(3));

    assertThat(after(new Undelivered(1, A))).isEmpty();
    assertThat(after(new Arrived(4))).containsExactly(new Refused(4, Reason.QUEUE_FULL));
    assertThat(after(ON_A)).containsExactly(new Granted(1, A));
  }

  @Test
  void anUndeliveredRequestOfADeletedRevisionIsRefused() {
    after(ON_A, new Arrived(1), new Gone());

    assertThat(after(new Undelivered(1, A))).containsExactly(new Refused(1, Reason.GONE));
  }

  @Test
  void aReleaseOfNothingIsABug() {
    assertThatThrownBy(() -> after(ON_A, new Broken(A))).hasMessageContaining("128.0.0.1:1234");
  }
}
