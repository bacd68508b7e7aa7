package dev.activator.http;

import dev.activator.loop.Loop;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.time.Duration;

/**
 * The share of an HTTP/2 connection in each turn of its loop. Frames beyond the share wait until other
 * connections were read; nothing is read meanwhile.
 *
 * <p><b>Threads.</b> Only its loop.
 */
public final class FrameTurns {
  /**
   * The maximum number of frames in a turn. For large frames this is about as much as one read; for
   * heads it is about a millisecond of work in compiled code.
   */
  public static final int FRAMES_PER_TURN = 64;
  /**
   * A head that comes later than this in a turn waits for the next turn, because uncompiled code
   * may need this long for a single head.
   */
  public static final long TURN_NANOS = 1_000_000;

  /** The connection whose frames wait. */
  interface Connection {
    void pauseReading();

    /** Handles the frames that wait, which may end the next turn, too. */
    void handleWaiting();
  }

  private final Loop loop;
  private final Connection connection;
  private int framesLeft = FRAMES_PER_TURN;
  private boolean timed;
  private long dueNanos;
  private boolean over;
  private boolean lifted;

  FrameTurns(Loop loop, Connection connection) {
    this.loop = loop;
    this.connection = connection;
  }

  /** Whether the next frame belongs to this turn. If not, the turn ends. */
  boolean mayBegin(int type) {
    if (lifted) {
      return true;
    }
    if (framesLeft == 0 || (type == Http2FrameTypes.HEADERS && isLate())) {
      end();
      return false;
    }
    framesLeft--;
    return true;
  }

  /** Whether the turn has no time for another head. Always false for its first head. */
  private boolean isLate() {
    long now = loop.nanoTime();
    if (!timed) {
      timed = true;
      dueNanos = now + TURN_NANOS;
    }
    return now - dueNanos >= 0;
  }

  private void end() {
    if (!over) {
      over = true;
      connection.pauseReading();
      // Unlike an executed task, a scheduled one runs after other connections were read.
      loop.schedule(Duration.ZERO, this::next);
    }
  }

  private void next() {
    over = false;
    begin();
    connection.handleWaiting();
  }

  private void begin() {
    timed = false;
    framesLeft = FRAMES_PER_TURN;
  }

  boolean isOver() {
    return over;
  }

  /** Call when all bytes of a read are handled, or when the turn is over. */
  void readCompletes() {
    if (!over) {
      begin();
    }
  }

  /** Lets all frames pass from now on: the connection has ended, and what it sent is all there is. */
  void lift() {
    lifted = true;
  }
}
