package dev.activator.proxy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes of requests the process holds, and what follows from that: while memory is plenty,
 * a window of each body is read ahead; once half of the bound is used, no body is read before its
 * request runs, and waits in the kernel or at its caller; at the bound no further request is queued.
 * No revision may hold more than it leaves free, so that there is always room for another's.
 *
 * <p>
 * <b>Threads.</b> Each loop counts in a share of its own; any thread may ask for the sum, which is
 * never far off.
 */
final class HeldBytes {
  /** So much of a body is read while nobody takes it. */
  private static final int WINDOW_BYTES = 64 << 10;

  private final long bound;
  private final List<Share> shares = new CopyOnWriteArrayList<>();

  /**
   * Nothing is held.
   *
   * @param bound in bytes; more than 0
   */
  HeldBytes(long bound) {
    this.bound = bound;
  }

  /** A share for one more loop. */
  Share share() {
    var share = new Share();
    shares.add(share);
    return share;
  }

  /** What all requests hold. */
  long total() {
    long total = 0;
    for (var share : shares) {
      total += share.bytes.getOpaque();
    }
    return total;
  }

  /** What one loop's requests hold. */
  final class Share {
    private final AtomicLong bytes = new AtomicLong();

    private Share() {}

    /** So many more, or fewer, are held. Only the loop whose share it is may call. */
    void add(int more) {
      bytes.setOpaque(bytes.getPlain() + more);
    }

    /** Whether no further request may be queued of a revision whose requests hold so much. */
    boolean isFull(long ofRevision) {
      long free = bound - total();
      return free <= 0 || ofRevision > free;
    }

    /** How many bytes a request that waits may hold before it is read no further. */
    int windowWhileQueued() {
      return isTight() ? 0 : WINDOW_BYTES;
    }

    /** The same of a request that runs, which must be read on for it to end. */
    int windowWhileForwarding() {
      return isTight() ? 1 : WINDOW_BYTES;
    }

    private boolean isTight() {
      return total() >= bound / 2;
    }
  }
}
