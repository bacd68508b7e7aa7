package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.MemoryBound;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes of requests the process holds, and what follows: while memory is plenty, a window of
 * each body is read ahead; when it gets scarce, no body is read before its request runs; at the bound,
 * no further request is queued.
 *
 * <p>
 * <b>Threads.</b> Each loop counts in a share of its own. Any thread may ask for the sum, which is
 * slightly stale at most.
 */
public final class HeldBytes {
  /** How much of a body is read while nothing takes it. */
  private static final int WINDOW_BYTES = 64 << 10;

  private final MemoryBound bound;
  private final List<Share> shares = new CopyOnWriteArrayList<>();

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
    private final PartialHeads partialHeads = new PartialHeads(this);

    private Share() {}

    /** Counts more bytes, or fewer. Only the loop whose share it is may call. */
    public void add(int more) {
      bytes.setOpaque(bytes.getPlain() + more);
    }

    /**
     * Counts a head if it is large, until this is taken back; small ones are counted while they are
     * queued. Returns what was counted, or -1 if the head is refused.
     */
    public int addHead(int cost) {
      if (cost <= MemoryBound.LARGE_HEAD_BYTES) {
        return 0;
      }
      if (bound.refusesHead(total(), cost)) {
        return -1;
      }
      add(cost);
      return cost;
    }

    /** The heads that the loop's connections are reading. */
    public PartialHeads partialHeads() {
      return partialHeads;
    }

    boolean refusesPartialHeads(long ofLoop) {
      return bound.refusesPartialHeads(ofLoop, shares.size());
    }

    /** Whether no further request may be queued for a revision whose queue holds this many bytes. */
    public boolean isFull(long ofRevision) {
      return bound.isFull(total(), ofRevision);
    }

    /** The window of a request queued for such a revision. */
    public int windowWhileQueued(long ofRevision) {
      return bound.leavesBodiesUnread(total(), ofRevision) ? 0 : WINDOW_BYTES;
    }

    /** The window of a request that runs, which must be read on for it to end. */
    public int windowWhileForwarding() {
      return bound.isTight(total()) ? 1 : WINDOW_BYTES;
    }
  }
}
