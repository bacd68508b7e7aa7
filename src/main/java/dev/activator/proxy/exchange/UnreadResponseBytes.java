package dev.activator.proxy.exchange;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyTransport;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.proxy.policy.UnreadResponseBudget.Holding;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the bytes of responses that are held because callers do not read them. Above the budget,
 * connections or streams are ended in the order of {@link UnreadResponseBudget}.
 *
 * <p><b>Threads.</b> Each loop writes its share and ends its connections; any thread may read the
 * total, which may be slightly stale.
 */
public final class UnreadResponseBytes {
  public interface CallerConnection {
    /** Bytes that HTTP/2 flow control holds back, above the socket. */
    default long queuedBytes() {
      return 0;
    }

    /**
     * Ends streams that together hold this number of bytes, or the connection.
     *
     * @return false if the other bytes wait in a socket that the caller still reads
     */
    boolean endUnread(long bytes);
  }

  private static final Logger log = LoggerFactory.getLogger(UnreadResponseBytes.class);
  /**
   * The maximum number of connections that are ended in a turn of the loop. This takes some
   * milliseconds, because each connection may have many streams.
   */
  private static final int MAX_ENDED_AT_ONCE = 16;
  /** After this time the bytes that a caller has read count only half. */
  private static final long MEMORY_NANOS = TimeUnit.SECONDS.toNanos(4);
  private static final Duration STALLED = Duration.ofMillis(100);

  private final UnreadResponseBudget budget;
  private final List<Share> shares = new CopyOnWriteArrayList<>();
  private final LongAdder overBudget = new LongAdder();
  private final LongAdder idle = new LongAdder();

  public UnreadResponseBytes(UnreadResponseBudget budget) {
    this.budget = budget;
  }

