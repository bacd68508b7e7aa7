package dev.activator.throttle.policy;

/**
 * The window of a new pod without a concurrency limit grows by one with each request served,
 * doubles with each time step, so that slow requests do not keep it small, and halves when the pod
 * refuses or breaks off a request.
 *
 * <p><b>Source.</b> TCP: RFC 5681, section 3.1.
 */
public final class SlowStart {
  /** From here there is no limit. */
  static final int UNLIMITED_FROM = 1_024;

  private SlowStart() {}

  public static int served(int window) {
    return capped(window + 1L);
  }

  public static int afterStep(int window) {
    return capped(2L * window);
  }

  public static int broken(int window, int inFlight) {
    return Math.max(1, Math.min(window, inFlight) / 2);
  }

  private static int capped(long window) {
    return window >= UNLIMITED_FROM ? Subset.UNLIMITED : (int) window;
  }
}
