package dev.activator.proxy.held;

import dev.activator.throttle.policy.MemoryBound;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes of requests the process holds, and what follows from that: while memory is plenty,
 * a window of each body is read ahead; when it gets scarce, no body is read before its request runs;
 * then no further request is queued.
 *
 * <p>
 * <b>Threads.</b> Each loop counts in a share of its own; any thread may ask for the sum, which is
 * never far off.
 */
public final class HeldBytes {
  /** So much of a body is read while nobody takes it. */
  private static final int WINDOW_BYTES = 64 << 10;

  private final MemoryBound bound;
  private final List<Share> shares = new CopyOnWriteArrayList<>();

  /** Nothing is held. */
  public HeldBytes(MemoryBound bound) {
    this.bound = bound;
  }

  /** A share for one more loop. */
  public Share share() {
    var share = new Share();
    shares.add(share);
    return share;
  }

  /** What all requests hold. */
  public long total() {
    long total = 0;
    for (var share : shares) {
      total += share.bytes.getOpaque();
    }
    return total;
  }

  /** What one loop's requests hold. */
  public final class Share {
    private final AtomicLong bytes = new AtomicLong();

    private Share() {}

    /** So many more, or fewer, are held. Only the loop whose share it is may call. */
    public void add(int more) {
      bytes.setOpaque(bytes.getPlain() + more);
    }

    /** Whether no further request may be queued of a revision whose waiting ones hold so much. */
    public boolean isFull(long ofRevision) {
      return bound.isFull(total(), ofRevision);
    }

    /** How many bytes of body a request may hold that waits for such a revision, and no more. */
    public int windowWhileQueued(long ofRevision) {
      return bound.leavesBodiesUnread(total(), ofRevision) ? 0 : WINDOW_BYTES;
    }

    /** The same of a request that runs, which must be read on for it to end. */
    public int windowWhileForwarding() {
      return bound.isTight(total()) ? 1 : WINDOW_BYTES;
    }
  }
}
