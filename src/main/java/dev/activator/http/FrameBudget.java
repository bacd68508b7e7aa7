package dev.activator.http;

import dev.activator.loop.Loop;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;

/**
 * A token bucket for HTTP/2 control frames, which cost their sender almost nothing. It is refilled
 * over time, and by each frame of a message: those to a caller, and those to and from a pod.
 *
 * <p><b>Source.</b> RFC 9113, section 10.5. Envoy allows ten WINDOW_UPDATEs per DATA frame sent;
 * nghttp2 1,000 resets, then 33 a second.
 */
public final class FrameBudget {
  public static final Http2Exception TOO_MANY = Http2Exception
      .connectionError(Http2Error.ENHANCE_YOUR_CALM, "too many control frames");
  public static final int BURST = 1_000;
  static final int PER_SECOND = 100;
  static final int PER_RESPONSE_FRAME = 10;
  /**
   * A request that was open for so long may be reset for free, because it has occupied one of the
   * caller's streams.
   */
  public static final long LONG_REQUEST_NANOS = 100_000_000L;
  static final int MAX_SAVED = 10 * BURST;

  private static final long NANOS_PER_FRAME = 1_000_000_000L / PER_SECOND;
  /** The number of response bytes that add one control frame. */
  private static final int FRAME_BYTES = 1 << 10;

  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int PUSH_PROMISE = 5;
  private static final int CONTINUATION = 9;
  private static final int END_STREAM = 1;

  private final Loop loop;
  private int left = BURST;
  private long refilledNanos;

  public FrameBudget(Loop loop) {
    this.loop = loop;
    refilledNanos = loop.nanoTime();
  }

  /** Whether a frame is charged: every frame that carries no part of a head or body is. */
  static boolean isCharged(int type, int flags, int length) {
    return switch (type) {
      case DATA -> length == 0 && (flags & END_STREAM) == 0;
      case HEADERS, CONTINUATION -> length == 0;
      case PUSH_PROMISE -> false; // It is a connection error anyway.
      default -> true;
    };
  }

  /** Charges a frame that is about to be read. */
  public void charge(int type, int flags, int length) throws Http2Exception {
    if (isCharged(type, flags, length) && !take()) {
      throw TOO_MANY;
    }
  }

  /** Charges a frame. False if there were too many. */
  public boolean take() {
    refill(loop.nanoTime());
    left--;
    return left >= 0;
  }

  private void refill(long nowNanos) {
    long more = (nowNanos - refilledNanos) / NANOS_PER_FRAME;
    refilledNanos += more * NANOS_PER_FRAME;
    if (left < BURST) {
      left = (int) Math.min(BURST, left + more);
    }
  }

  /** Gives a frame back for the reset of a stream that was open for {@link #LONG_REQUEST_NANOS}. */
  public void forgiveReset() {
    left = Math.min(MAX_SAVED, left + 1);
  }

  public void earn(int responseBytes) {
    left = Math.min(MAX_SAVED, left + PER_RESPONSE_FRAME + responseBytes / FRAME_BYTES);
  }
}
