package dev.activator.proxy;

import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.codec.MalformedRequestException;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.http.Http1Encoder.ResponseEncoder;
import dev.activator.proxy.exchange.Downstream.Caller;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.loop.NettyTransport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's HTTP/1 connection: one exchange after another, between its {@link Http1RequestReader} and its
 * {@link Http1Downstream}.
 *
 * <p><b>Errors.</b> As in Go's server, a caller that closes its sending side counts as gone. Native
 * transport notices that even while reading is paused, unless unread bytes before it fill the
 * kernel's receive buffer.
 */
final class Http1CallerConnection extends ChannelInboundHandlerAdapter
    implements Http1RequestReader.Receiver, UnreadResponseBytes.CallerConnection {
  private static final Logger log = LoggerFactory.getLogger(Http1CallerConnection.class);
  /** How much of an unwanted body is read to keep the connection. */
  private static final int MAX_DISCARDED_BYTES = 256 << 10;

  private final Channel channel;
  private final RequestDispatcher dispatcher;
  private final Caller caller;
  private final Http1Downstream downstream;
  private final ResettableTimer timer;
  private final UnreadResponseBytes.Account unread;
  private final Http1RequestReader reader;
  private @Nullable Exchange current;
  private boolean closesWhenIdle;
  private int discardedBytes;
  /** The bytes for which a large head is counted as held; 0 for a small one. */
  private int headBytes;

  Http1CallerConnection(Channel channel, Http1RequestDecoder decoder, RequestDispatcher dispatcher,
      Duration headTimeout, AbusiveConnectionCounter endedConnections) {
    this.channel = channel;
    this.dispatcher = dispatcher;
    this.caller = Caller.of(channel);
    this.timer = new ResettableTimer(dispatcher.loop(), this::checkDeadlines);
    this.reader = new Http1RequestReader(channel, decoder, dispatcher.loop(), dispatcher.held(),
        headTimeout, timer, endedConnections, this);
    this.downstream = new Http1Downstream(this, channel, dispatcher.loop(), reader, caller);
    this.unread = dispatcher.unread().account(channel, this, headTimeout.toNanos());
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    reader.awaitHead();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    downstream.readBegins();
    reader.read(message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (current != null) {
      current.flushUpstream();
    }
    downstream.readEnds();
    reader.readEnds();
    closeIfIdle();
  }

  @Override
  public boolean isBetweenRequests() {
    return current == null && downstream.requestEnded() && !downstream.isSwitched();
  }

  @Override
  public boolean closing() {
    return downstream.closing();
  }

  @Override
  public boolean mayTake(HttpObject part) {
    return part instanceof HttpRequest
        ? current == null
        : !downstream.requestEnded() || downstream.isSwitched();
  }

  @Override
  public void take(HttpObject part) {
    if (part instanceof HttpRequest request) {
      take(request);
    } else if (downstream.isSwitched()) {
      tunnel((HttpContent) part);
    } else if (part.decoderResult().isFailure()) {
      ReferenceCountUtil.release(part);
      malformedBody(part.decoderResult().cause());
    } else {
      take((HttpContent) part);
    }
  }

  private void tunnel(HttpContent bytes) {
    if (current == null) {
      bytes.release();
    } else {
      current.content(bytes);
    }
  }

  private void take(HttpRequest request) {
    discardedBytes = 0;
    headBytes = dispatcher.holdLargeHead(request, Integer.MAX_VALUE);
    downstream.requestBegins(request);
    dispatcher.dispatch(request, downstream.version(), downstream);
  }

  private void headGone() {
    dispatcher.releaseHead(headBytes);
    headBytes = 0;
  }

  private void take(HttpContent part) {
    downstream.bodyCame(part);
    if (current != null) {
      current.content(part);
    } else {
      discard(part);
    }
  }

  private void malformedBody(Throwable cause) {
    if (current != null) {
      current
          .fail(new RequestFailure.BadRequest(
              MalformedRequestException.text(cause, "malformed chunk")));
    } else {
      downstream.close();
    }
  }

  private void discard(HttpContent part) {
    discardedBytes += part.content().readableBytes();
    part.release();
    if (discardedBytes > MAX_DISCARDED_BYTES) {
      downstream.close();
    } else {
      takePipelined();
    }
  }

  @Override
  public void turnUsedUp() {
    // Unlike an executed task, a scheduled one runs after other connections were read.
    dispatcher.loop().schedule(Duration.ZERO, this::nextTurn);
  }

  private void nextTurn() {
    reader.nextTurn();
    downstream.readBegins();
    takePipelined();
    if (current != null) {
      current.flushUpstream();
    }
    downstream.readEnds();
    closeIfIdle();
  }

  private void takePipelined() {
    if (reader.takeWaiting() && current != null && !downstream.isReading()) {
      current.flushUpstream();
    }
    reader.nextRequest();
  }

  void begin(Exchange exchange) {
    current = exchange;
  }

  void checkAt(long dueNanos) {
    timer.at(dueNanos);
  }

  void drainWithin(long nanos) {
    unread.drainWithin(nanos);
  }

  /** Counts the bytes that the socket has not taken. Usually the flush has sent them all. */
  void flushed() {
    if (NettyTransport.unsentBytes(channel) > 0 && unread.measure() > 0) {
      timer.within(Math.max(0, unread.drainNanosLeft()));
    }
  }

  @Override
  public long queuedBytes() {
    return 0;
  }

  @Override
  public boolean endUnread(long bytes) {
    log.debug("{} does not read its response, closing", caller.address());
    dispatcher.unread().countOverBudget();
    reset();
    return true;
  }

  private void reset() {
    // Prevents the next pipelined request from beginning.
    downstream.gone();
    if (current != null) {
      current.endUnread();
    }
    NettyTransport.reset(channel);
  }

  void ended() {
    current = null;
    headGone();
    if (closing()) {
      reader.dropWaiting();
    } else {
      takePipelined();
      closeIfIdle();
    }
  }

  void leaveHttp() {
    channel.pipeline().remove(ResponseEncoder.class);
    reader.leaveHttp();
    // Bytes after the request belong to the other protocol.
    dispatcher.loop().execute(this::takePipelined);
  }

  private void checkDeadlines() {
    if (current != null) {
      long left = current.checkDeadlines();
      if (left != Long.MAX_VALUE) {
        timer.within(left);
      }
    } else if (unread.measure() > 0) {
      long left = unread.drainNanosLeft();
      if (left > 0) {
        timer.within(left);
      } else {
        log.debug("{} stopped reading its response, closing", caller.address());
        dispatcher.unread().countIdle();
        reset();
      }
    } else if (reader.isLate()) {
      downstream.close();
    }
  }

  /** Closes after the response under way, or else after the next one. */
  void closeAfterThis() {
    downstream.closeAfterThis();
  }

  void closeAfterNext() {
    downstream.closeAfterNext();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ProxyServer.Drain.SOON) {
      closeAfterNext();
    } else if (event == ProxyServer.Drain.NOW) {
      closeAfterThis();
      closesWhenIdle = true;
      closeIfIdle();
    }
  }

  /**
   * Closes the connection unless part of a request was read. The response to that request then says
   * that it is the last one.
   */
  private void closeIfIdle() {
    if (closesWhenIdle && current == null && !reader.holdsBytes()) {
      downstream.close();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (current != null) {
      current.downstreamWritabilityChanged();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (cause instanceof IOException || cause.getCause() instanceof IOException) {
      // A caller's TLS errors are wrapped in another exception.
      log.debug("The connection to {} failed: {}", caller.address(), cause.toString());
    } else if (cause instanceof OutOfMemoryError || cause.getCause() instanceof OutOfMemoryError) {
      outOfMemory();
      return; // The downstream closes once the 503 is on its way.
    } else {
      log.warn("Handling the connection to {} failed", caller.address(), cause);
    }
    downstream.cut();
  }

  /** Answers 503, which needs no direct memory. */
  private void outOfMemory() {
    log.debug("No memory for the connection to {}", caller.address());
    downstream.closeAfterThis();
    if (current != null && !downstream.closing()) {
      current.fail(new RequestFailure.MemoryFull(1));
    }
    downstream.close();
  }

  /** Called when the connection switches to HTTP/2. */
  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    timer.cancel();
    headGone();
    unread.close();
    reader.close();
    reader.dropWaiting();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (downstream.isSwitched()) {
      reader.takeLast();
    }
    downstream.gone();
    unread.close();
    reader.close();
    var gone = current;
    current = null;
    if (gone != null) {
      gone.callerGone();
    }
    headGone();
  }
}
