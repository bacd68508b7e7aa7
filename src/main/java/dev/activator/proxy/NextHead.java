package dev.activator.proxy;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.codec.RequestDecoder;
import dev.activator.proxy.exchange.HeldBytes;
import dev.activator.proxy.exchange.PartBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The head of an HTTP/1 connection's next request until it is complete: limits its time and its
 * memory. A connection may be idle between requests for any time, but not within a head.
 */
final class NextHead {
  private static final Logger log = LoggerFactory.getLogger(NextHead.class);

  private final Channel channel;
  private final Loop loop;
  private final Duration timeout;
  private final DeadlineTimer timer;
  private final HeldBytes.PartialHead held;
  private final EndedConnections endedConnections;
  private RequestDecoder decoder;
  private boolean awaited;
  private long dueNanos;
  private boolean begun;

  /** @param timer after which {@link #isLate} is asked */
  NextHead(Channel channel, RequestDecoder decoder, Loop loop, HeldBytes.Share held,
      Duration timeout, DeadlineTimer timer, EndedConnections endedConnections) {
    this.channel = channel;
    this.decoder = decoder;
    this.loop = loop;
    this.timeout = timeout;
    this.timer = timer;
    this.held = held.partialHead(this::refuse);
    this.endedConnections = endedConnections;
  }

  void await() {
    awaited = true;
    dueNanos = loop.nanoTime() + timeout.toNanos();
    timer.within(timeout);
  }

  boolean isBegun() {
    return begun;
  }

  /** A head, or a part of a body. */
  void messageRead() {
    held.ended();
    begun = false;
    awaited = false;
  }

  /** @param idle whether what was read is no body, and no request is under way or waits */
  void readEnds(boolean idle) {
    if (idle) {
      mayBegin();
    }
    countMemory();
  }

  /** To be called when a request ends, too: this one may have come with it. */
  void mayBegin() {
    if (decoder.partialHeadBytes() > 0) {
      begun = true;
      if (!awaited) {
        await();
      }
    }
  }

  private void countMemory() {
    int bytes = channel.isActive() ? decoder.partialHeadBytes() : 0;
    if (bytes > 0) {
      held.grew(PartBuffer.costOfHead(bytes, decoder.fields()));
    } else if (decoder.keepsMuchMemory() && decoder.isBetweenRequests()) {
      replaceDecoder(new RequestDecoder());
    }
  }

  /** Undecoded bytes go to the new decoder. */
  private void replaceDecoder(RequestDecoder by) {
    var old = decoder;
    decoder = by;
    channel.pipeline().replace(old, null, by);
  }

  private void refuse() {
    endedConnections.ended(EndedConnections.Reason.PARTIAL_HEADS, channel.remoteAddress(),
        loop.nanoTime());
    var dropping = new RequestDecoder();
    dropping.stop();
    replaceDecoder(dropping);
    var context = channel.pipeline().context(dropping);
    context.fireChannelRead(RequestDecoder.refusal(HeldBytes.HEADS_HOLD_TOO_MUCH));
    context.fireChannelReadComplete();
  }

  /** Whether the connection must be closed; if not, sets the timer again. */
  boolean isLate() {
    if (!awaited) {
      return false;
    }
    long left = dueNanos - loop.nanoTime();
    if (left > 0) {
      timer.within(left);
      return false;
    }
    log.debug("No request from {} in time", channel.remoteAddress());
    if (begun) {
      endedConnections.ended(EndedConnections.Reason.SLOW_HEAD, channel.remoteAddress(),
          loop.nanoTime());
    }
    return true;
  }

  /** Whether what comes is passed on as bytes, as it may be of another protocol. */
  boolean isUnparsed() {
    return decoder.isUnparsed();
  }

  /** The protocol stays: these bytes are parsed, and those that follow. */
  void parse(ByteBuf bytes) {
    decoder.parse();
    var context = channel.pipeline().context(decoder);
    try {
      decoder.channelRead(context, bytes);
      decoder.channelReadComplete(context);
    } catch (Exception e) {
      context.fireExceptionCaught(e);
    }
  }

  /** Bytes that are not decoded go to the next handler. */
  void leaveHttp() {
    channel.pipeline().remove(decoder);
    held.ended();
  }

  void close() {
    held.ended();
  }
}
