package dev.activator.proxy.exchange;

import dev.activator.proxy.policy.MemoryBound;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes of requests the process holds. While memory is plenty, bodies are read ahead; when
 * it gets scarce, those of queued requests are not; at the bound, no request is queued.
 *
 * <p><b>Threads.</b> Each loop writes its share; any thread may read the total, which may be
 * slightly stale.
 */
public final class HeldBytes {
  public static final TooLongHttpHeaderException HEADS_HOLD_TOO_MUCH = new TooLongHttpHeaderException(
      "large heads hold too much memory");

  /** How much of a body is read ahead. */
  private static final int WINDOW_BYTES = 64 << 10;

  private final MemoryBound bound;
  private final List<Share> shares = new CopyOnWriteArrayList<>();

  public HeldBytes(MemoryBound bound) {
    this.bound = bound;
  }

  public Share share() {
    var share = new Share();
    shares.add(share);
    return share;
  }

  public long total() {
    long total = 0;
    for (var share : shares) {
      total += share.bytes.getOpaque();
    }
    return total;
  }

  public final class Share {
    private final AtomicLong bytes = new AtomicLong();
    private final PartialHeads partialHeads = new PartialHeads(this);

    private Share() {}

    /** <b>Threads.</b> Only the share's loop. */
    public void add(int more) {
      bytes.setOpaque(bytes.getPlain() + more);
    }

    /**
     * Counts a large head, or marks it as too large; small ones are counted while queued. Returns
     * what was counted.
     *
     * @param max that it may cost
     */
    public int addHead(HttpRequest request, int max) {
      int cost = PartBuffer.cost(request);
      if (cost <= MemoryBound.LARGE_HEAD_BYTES) {
        return 0;
      }
      if (cost > max || bound.refusesHead(total(), cost)) {
        request.setDecoderResult(DecoderResult.failure(HEADS_HOLD_TOO_MUCH));
        return 0;
      }
      add(cost);
      return cost;
    }

    public PartialHeads partialHeads() {
      return partialHeads;
    }

    boolean refusesPartialHeads(long ofLoop) {
      return bound.refusesPartialHeads(ofLoop, shares.size());
    }

    public boolean isFull(long ofRevision) {
      return bound.isFull(total(), ofRevision);
    }

    public int windowWhileQueued(long ofRevision) {
      return bound.leavesBodiesUnread(total(), ofRevision) ? 0 : WINDOW_BYTES;
    }

    /** Never 0: the request must be read to end. */
    public int windowWhileForwarding() {
      return bound.isTight(total()) ? 1 : WINDOW_BYTES;
    }
  }
}
