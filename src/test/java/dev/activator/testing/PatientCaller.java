package dev.activator.testing;

import dev.activator.loop.Loop;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;

/** A request that waits as long as it must. A rejection is an error of the test. */
public abstract class PatientCaller implements QueuedCaller {
  private final Loop loop;

  protected PatientCaller(Loop loop) {
    this.loop = loop;
  }

  @Override
  public final Loop loop() {
    return loop;
  }

  @Override
  public final long maxWaitNanos() {
    return Long.MAX_VALUE;
  }

  @Override
  public void rejected(Rejection reason) {
    throw new AssertionError(reason);
  }
}
