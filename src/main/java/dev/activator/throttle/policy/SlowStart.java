package dev.activator.throttle.policy;

/**
 * The window of a new pod without a concurrency limit: how many requests it may run at once. It grows
 * by one with each request served, doubles with each step of time, so that slow requests do not keep
 * it small, and halves when the pod refuses or breaks off a request.
 *
 * <p>
 * <b>Source.</b> Slow start and multiplicative decrease as in TCP: RFC 5681, section 3.1.
 */
public final class SlowStart {
  /** From here on there is no limit. */
  static final int UNLIMITED_FROM = 1_024;

  private SlowStart() {}

  /** The window after one more request was served. */
  public static int served(int window) {
    return capped(window + 1L);
  }

  /** The window a step of time later. */
  public static int afterStep(int window) {
    return capped(2L * window);
  }

  /** The window after a request was refused or broken off, with this many in flight. */
  public static int broken(int window, int inFlight) {
    return Math.max(1, Math.min(window, inFlight) / 2);
  }

  private static int capped(long window) {
    return window >= UNLIMITED_FROM ? Subset.UNLIMITED : (int) window;
  }
}
