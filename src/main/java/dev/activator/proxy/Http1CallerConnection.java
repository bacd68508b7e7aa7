package dev.activator.proxy;

import dev.activator.http.ReadTurn;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.proxy.codec.MalformedRequestException;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.upstream.UpstreamConnection;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's HTTP/1 connection: one exchange after another. It takes requests from its {@link
 * Http1RequestReader} and passes responses to its {@link Http1ResponseWriter}; neither knows it.
 *
 * <p><b>Errors.</b> As in Go's server, a caller that closes its sending side counts as gone, except
 * in a tunnel. Native transport notices that even while reading is paused, unless unread bytes
 * before it fill the kernel's receive buffer.
 */
final class Http1CallerConnection extends ChannelInboundHandlerAdapter
    implements Downstream, UnreadResponseBytes.CallerConnection {
  private static final Logger log = LoggerFactory.getLogger(Http1CallerConnection.class);

  private final Channel channel;
  private final RequestDispatcher dispatcher;
  private final Caller caller;
  private final ResettableTimer timer;
  private final Http1RequestReader reader;
  private final Http1ResponseWriter writer;
  private final UnreadResponseBytes.Account unread;
  private @Nullable Exchange current;
  /** Whether bytes that were read are being handled. Until all are, responses are not flushed. */
  private boolean reading;
  /** Whether parts that waited are being taken. */
  private boolean taking;
  private boolean closesWhenIdle;
  /** The bytes for which a large head is counted as held; 0 for a small one. */
  private int headBytes;

  Http1CallerConnection(Channel channel, RequestDispatcher dispatcher, Duration headTimeout,
      AbusiveConnectionCounter endedConnections) {
    this.channel = channel;
    this.dispatcher = dispatcher;
    this.caller = Caller.of(channel);
    this.timer = new ResettableTimer(dispatcher.loop(), this::checkDeadlines);
    this.reader = new Http1RequestReader(channel, dispatcher.loop(),
        new ReadTurn(dispatcher.loop(), this::takeRest), dispatcher.held(), headTimeout, timer,
        endedConnections);
    this.writer = new Http1ResponseWriter(channel, dispatcher.loop());
    this.unread = dispatcher.unread().account(channel, this, headTimeout.toNanos());
  }

  // Requests.

  @Override
  public void channelActive(ChannelHandlerContext context) {
    reader.awaitHead();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    reading = true;
    var part = reader.read(message);
    if (part != null) {
      take(part);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    endReading();
    reader.readEnds();
    closeIfIdle();
  }

  private void endReading() {
    if (current != null) {
      current.flushUpstream();
    }
    reading = false;
    flush();
  }

  private void takeRest() {
    reading = true;
    takeNext();
    endReading();
    closeIfIdle();
  }

  /** Takes all parts that waited and may be taken now. */
  private void takeNext() {
    if (taking) {
      return;
    }
    taking = true;
    try {
      for (var part = reader.next(); part != null; part = reader.next()) {
        take(part);
      }
    } finally {
      taking = false;
    }
    if (current != null && !reading) {
      current.flushUpstream();
    }
    reader.nextRequest();
  }

  private void take(HttpObject part) {
    if (part instanceof HttpRequest request) {
      dispatch(request);
    } else if (part.decoderResult().isFailure()) {
      ReferenceCountUtil.release(part);
      malformedBody(part.decoderResult().cause());
    } else if (current != null) {
      current.content((HttpContent) part);
    } else {
      ReferenceCountUtil.release(part);
      takeNext();
    }
  }

  private void dispatch(HttpRequest request) {
    headBytes = dispatcher.holdLargeHead(request, Integer.MAX_VALUE);
    var version = Http1RequestDecoder.version(request);
    writer.requestBegins(request, version);
    dispatcher.dispatch(request, version, this);
  }

  private void malformedBody(Throwable cause) {
    if (current != null) {
      current.fail(RequestFailure.badRequest(
          MalformedRequestException.text(cause, "malformed chunk")));
    } else {
      close();
    }
  }

  // Responses.

  @Override
  public Caller caller() {
    return caller;
  }

  @Override
  public void begin(Exchange exchange) {
    current = exchange;
  }

  @Override
  public void checkAt(long dueNanos) {
    timer.at(dueNanos);
  }

  @Override
  public void interim(HttpResponse head) {
    if (head.status().equals(HttpResponseStatus.CONTINUE)) {
      reader.continues();
    }
    writer.interim(head);
  }

  @Override
  public void head(HttpResponse head) {
    endIfBodyIsNotRead();
    writer.head(head);
    if (writer.isTunnel()) {
      reader.leaveHttp();
      dispatcher.loop().execute(this::takeNext);
    }
  }

  private void endIfBodyIsNotRead() {
    if (reader.leavesBody()) {
      writer.endAfterResponse();
    }
  }

  @Override
  public void content(HttpContent content) {
    writer.content(content);
  }

  @Override
  public void answer(RequestFailure failure, ErrorFormat format) {
    if (failure.endsConnection()) {
      writer.endAfterResponse();
    }
    answer(failure.answer(format));
  }

  @Override
  public void answer(LocalResponse answer) {
    endIfBodyIsNotRead();
    writer.answer(answer);
  }

  @Override
  public void flush() {
    if (!reading && writer.flush()) {
      countUnread();
    }
  }

  @Override
  public boolean isWritable() {
    return channel.isWritable();
  }

  @Override
  public boolean hasUnsent() {
    return NettyTransport.unsentBytes(channel) > 0;
  }

  @Override
  public boolean hasRead(long nanos) {
    return hasUnsent() && NettyTransport.hasSent(channel, TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (current != null) {
      current.downstreamWritabilityChanged();
    }
  }

  @Override
  public void pauseReading() {
    reader.pauseBody();
  }

  @Override
  public void resumeReading() {
    reader.resumeBody();
  }

  @Override
  public void goAway() {
    writer.goAway();
  }

  @Override
  public void endOutput() {
    writer.endOutput();
  }

  @Override
  public void ended() {
    reader.resumeBody();
    if (!writer.isPersistent()) {
      close();
    }
    exchangeEnded();
    flush();
  }

  @Override
  public void abort() {
    if (writer.endsByClosing()) {
      reader.stop();
      writer.cut();
    } else {
      // Responses before this one are complete, and must reach the caller.
      close();
    }
    exchangeEnded();
  }

  private void exchangeEnded() {
    current = null;
    reader.exchangeEnded();
    releaseHead();
    if (reader.isStopped()) {
      reader.dropWaiting();
    } else {
      takeNext();
      closeIfIdle();
    }
  }

  private void releaseHead() {
    dispatcher.releaseHead(headBytes);
    headBytes = 0;
  }

  // Deadlines, and the memory of what is not read.

  private void checkDeadlines() {
    if (current != null) {
      long left = current.checkDeadlines();
      if (left != Long.MAX_VALUE) {
        timer.within(left);
      }
    } else if (unread.measure() > 0) {
      long left = unread.drainNanosLeft(0);
      if (left > 0) {
        timer.within(left);
      } else {
        log.debug("{} stopped reading its response, closing", caller.address());
        dispatcher.unread().countIdle();
        reset();
      }
    } else if (reader.isLate()) {
      close();
    }
  }

  @Override
  public void drainWithin(long nanos) {
    unread.drainWithin(nanos);
  }

  /** Counts the bytes that the socket has not taken. Usually the flush has sent them all. */
  private void countUnread() {
    if (NettyTransport.unsentBytes(channel) > 0 && unread.measure() > 0) {
      timer.within(Math.max(0, unread.drainNanosLeft(0)));
    }
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
    reader.stop();
    if (current != null) {
      current.endUnread();
    }
    NettyTransport.reset(channel);
  }

  // The end of the connection.

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ProxyServer.Drain.SOON) {
      writer.closeAfterNext();
    } else if (event == ProxyServer.Drain.NOW) {
      writer.closeAfterThis();
      closesWhenIdle = true;
      closeIfIdle();
    } else if (writer.endsInput(event)) {
      var part = reader.read(UpstreamConnection.END_OF_TUNNEL);
      if (part != null) {
        take(part);
      }
    }
  }

  /**
   * Closes the connection unless part of a request was read. The response to that request then says
   * that it is the last one.
   */
  private void closeIfIdle() {
    if (closesWhenIdle && current == null && !reader.holdsBytes()) {
      close();
    }
  }

  /** Closes after what was written, and reads on until then. */
  private void close() {
    if (!reader.isStopped()) {
      reader.drop();
      writer.close(reader.requestEnded());
      countUnread();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (cause instanceof IOException || cause.getCause() instanceof IOException) {
      // A caller's TLS errors are wrapped in another exception.
      log.debug("The connection to {} failed: {}", caller.address(), cause.toString());
    } else if (cause instanceof OutOfMemoryError || cause.getCause() instanceof OutOfMemoryError) {
      outOfMemory();
      return; // Closed once the 503 is on its way.
    } else {
      log.warn("Handling the connection to {} failed", caller.address(), cause);
    }
    writer.cut();
  }

  /** Answers 503, which needs no direct memory. */
  private void outOfMemory() {
    log.debug("No memory for the connection to {}", caller.address());
    writer.closeAfterThis();
    if (current != null && !reader.isStopped()) {
      current.fail(RequestFailure.memoryFull(1));
    }
    close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    for (var part = reader.last(); part != null; part = reader.last()) {
      take(part);
    }
    reader.stop();
    var gone = current;
    current = null;
    if (gone != null) {
      gone.callerGone();
    }
  }

  /** Called when the connection has ended, or switches to HTTP/2. */
  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    timer.cancel();
    releaseHead();
    unread.close();
    reader.close();
  }
}
