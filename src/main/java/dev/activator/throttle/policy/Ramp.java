package dev.activator.throttle.policy;

/**
 * How many requests a pod without a limit of its own is given at once while it is new: few at
 * first, more with each it serves, half as many after each it breaks. A pod that serves slowly is
 * given more as well, later, so that nothing waits for ever beside it.
 *
 * <p>
 * <b>Source.</b> Slow start and multiplicative decrease as in TCP: RFC 5681, section 3.1.
 */
public final class Ramp {
  /** From here on there is no limit: the ramp is over. */
  static final int TOP = 1_024;

  private Ramp() {}

  /** One more was served. */
  public static int served(int window) {
    return capped(window + 1L);
  }

  /** Some time has passed. */
  public static int later(int window) {
    return capped(2L * window);
  }

  /** One was refused, or broken off, while so many ran. */
  public static int broken(int window, int inFlight) {
    return Math.max(1, Math.min(window, inFlight) / 2);
  }

  private static int capped(long window) {
    return window >= TOP ? Loads.UNLIMITED : (int) window;
  }
}
