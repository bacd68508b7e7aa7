package dev.activator.proxy;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RequestBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the requests of an HTTP/1 connection, in order. Pipelined requests wait, and so do the
 * bytes that follow a request for another protocol. Reading is paused while the current body is not
 * needed, or while many bytes wait. It handles a limited number of parts per turn of the loop, so
 * that other connections are served in between.
 *
 * <p>An incomplete head is limited in time and in memory. A connection may be idle between requests
 * for any time, but not within a head.
 */
final class Http1RequestReader {
  interface Receiver {
    /** Whether the last request has ended, so that the next one may begin. */
    boolean isBetweenRequests();

    /** Whether the part may be taken if nothing waits before it. */
    boolean mayTake(HttpObject part);

    void take(HttpObject part);

    boolean closing();

    /** Call {@link #nextTurn} in the loop's next turn. */
    void turnUsedUp();
  }

  /** About a millisecond of work; a request without a body is two parts. */
  static final int PARTS_PER_TURN = 64;

  private static final Logger log = LoggerFactory.getLogger(Http1RequestReader.class);

  private final Channel channel;
  private final Loop loop;
  private final HeldRequestBytes.Share held;
  private final Duration headTimeout;
  private final ResettableTimer timer;
  private final AbusiveConnectionCounter endedConnections;
  private final Receiver receiver;
  private Http1RequestDecoder decoder;
  /** The incomplete head that is counted as held; null if none is. */
  private HeldRequestBytes.@Nullable PartialHead partialHead;
  private boolean headAwaited;
  private long headDueNanos;
  private boolean headBegun;
  private boolean parseScheduled;
  private final RequestBuffer waiting;
  private int partsLeft = PARTS_PER_TURN;
  private boolean taking;
  private boolean bodyWanted = true;
  private boolean dropping;
  private boolean reads = true;

  /** @param timer its task calls {@link #isLate} */
  Http1RequestReader(Channel channel, Http1RequestDecoder decoder, Loop loop,
      HeldRequestBytes.Share held,
      Duration headTimeout, ResettableTimer timer, AbusiveConnectionCounter endedConnections,
      Receiver receiver) {
    this.channel = channel;
    this.decoder = decoder;
    this.loop = loop;
    this.held = held;
    this.headTimeout = headTimeout;
    this.timer = timer;
    this.endedConnections = endedConnections;
    this.receiver = receiver;
    this.waiting = new RequestBuffer(held);
    waiting.compact();
  }

  // Messages from the decoder.

  void read(Object message) {
    if (message instanceof HttpObject part) {
      partialHeadEnded();
      headBegun = false;
      headAwaited = false;
      readPart(part);
    } else {
      readPart(new DefaultHttpContent((ByteBuf) message));
    }
  }

  private void readPart(HttpObject part) {
    if (receiver.closing()) {
      ReferenceCountUtil.release(part);
    } else if (waiting.isEmpty() && partsLeft > 0 && receiver.mayTake(part)) {
      take(part);
    } else {
      waiting.add(part);
      updateReading();
    }
  }

  private void take(HttpObject part) {
    partsLeft--;
    if (partsLeft == 0) {
      receiver.turnUsedUp();
    }
    receiver.take(part);
  }

  void readEnds() {
    if (partsLeft > 0) {
      partsLeft = PARTS_PER_TURN;
    }
    if (isIdle()) {
      headMayBegin();
    }
    countHead();
  }

  void nextTurn() {
    partsLeft = PARTS_PER_TURN;
    updateReading();
  }

  private boolean isIdle() {
    return !taking && waiting.isEmpty() && receiver.isBetweenRequests();
  }

  // Parts that wait.

  /** Takes the next part that waits; false if none does. */
  boolean takeWaiting() {
    if (taking || waiting.isEmpty()) {
      return false;
    }
    taking = true;
    try {
      for (var next = waiting.peek(); next != null && mayTake(next); next = waiting.peek()) {
        waiting.poll();
        take(next);
      }
    } finally {
      taking = false;
      updateReading();
    }
    return true;
  }

  private boolean mayTake(HttpObject next) {
    return partsLeft > 0 && !receiver.closing() && receiver.mayTake(next);
  }

  /** Takes the last bytes of a tunnel in this turn, however many they are. */
  void takeLast() {
    for (var part = waiting.poll(); part != null; part = waiting.poll()) {
      receiver.take(part);
    }
  }

  void dropWaiting() {
    waiting.clear();
    updateReading();
  }

  void resumeBody() {
    bodyWanted = true;
    updateReading();
  }

  void pauseBody() {
    bodyWanted = false;
    updateReading();
  }

