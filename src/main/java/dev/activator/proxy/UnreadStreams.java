package dev.activator.proxy;

import dev.activator.loop.NettyTransport;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.Comparator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the response bytes that the caller of an HTTP/2 connection has not read, and ends its
 * streams when they are too many. Bytes wait in a stream while its window is closed, and in the
 * socket.
 */
final class UnreadStreams implements UnreadResponseBytes.CallerConnection {
  private static final Logger log = LoggerFactory.getLogger(UnreadStreams.class);

  private final Http2CallerSession session;
  private final Channel channel;
  private final UnreadResponseBytes.Share all;
  private final UnreadResponseBytes.Account account;
  private long queuedBytes;

  /** @param drainNanos the limit until {@link #drainWithin} is called */
  UnreadStreams(Http2CallerSession session, Channel channel, UnreadResponseBytes.Share all,
      long drainNanos) {
    this.session = session;
    this.channel = channel;
    this.all = all;
    this.account = all.account(channel, this, drainNanos);
  }

  void queued(long more) {
    queuedBytes += more;
  }

  @Override
  public long queuedBytes() {
    return queuedBytes;
  }

  long measure() {
    return account.measure();
  }

  long drainNanos() {
    return account.drainNanos();
  }

  void drainWithin(long nanos) {
    account.drainWithin(nanos);
  }

  /**
   * The time to the next check; {@link Long#MAX_VALUE} if nothing waits in the socket, 0 if the
   * connection was ended.
   *
   * @param underWayNanos the longest limit of the responses that are under way; 0 without one
   */
  long checkIdle(long underWayNanos) {
    long left = account.drainNanosLeft(underWayNanos);
    if (left <= 0) {
      countIdle();
      NettyTransport.reset(channel);
    }
    return Math.max(0, left);
  }

  void countIdle() {
    log.debug("{} stopped reading a response, ending it", session.caller().address());
    all.countIdle();
  }

  /**
   * Resets the streams that hold the most bytes. A caller that reads nothing would not see a reset,
   * so its connection is closed.
   */
  @Override
  public boolean endUnread(long bytes) {
    log.debug("{} does not read its responses, ending some", session.caller().address());
    boolean holdsStreams = queuedBytes > 0;
    var streams = new ArrayList<Http2Downstream>();
    session.eachDownstream(streams::add);
    streams.removeIf(one -> one.unreadBytes() == 0 || one.isReset());
    streams.sort(Comparator.comparingLong(Http2Downstream::unreadBytes).reversed());
    long left = bytes;
    for (var one : streams) {
      if (left <= 0) {
        break;
      }
      left -= one.unreadBytes();
      all.countOverBudget();
      one.endUnread();
    }
    session.flushNow();
    boolean stalled = account.isStalled();
    if (stalled) {
      all.countOverBudget();
      NettyTransport.reset(channel);
    }
    return stalled || holdsStreams;
  }

  void close() {
    account.close();
  }
}
