package dev.activator.kube.policy;

import java.time.Duration;

/**
 * The period in which an informer checks for due resyncs, and the effective resync period of each
 * listener. Zero means never.
 *
 * <p><b>Source.</b> client-go's {@code shared_informer.go}.
 */
public record ResyncPeriods(Duration check, Phase phase) {
  /** The minimum period. Shorter ones are raised to it. */
  public static final Duration MIN_PERIOD = Duration.ofSeconds(1);

  /**
   * Whether a listener can still shorten the check period. That is possible only before the
   * informer runs.
   */
  public enum Phase {
    OPEN,
    FIXED
  }

  public static ResyncPeriods of(Duration check) {
    return new ResyncPeriods(checked(check), Phase.OPEN);
  }

  public ResyncPeriods fixed() {
    return new ResyncPeriods(check, Phase.FIXED);
  }

  /** Shortens the check period for a listener. This has no effect if the informer never checks. */
  public ResyncPeriods with(Duration period) {
    var wanted = atLeastShortest(period);
    boolean sooner = !wanted.isZero() && wanted.compareTo(check) < 0;
    return sooner && phase == Phase.OPEN ? new ResyncPeriods(wanted, phase) : this;
  }

  public Duration effective(Duration period) {
    var wanted = atLeastShortest(period);
    if (wanted.isZero() || check.isZero()) {
      return Duration.ZERO;
    }
    return wanted.compareTo(check) < 0 ? check : wanted;
  }

  private static Duration atLeastShortest(Duration period) {
    var wanted = checked(period);
    return wanted.isZero() || wanted.compareTo(MIN_PERIOD) >= 0 ? wanted : MIN_PERIOD;
  }

  private static Duration checked(Duration period) {
    if (period.isNegative()) {
      throw new IllegalArgumentException("A resync period of " + period + " is negative");
    }
    return period;
  }
}