  /** Reads and drops everything from now on. */
  void readToDrop() {
    dropping = true;
    updateReading();
  }

  private void updateReading() {
    boolean full = !waiting.isEmpty()
        && (partsLeft <= 0 || waiting.bytes() >= held.windowWhileForwarding());
    boolean now = dropping || (bodyWanted && !full);
    if (now != reads) {
      reads = now;
      channel.config().setAutoRead(now);
    }
  }

  // The next head.

  void awaitHead() {
    headAwaited = true;
    headDueNanos = loop.nanoTime() + headTimeout.toNanos();
    timer.within(headTimeout);
  }

  /** Whether anything that was read waits, or the next head has begun. */
  boolean holdsBytes() {
    return headBegun || !waiting.isEmpty();
  }

  /** Call when a request ends: the next head may have begun in the same read. */
  void nextRequest() {
    if (isProtocolKept() && !parseScheduled) {
      // Posted, as many pipelined requests may want upgrades that are refused: each would add to
      // the stack.
      parseScheduled = true;
      loop.execute(this::parseKept);
    }
    if (isIdle()) {
      headMayBegin();
    }
  }

  private void headMayBegin() {
    if (decoder.partialHeadBytes() > 0) {
      headBegun = true;
      if (!headAwaited) {
        awaitHead();
      }
    }
  }

  private void countHead() {
    int bytes = channel.isActive() ? decoder.partialHeadBytes() : 0;
    if (bytes > 0) {
      if (partialHead == null) {
        partialHead = held.partialHead(this::refuseHead);
      }
      partialHead.grew(HeaderFieldList.bytesInMemory(bytes, decoder.fields()));
    } else if (decoder.keepsMuchMemory() && decoder.isBetweenRequests()) {
      replaceDecoder(new Http1RequestDecoder());
    }
  }

  private void partialHeadEnded() {
    if (partialHead != null) {
      partialHead.ended();
      partialHead = null;
    }
  }

  /** Replaces the decoder. Undecoded bytes go to the new one. */
  private void replaceDecoder(Http1RequestDecoder by) {
    var old = decoder;
    decoder = by;
    channel.pipeline().replace(old, null, by);
  }

  private void refuseHead() {
    endedConnections.ended(AbusiveConnectionCounter.Reason.PARTIAL_HEADS, channel.remoteAddress(),
        loop.nanoTime());
    var stopped = new Http1RequestDecoder();
    stopped.stop();
    replaceDecoder(stopped);
    var context = channel.pipeline().context(stopped);
    context.fireChannelRead(Http1RequestDecoder.refusal(HeldRequestBytes.HEADS_HOLD_TOO_MUCH));
    context.fireChannelReadComplete();
  }

  /**
   * Whether the connection must be closed, as a head has taken too long. If not, sets the timer
   * again.
   */
  boolean isLate() {
    if (!headAwaited) {
      return false;
    }
    long left = headDueNanos - loop.nanoTime();
    if (left > 0) {
      timer.within(left);
      return false;
    }
    log.debug("No request from {} in time", channel.remoteAddress());
    if (headBegun) {
      endedConnections.ended(AbusiveConnectionCounter.Reason.SLOW_HEAD, channel.remoteAddress(),
          loop.nanoTime());
    }
    return true;
  }

  // Other protocols.

  /** Whether bytes that follow a refused upgrade wait to be parsed as HTTP. */
  private boolean isProtocolKept() {
    return decoder.isUnparsed() && receiver.isBetweenRequests() && !receiver.closing()
        && !(waiting.peek() instanceof HttpRequest);
  }

  /** Parses the bytes that wait, and those that follow, as HTTP. */
  private void parseKept() {
    parseScheduled = false;
    if (!isProtocolKept()) {
      return;
    }
    var bytes = takeBytes();
    decoder.parse();
    var context = channel.pipeline().context(decoder);
    try {
      decoder.channelRead(context, bytes);
      decoder.channelReadComplete(context);
    } catch (Exception e) {
      context.fireExceptionCaught(e);
    }
  }

  /** Takes all parts, none of which is a request, as bytes. */
  private ByteBuf takeBytes() {
    var all = new ArrayList<ByteBuf>();
    while (waiting.poll() instanceof HttpContent part) {
      all.add(part.content());
    }
    updateReading();
    return Unpooled.wrappedBuffer(all.toArray(ByteBuf[]::new));
  }

  /** Removes the decoder. Bytes that are not decoded go to the next handler. */
  void leaveHttp() {
    channel.pipeline().remove(decoder);
    partialHeadEnded();
  }

  void close() {
    partialHeadEnded();
  }
}
