package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.admission.Permit;
import dev.activator.throttle.admission.Place;
import dev.activator.throttle.admission.Waiter;
import org.jspecify.annotations.Nullable;

/** The permit of a request that tries again, which counts as trying until it is over. */
record RetryPermit(Permit permit, RetryBudget budget) implements Permit {
  @Override
  public Destination destination() {
    return permit.destination();
  }

  @Override
  public void release() {
    budget.giveBack();
    permit.release();
  }

  @Override
  public void releaseBroken() {
    budget.giveBack();
    permit.releaseBroken();
  }

  @Override
  public @Nullable Place retry(Waiter waiter) {
    budget.giveBack();
    return permit.retry(waiter);
  }
}
