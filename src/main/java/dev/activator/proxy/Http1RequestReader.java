package dev.activator.proxy;

import dev.activator.http.ReadTurn;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
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
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of an HTTP/1 connection, in the order in which they were read. Its connection takes
 * one part after another. Pipelined requests wait until the exchange before them has ended, and so
 * do the bytes that follow a request for another protocol. Reading is paused while the current body
 * is not needed, or while many bytes wait. A limited number of parts is taken per turn of the loop,
 * so that other connections are served in between.
 *
 * <p>An incomplete head is limited in time and in memory. A connection may be idle between requests
 * for any time, but not within a head.
 */
final class Http1RequestReader {
  private static final Logger log = LoggerFactory.getLogger(Http1RequestReader.class);
  /** How much of a body that is not wanted is read to keep the connection, as in Go. */
  private static final int MAX_UNWANTED_BYTES = 256 << 10;

  private final Channel channel;
  private final Loop loop;
  private final ReadTurn turn;
  private final HeldRequestBytes.Share held;
  private final IncompleteHead head;
  private final AbusiveConnectionCounter endedConnections;
  private Http1RequestDecoder decoder;
  private boolean headAwaited;
  private boolean headBegun;
  private boolean parseScheduled;
  private final RequestBuffer waiting;
  /** Whether the exchange of a request that was taken has not ended. */
  private boolean serving;
  /** Whether the last part that was taken ends a request. */
  private boolean requestEnded = true;
  /** How many bytes of the body were not taken yet; not above 0 if it has no length. */
  private long bodyLeft;
  private boolean awaitsContinue;
  private boolean tunnel;
  private boolean stopped;
  private boolean dropping;
  private boolean bodyWanted = true;
  private boolean reads = true;

  /**
   * @param turn takes the parts that wait when the next one begins
   * @param timer its task calls {@link #isLate}
   */
  Http1RequestReader(Channel channel, Loop loop, ReadTurn turn, HeldRequestBytes.Share held,
      Duration headTimeout, ResettableTimer timer, AbusiveConnectionCounter endedConnections) {
    this.channel = channel;
    this.decoder = channel.pipeline().get(Http1RequestDecoder.class);
    this.loop = loop;
    this.turn = turn;
    this.held = held;
    this.head = new IncompleteHead(loop, headTimeout, timer, held, this::refuseHead);
    this.endedConnections = endedConnections;
    this.waiting = new RequestBuffer(held);
    waiting.compact();
  }

  // Parts.

  /** Returns the part that the decoder has read, if it is next; else null, and it waits. */
  @Nullable HttpObject read(Object message) {
    HttpObject part;
    if (message instanceof HttpObject parsed) {
      head.ended();
      headBegun = false;
      headAwaited = false;
      part = parsed;
    } else {
      part = new DefaultHttpContent((ByteBuf) message);
    }
    if (stopped) {
      ReferenceCountUtil.release(part);
      return null;
    }
    if (waiting.isEmpty() && mayTake(part)) {
      return taken(part);
    }
    waiting.add(part);
    updateReading();
    return null;
  }

  /** Returns the next part that waited; null if there is none, or if it may not be taken yet. */
  @Nullable HttpObject next() {
    var part = waiting.peek();
    if (part == null || stopped || !mayTake(part)) {
      updateReading();
      return null;
    }
    waiting.poll();
    return taken(part);
  }

  private boolean mayTake(HttpObject part) {
    return (part instanceof HttpRequest ? !serving : !requestEnded || tunnel) && turn.mayBegin();
  }

  private HttpObject taken(HttpObject part) {
    turn.count(1);
    if (part instanceof HttpRequest request) {
      serving = true;
      // More may follow a refused request and must be read before closing.
      boolean valid = request.decoderResult().isSuccess();
      requestEnded = false;
      bodyLeft = valid ? HttpUtil.getContentLength(request, 0L) : 0;
      awaitsContinue = HttpUtil.is100ContinueExpected(request);
    } else if (!tunnel && part.decoderResult().isSuccess()) {
      awaitsContinue = false;
      bodyLeft -= ((HttpContent) part).content().readableBytes();
      requestEnded = part instanceof LastHttpContent;
    }
    return part;
  }

  /** The last bytes of a tunnel, also beyond the turn. */
  @Nullable HttpObject last() {
    return tunnel ? waiting.poll() : null;
  }

  boolean requestEnded() {
    return requestEnded;
  }

  /**
   * Whether the response that begins now must be the last one, because the rest of the body is more
   * than is read for nothing, or because the caller waits for a 100: it may or may not send the
   * body after another response, so the next bytes would be ambiguous.
   */
  boolean leavesBody() {
    return !requestEnded && (awaitsContinue || bodyLeft > MAX_UNWANTED_BYTES);
  }

  void continues() {
    awaitsContinue = false;
  }

  void exchangeEnded() {
    serving = false;
  }

  private boolean isBetweenRequests() {
    return !serving && requestEnded && !tunnel;
  }

  private boolean isIdle() {
    return waiting.isEmpty() && isBetweenRequests();
  }

  void readEnds() {
    turn.readCompletes();
    if (isIdle()) {
      headMayBegin();
    }
    countHead();
  }

  void stop() {
    stopped = true;
  }

  /** Reads and drops everything from now on. */
  void drop() {
    stopped = true;
    dropping = true;
    updateReading();
  }

  boolean isStopped() {
    return stopped;
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

  private void updateReading() {
    boolean full = !waiting.isEmpty()
        && (turn.isOver() || waiting.bytes() >= held.windowWhileForwarding());
    boolean now = dropping || (bodyWanted && !full);
    if (now != reads) {
      reads = now;
      channel.config().setAutoRead(now);
    }
  }

  // The next head.

  void awaitHead() {
    headAwaited = true;
    head.await();
  }

  /** Whether anything that was read waits, or the next head has begun. */
  boolean holdsBytes() {
    return headBegun || !waiting.isEmpty();
  }

  /** Call when all parts that may be taken are: the next head may have begun in the same read. */
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
      head.grew(bytes, decoder.fields());
    } else if (decoder.keepsMuchMemory() && decoder.isBetweenRequests()) {
      replaceDecoder(new Http1RequestDecoder());
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
    if (!headAwaited || !head.isLate()) {
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
    return decoder.isUnparsed() && isBetweenRequests() && !stopped
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

  /** The rest of the request, and what follows, are bytes of a tunnel. */
  void leaveHttp() {
    requestEnded = true;
    // Passes on what is not decoded, which waits.
    channel.pipeline().remove(decoder);
    head.ended();
    tunnel = true;
  }

  void close() {
    head.ended();
    dropWaiting();
  }
}