  public Share share(Loop loop) {
    var share = new Share(loop);
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

  public long endedOverBudget() {
    return overBudget.sum();
  }

  public long endedIdle() {
    return idle.sum();
  }

  private void freeMemory() {
    largest().scheduleEnding();
  }

  private Share largest() {
    var largest = shares.getFirst();
    for (var share : shares) {
      if (share.bytes.getOpaque() > largest.bytes.getOpaque()) {
        largest = share;
      }
    }
    return largest;
  }

  public final class Share {
    private final Loop loop;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicBoolean endingScheduled = new AtomicBoolean();
    private final ResettableTimer stalled;
    /** Accounts with unread bytes. */
    private final Set<Account> accounts = new LinkedHashSet<>();
    private final LogLimit limit = new LogLimit();

    private Share(Loop loop) {
      this.loop = loop;
      this.stalled = new ResettableTimer(loop, this::scheduleEnding);
    }

    /** @param drainNanos the limit until {@link Account#drainWithin} is called */
    public Account account(Channel channel, CallerConnection connection, long drainNanos) {
      return new Account(this, channel, connection, drainNanos);
    }

    public void countIdle() {
      idle.increment();
    }

    public void countOverBudget() {
      overBudget.increment();
    }

    private void add(long more) {
      bytes.setOpaque(bytes.getPlain() + more);
      if (more > 0 && budget.excess(total()) > 0) {
        freeMemory();
      }
    }

    /**
     * Schedules the ending of connections. They are not ended now, because this may be inside a
     * write, and other connections must be served first.
     */
    private void scheduleEnding() {
      if (endingScheduled.compareAndSet(false, true)) {
        loop.schedule(Duration.ZERO, this::endSlowest);
      }
    }

    private void endSlowest() {
      endingScheduled.set(false);
      var all = List.copyOf(accounts);
      all.forEach(Account::measure);
      long before = bytes.getPlain();
      long excessOfAll = budget.excess(total());
      if (before == 0 && excessOfAll > 0) {
        // This share was the largest one when it was chosen, but is empty by now.
        freeMemory();
      }
      long excess = Math.min(excessOfAll, before);
      if (excess <= 0) {
        return;
      }
      var holdings = new ArrayList<Holding>(all.size());
      for (int i = 0; i < all.size(); i++) {
        holdings.add(all.get(i).holding(i));
      }
      int ended = 0;
      for (var next : budget.order(holdings)) {
        long left = excess - (before - bytes.getPlain());
        if (left <= 0 || ended == MAX_ENDED_AT_ONCE) {
          break;
        }
        var account = all.get(next.index());
        ended += account.connection.endUnread(left) ? 1 : 0;
        account.measure();
      }
      int endedNow = ended;
      limit.log(loop.nanoTime(), _ -> log.warn("Responses that callers do not read exceed {} bytes:"
          + " {} of the slowest connections were ended, wholly or in part, which frees {} bytes",
          budget.bytes(), endedNow, before - bytes.getPlain()));
      if (budget.excess(total()) > 0) {
        if (bytes.getPlain() < before) {
          freeMemory();
        } else {
          // Whether a caller has stalled is known only after a while.
          stalled.within(STALLED);
          var largest = largest();
          if (largest != this) {
            // By now another share, whose callers have stalled, may be the largest.
            largest.scheduleEnding();
          }
        }
      }
    }
  }

  public static final class Account {
    private final Share share;
    private final Channel channel;
    private final CallerConnection connection;
    private long bytes;
    /** The part of them that waits in the socket. */
    private long inSocket;
    private long taken;
    private long sinceNanos;
    private long progressNanos;
    /** Whether an empty write is queued after the unread bytes. It reports when they are sent. */
    private boolean marked;
    private boolean closed;
    private long drainNanos;

    private Account(Share share, Channel channel, CallerConnection connection, long drainNanos) {
      this.share = share;
      this.channel = channel;
      this.connection = connection;
      this.drainNanos = drainNanos;
    }

    /** Counts the unread bytes, and returns them. Call after a flush that left bytes in the socket. */
    public long measure() {
      long socket = socketBytes();
      long now = closed ? 0 : socket + connection.queuedBytes();
      if (socket < inSocket || inSocket == 0 && socket > 0) {
        // Bytes that a stream held, and that end with it, are no progress.
        progressNanos = share.loop.nanoTime();
      }
      inSocket = socket;
      if (now != bytes) {
        moved(now);
      }
      if (socket > 0 && !marked && !closed) {
        mark();
      }
      return now;
    }

    public long socketBytes() {
      return closed ? 0 : NettyTransport.unsentBytes(channel);
    }

    public boolean isStalled() {
      return socketBytes() > 0 && stalledNanos() >= STALLED.toNanos();
    }

    public long stalledNanos() {
      return measure() == 0 ? 0 : share.loop.nanoTime() - progressNanos;
    }

    /** Sets how long a caller may read nothing while bytes wait in its socket. */
    public void drainWithin(long nanos) {
      drainNanos = nanos;
    }

    public long drainNanos() {
      return drainNanos;
    }

    /**
     * {@link Long#MAX_VALUE} if nothing waits in the socket.
     *
     * @param leastNanos the limit, if it is longer than that of {@link #drainWithin}
     */
    public long drainNanosLeft(long leastNanos) {
      if (socketBytes() == 0) {
        return Long.MAX_VALUE;
      }
      long limit = Math.max(drainNanos, leastNanos);
      long left = limit - stalledNanos();
      return left <= 0 && NettyTransport.hasSent(channel, TimeUnit.NANOSECONDS.toMillis(limit))
          ? limit
          : left;
    }

    public void close() {
      closed = true;
      measure();
    }

    private void moved(long now) {
      long time = share.loop.nanoTime();
      long more = now - bytes;
      if (bytes == 0) {
        share.accounts.add(this);
        taken = 0;
        sinceNanos = time;
      } else if (more < 0) {
        taken -= more;
      }
      if (time - sinceNanos > MEMORY_NANOS) {
        sinceNanos = time - (time - sinceNanos) / 2;
        taken /= 2;
      }
      bytes = now;
      if (now == 0) {
        share.accounts.remove(this);
      }
      share.add(more);
    }

    private Holding holding(int of) {
      return new Holding(of, bytes, taken, share.loop.nanoTime() - sinceNanos);
    }

    private void mark() {
      ChannelHandlerContext first = channel.pipeline().firstContext();
      if (first != null) {
        marked = true;
        // Posted, because Netty notifies listeners before it lowers its count of pending bytes.
        first.writeAndFlush(Unpooled.EMPTY_BUFFER)
            .addListener(_ -> share.loop.execute(this::sent));
      }
    }

    private void sent() {
      marked = false;
      progressNanos = share.loop.nanoTime();
      measure();
    }
  }
}
