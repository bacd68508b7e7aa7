package dev.activator.throttle.policy;

/**
 * How many requests a new pod without a limit of its own may run at once: few at first, one more
 * with each that it serves, twice as many with each step of time, half as many after each that it
 * breaks. Time counts so that a pod that serves slowly is not starved.
 *
 * <p>
 * <b>Source.</b> Slow start and multiplicative decrease as in TCP: RFC 5681, section 3.1.
 */
public final class SlowStart {
  /** From here on there is no limit. */
  static final int TOP = 1_024;

  private SlowStart() {}

  /** The window after one more request was served. */
  public static int served(int window) {
    return capped(window + 1L);
  }

  /** The window a step of time later. */
  public static int later(int window) {
    return capped(2L * window);
  }

  /** The window after a request was refused or broken off, with this many in flight. */
  public static int broken(int window, int inFlight) {
    return Math.max(1, Math.min(window, inFlight) / 2);
  }

  private static int capped(long window) {
    return window >= TOP ? Subset.UNLIMITED : (int) window;
  }
}
