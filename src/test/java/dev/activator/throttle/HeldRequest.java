package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request that asks once and remembers what it was told. */
public final class HeldRequest implements QueuedCaller {
  private final Loop loop;
  private final List<Object> answers = new ArrayList<>();
  private @Nullable QueueEntry place;
  private @Nullable Permit permit;
  private long maxWaitNanos = Long.MAX_VALUE;
  private @Nullable PodChoice choice;

  HeldRequest(Loop loop) {
    this.loop = loop;
    Quiescence.watch(loop);
    Quiescence.watch(this, this::leave);
  }

  private void leave() {
    if (permit != null) {
      release();
    } else if (place != null) {
      place.giveUp();
    }
  }

  /** Asks, and keeps the permit or the place. */
  HeldRequest received(ThrottleDecision admission) {
    switch (admission) {
      case Permit now -> granted(now);
      case ThrottleDecision.NoRoom _ -> throw new AssertionError("it waits");
      case QueueEntry later -> place = later;
    }
    return this;
  }

  @Override
  public Loop loop() {
    return loop;
  }

  /** How long it is of use. */
  HeldRequest patience(Duration patience) {
    maxWaitNanos = patience.toNanos();
    return this;
  }

  /** The pods that it chooses, where requests may. */
  HeldRequest choosing(@Nullable PodChoice its) {
    choice = its;
    return this;
  }

  @Nullable PodChoice choice() {
    return choice;
  }

  @Override
  public long maxWaitNanos() {
    return maxWaitNanos;
  }

  @Override
  public void granted(Permit granted) {
    permit = granted;
    answers.add(granted.destination());
  }

  @Override
  public void rejected(Rejection reason) {
    answers.add(reason);
  }

  /** Destinations and rejections, as they came; a well-behaved throttle gives one at most. */
  public List<Object> answers() {
    return answers;
  }

  public boolean waits() {
    return answers.isEmpty();
  }

  /** Whether it has a place, or had one. */
  boolean asked() {
    return place != null;
  }

  boolean runs() {
    return permit != null;
  }

  boolean isOnWithdrawnPod() {
    return permit.isWithdrawn();
  }

  boolean isOnPod() {
    return permit.isPod();
  }

  public @Nullable Destination destination() {
    return permit == null ? null : permit.destination();
  }

  void giveUp() {
    place.giveUp();
  }

  public void release() {
    permit.release(Ending.ANSWERED);
    permit = null;
  }

  /** Its caller leaves while it runs. */
  void abandon() {
    permit.release(Ending.ABANDONED);
    permit = null;
  }

  void releaseBroken() {
    permit.release(Ending.BROKEN);
    permit = null;
  }

  void releaseUncounted() {
    permit.release(Ending.UNCOUNTED);
    permit = null;
  }

  /** A connection refused to carry it: asks again. Whether it may. */
  boolean retry() {
    return retry(true);
  }

  /** There was no connection: asks again. Whether it may. */
  boolean retryUnconnected() {
    return retry(false);
  }

  private boolean retry(boolean connected) {
    var undelivered = permit;
    permit = null;
    answers.clear();
    place = undelivered.retry(this, connected);
    return place != null;
  }
}
