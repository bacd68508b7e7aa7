package dev.activator.ext.lending;

import dev.activator.testing.TestExtension;
import dev.activator.throttle.PermitSharing;

/** The lending of an activator that has not started to lend, attached in tests. */
public final class LendingInTests implements TestExtension {
  @Override
  public PermitSharing sharing(String ownAddress) {
    return new PermitLending(ownAddress);
  }
}
