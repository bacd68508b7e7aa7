package dev.activator.cluster.policy;

import java.time.Duration;

/**
 * How often an informer checks which listeners are due for a resync, and the effective period of a
 * listener. Zero means never, for both.
 *
 * <p>
 * <b>Source.</b> {@code resyncPeriod} and {@code AddEventHandlerWithOptions} in client-go's
 * {@code tools/cache/shared_informer.go}.
 *
 * @param check between two looks
 * @param phase whether {@code check} can still become shorter
 */
public record ResyncPeriods(Duration check, Phase phase) {
  /** Shorter ones are made this long. */
  public static final Duration SHORTEST = Duration.ofSeconds(1);

  /** Before the informer runs, a listener that asks for more makes it look more often. */
  public enum Phase {
    OPEN, FIXED
  }

  /**
   * @throws IllegalArgumentException if the period is negative
   */
  public static ResyncPeriods of(Duration check) {
    return new ResyncPeriods(checked(check), Phase.OPEN);
  }

  /** The informer runs from now on. */
  public ResyncPeriods fixed() {
    return new ResyncPeriods(check, Phase.FIXED);
  }

  /** A listener asks for this period. It changes nothing if the informer never checks. */
  public ResyncPeriods asked(Duration period) {
    var wanted = atLeastShortest(period);
    boolean sooner = !wanted.isZero() && wanted.compareTo(check) < 0;
    return sooner && phase == Phase.OPEN ? new ResyncPeriods(wanted, phase) : this;
  }

  /** The period that a listener gets that asked for this one. */
  public Duration effective(Duration period) {
    var wanted = atLeastShortest(period);
    if (wanted.isZero() || check.isZero()) {
      return Duration.ZERO;
    }
    return wanted.compareTo(check) < 0 ? check : wanted;
  }

  private static Duration atLeastShortest(Duration period) {
    var wanted = checked(period);
    return wanted.isZero() || wanted.compareTo(SHORTEST) >= 0 ? wanted : SHORTEST;
  }

  private static Duration checked(Duration period) {
    if (period.isNegative()) {
      throw new IllegalArgumentException("A resync period of " + period + " is negative");
    }
    return period;
  }
}
