package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.WindowBudget;
import dev.activator.proxy.policy.HeldMemoryLimit;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpMessageDecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the bytes of the requests that the process holds, and limits them. Bodies are read ahead
 * while there is enough memory. When memory gets scarce, the bodies of queued requests are not
 * read; at the limit, no request is queued.
 *
 * <p><b>Threads.</b> Each loop writes its share; any thread may read the total, which may be
 * slightly stale.
 */
public final class HeldRequestBytes {
  public static final TooLongHttpHeaderException HEADS_HOLD_TOO_MUCH = new TooLongHttpHeaderException(
      "large heads hold too much memory");

  /** The maximum number of bytes of a body that are read ahead. */
  private static final int WINDOW_BYTES = 64 << 10;

  /** The bytes of the objects of a head. */
  private static final int HEAD_BYTES = 512;
  /** The bytes of the entry and the two strings of a field, without their text. */
  private static final int FIELD_BYTES = 100;

  private final HeldMemoryLimit limit;
  private final List<Share> shares = new CopyOnWriteArrayList<>();
  private final WindowBudget windows;

  public HeldRequestBytes(HeldMemoryLimit limit) {
    this.limit = limit;
    this.windows = new WindowBudget(limit.windows());
  }

  /** The bytes in memory of a head: its text, and the objects that hold it. */
  static int ofHead(HttpRequest head) {
    return head.decoderResult() instanceof HttpMessageDecoderResult read
        ? ofHead(read.totalSize(), head.headers().size())
        : HEAD_BYTES + head.uri().length() + ofFields(HeaderFieldList.of(head.headers()));
  }

  /** Estimates the bytes in memory of a head from the length of its text. */
  public static int ofHead(int textBytes, int fields) {
    return HEAD_BYTES + textBytes + FIELD_BYTES * fields;
  }

  static int ofFields(HeaderFieldList fields) {
    return FIELD_BYTES * fields.size() + fields.textLength();
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
    /** Small incomplete heads, oldest first; also HPACK tables. */
    private final LinkedHashSet<PartialHead> smallHeads = new LinkedHashSet<>();
    private final LinkedHashSet<PartialHead> largeHeads = new LinkedHashSet<>();
    private long partialHeadBytes;

    private Share() {}

    /** <b>Threads.</b> The share's loop. */
    public void add(int more) {
      bytes.setOpaque(bytes.getPlain() + more);
    }

    /**
     * Counts a large head, or marks the request as refused if there is no memory for the head.
     * Returns the cost that was counted.
     *
     * @param max the highest cost that is accepted
     */
    int addLargeHead(HttpRequest request, int cost, int max) {
      if (cost > max || limit.refusesHead(total(), cost)) {
        request.setDecoderResult(DecoderResult.failure(HEADS_HOLD_TOO_MUCH));
        return 0;
      }
      add(cost);
      return cost;
    }

    /** @param refuse ends the connection or its request */
    public PartialHead partialHead(Runnable refuse) {
      return new PartialHead(this, refuse);
    }

    /**
     * Refuses the oldest incomplete heads. It begins with large ones, because normal heads are
     * small and soon complete.
     */
    private void refuseOldestHeads() {
      // A single head is limited by its own size.
      while (limit.refusesPartialHeads(partialHeadBytes, shares.size())
          && smallHeads.size() + largeHeads.size() > 1) {
        var oldest = (largeHeads.isEmpty() ? smallHeads : largeHeads).getFirst();
        oldest.ended();
        oldest.refuse.run();
      }
    }

    /** What callers may send beyond the windows with which their streams begin, on all loops together. */
    public WindowBudget windows() {
      return windows;
    }

    public boolean isFull(long ofRevision) {
      return limit.isFull(total(), ofRevision);
    }

    /** Whether a request in HTTP/2 is refused whose body waits: its caller has sent more than the windows leave. */
    public boolean refusesBodies() {
      return limit.refusesBodies(total());
    }

    /**
     * The window of a stream from now on.
     *
     * @param now the window that it has
     * @param tight the window while memory is tight
     * @param usual the window otherwise
     */
    public int windowOfStreams(int now, int tight, int usual) {
      return limit.isTight(total()) ? tight : limit.isRelaxed(total()) ? usual : now;
    }

    public int windowWhileQueued(long ofRevision) {
      return limit.leavesBodiesUnread(total(), ofRevision) ? 0 : WINDOW_BYTES;
    }

    /**
     * How much of a body is read ahead while it is forwarded. Never 0, as the request must be read
     * to its end.
     */
    public int windowWhileForwarding() {
      return limit.isTight(total()) ? 1 : WINDOW_BYTES;
    }
  }

  /**
   * An incomplete head. If the incomplete heads of a loop exceed their share of memory, the oldest
   * is refused.
   *
   * <p><b>Threads.</b> The share's loop.
   */
  public static final class PartialHead {
    private final Share share;
    private final Runnable refuse;
    private int cost;

    private PartialHead(Share share, Runnable refuse) {
      this.share = share;
      this.refuse = refuse;
    }

    /** May refuse this or another head. */
    public void grew(int newCost) {
      if (newCost > HeldMemoryLimit.LARGE_HEAD_BYTES) {
        share.smallHeads.remove(this);
        share.largeHeads.add(this);
      } else {
        share.smallHeads.add(this);
      }
      count(newCost);
      share.refuseOldestHeads();
    }

    /** Idempotent. */
    public void ended() {
      if (cost > 0) {
        share.smallHeads.remove(this);
        share.largeHeads.remove(this);
        count(0);
      }
    }

    private void count(int newCost) {
      share.partialHeadBytes += newCost - cost;
      share.add(newCost - cost);
      cost = newCost;
    }
  }
}
