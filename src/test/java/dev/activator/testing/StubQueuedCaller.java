package dev.activator.testing;

import dev.activator.loop.Loop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import org.jspecify.annotations.Nullable;

/** A request that is queued or runs until the test is over. */
public final class StubQueuedCaller implements QueuedCaller {
  private final Loop loop;
  private @Nullable Permit permit;

  public StubQueuedCaller(Loop loop) {
    this.loop = loop;
  }

  /** What it gets is given back when the test is over. */
  public StubQueuedCaller with(ThrottleDecision admission) {
    Quiescence.watch(loop);
    Quiescence.watch(this, () -> leave(admission));
    if (admission instanceof Permit now) {
      permit = now;
    }
    return this;
  }

  private void leave(ThrottleDecision admission) {
    var running = permit;
    if (running != null) {
      permit = null;
      running.release(Ending.ANSWERED);
    } else if (admission instanceof QueueEntry entry) {
      loop.execute(entry::giveUp);
    }
  }

  @Override
  public Loop loop() {
    return loop;
  }

  @Override
  public void granted(Permit now) {
    permit = now;
  }

  @Override
  public void rejected(Rejection reason) {
    // It does not come back.
  }
}
