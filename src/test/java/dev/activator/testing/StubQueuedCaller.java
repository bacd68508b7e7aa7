package dev.activator.testing;

import dev.activator.loop.Loop;
import dev.activator.throttle.Admission.Permit;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.Admission.Rejection;

/** A request that waits as long as it has to, and does nothing with what it gets. */
public record StubQueuedCaller(Loop loop) implements QueuedCaller {
  @Override
  public long maxWaitNanos() {
    return Long.MAX_VALUE;
  }

  @Override
  public void granted(Permit permit) {
    // It never gives it back.
  }

  @Override
  public void rejected(Rejection reason) {
    // It asks no more.
  }
}
