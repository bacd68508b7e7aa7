package dev.activator.standalone.autoscaler.policy;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * The number of pods that a workload should have, before its bounds are applied, and the reason.
 *
 * @param pods the number of pods
 * @param stable the average over the stable window
 * @param panic the average over the panic window
 * @param panicking whether a surge prevents the number from falling
 * @param cause the reason, as a sentence without a full stop
 */
public record ScaleDecision(int pods, double stable, double panic, boolean panicking,
    String cause) {
  /** The decision where requests start no pod, since all are refused. */
  public ScaleDecision withoutStart(int present, String refusal) {
    return pods <= present
        ? this
        : new ScaleDecision(present, stable, panic, panicking,
            present + ": requests start no pod: " + refusal);
  }

  /** Whether there was no load in the whole window. */
  boolean isIdle() {
    return stable == 0 && panic == 0 && !panicking;
  }

  /** A number in its short form: 52, 0.7, 33.333. */
  static String number(double value) {
    var rounded = BigDecimal.valueOf(value).setScale(3, RoundingMode.HALF_UP);
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }
}
