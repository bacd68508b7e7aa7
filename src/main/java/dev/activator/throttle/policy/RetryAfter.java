package dev.activator.throttle.policy;

/**
 * When a caller that was refused may come again: when those who wait now will have run, as the
 * queue moves; or when the revision will have started. Callers refused together are told different
 * times, so that they do not come back together.
 */
public final class RetryAfter {
  private static final int MOST_SECONDS = 60;
  private static final double NANOS_A_SECOND = 1e9;

  private RetryAfter() {}

  /**
   * While something runs, in whole seconds.
   *
   * @param waiting how many wait
   * @param perSecond how many of them run in a second; more than 0
   * @param jitter from 0 to below 1
   */
  public static int whileDraining(int waiting, double perSecond, double jitter) {
    return spread(waiting / perSecond, jitter);
  }

  /**
   * While the revision starts, in whole seconds.
   *
   * @param nanosLeft how long that takes; 0 if unknown
   * @param jitter from 0 to below 1
   */
  public static int whileStarting(long nanosLeft, double jitter) {
    return spread(nanosLeft / NANOS_A_SECOND, jitter);
  }

  /** Half as long again at most, and one second in any case, which is the unit of the header. */
  private static int spread(double seconds, double jitter) {
    double least = Math.clamp(Math.ceil(seconds), 1, MOST_SECONDS);
    return (int) (least + jitter * (1 + least / 2));
  }
}
