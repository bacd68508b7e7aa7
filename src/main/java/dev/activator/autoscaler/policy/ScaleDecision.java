package dev.activator.autoscaler.policy;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * How many pods a workload should have, before its bounds, and why.
 *
 * @param pods that there should be
 * @param stable the average of the stable window
 * @param panic the average of the panic window
 * @param panicking whether a surge keeps the result from falling
 * @param cause what decided, as a sentence without its end
 */
public record ScaleDecision(int pods, double stable, double panic, boolean panicking,
    String cause) {
  /** Whether there was no load for a whole window. */
  boolean isIdle() {
    return stable == 0 && panic == 0 && !panicking;
  }

  /** A number as people write it: 52, 0.7, 33.333. */
  static String number(double value) {
    var rounded = BigDecimal.valueOf(value).setScale(3, RoundingMode.HALF_UP);
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }
}
