package dev.activator.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that the windows of streams may have together beyond those with which they begin. A
 * window that was opened cannot be taken back, and peers may fill all of them at once when the other
 * sides stop reading. A connection gets no more than it leaves free, so that each finds some.
 *
 * <p><b>Threads.</b> Any; a {@link Share} belongs to its connection's loop.
 */
public final class WindowBudget {
  private final AtomicLong free;

  public WindowBudget(long bytes) {
    free = new AtomicLong(bytes);
  }

  /** The bytes that no connection has. */
  public long free() {
    return free.get();
  }

  /** What the streams of one connection have of it. */
  final class Share {
    private long taken;

    /** Returns false, and takes nothing, if the connection would have more than is left. */
    boolean take(int bytes) {
      long now = free.get();
      while (taken + bytes <= now - bytes) {
        if (free.compareAndSet(now, now - bytes)) {
          taken += bytes;
          return true;
        }
        now = free.get();
      }
      return false;
    }

    void giveBack(int bytes) {
      taken -= bytes;
      free.addAndGet(bytes);
    }
  }
}
