package dev.activator.upstream.policy;

/**
 * The budget of control frames of one HTTP/2 connection: a token bucket. Frames such as PING cost their
 * sender almost nothing and must be handled, so they may come in proportion to time and to what the
 * caller is sent, and no more.
 *
 * <p>
 * <b>Threads.</b> Only the connection's loop may call.
 *
 * <p>
 * <b>Source.</b> RFC 9113, section 10.5. Envoy allows ten WINDOW_UPDATEs for each DATA frame it sends;
 * nghttp2 allows 1,000 resets at once and then 33 a second.
 */
public final class FrameBudget {
  /** Control frames that may come at once. */
  public static final int BURST = 1_000;
  /** Control frames that may come in each second. */
  static final int PER_SECOND = 100;
  /** Control frames that may come for each frame of a response. */
  static final int PER_RESPONSE_FRAME = 10;
  /** A request that is given up after this long cost its caller a stream for as long. */
  public static final long LONG_REQUEST_NANOS = 100_000_000L;
  /** The most that can be saved by responses. */
  static final int MOST = 10 * BURST;

  private static final long NANOS_PER_FRAME = 1_000_000_000L / PER_SECOND;
  /** Bytes of a response that allow one more control frame. */
  private static final int FRAME_BYTES = 1 << 10;

  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int PUSH_PROMISE = 5;
  private static final int CONTINUATION = 9;
  private static final int END_STREAM = 1;

  private int left = BURST;
  private long refilledNanos;

  /** @param nowNanos the time at which the connection began */
  public FrameBudget(long nowNanos) {
    refilledNanos = nowNanos;
  }

  /** Whether a frame counts: all but those that carry a head or a part of a body. */
  public static boolean isCharged(int type, int flags, int length) {
    return switch (type) {
      case DATA -> length == 0 && (flags & END_STREAM) == 0;
      case HEADERS, CONTINUATION -> length == 0;
      case PUSH_PROMISE -> false; // An error of its own.
      default -> true;
    };
  }

  /** Takes this many control frames from the budget; false if there were too many. */
  public boolean take(int frames, long nowNanos) {
    if (frames == 0) {
      return true;
    }
    refill(nowNanos);
    left -= frames;
    return left >= 0;
  }

  private void refill(long nowNanos) {
    long more = (nowNanos - refilledNanos) / NANOS_PER_FRAME;
    refilledNanos += more * NANOS_PER_FRAME;
    if (left < BURST) {
      left = (int) Math.min(BURST, left + more);
    }
  }

  /** The reset of a stream that had been open for {@link #LONG_REQUEST_NANOS} does not count. */
  public void forgiveReset() {
    left = Math.min(MOST, left + 1);
  }

  /** A part of a response was written: its reader may send WINDOW_UPDATEs and PINGs for it. */
  public void earn(int responseBytes) {
    left = Math.min(MOST, left + PER_RESPONSE_FRAME + responseBytes / FRAME_BYTES);
  }
}
