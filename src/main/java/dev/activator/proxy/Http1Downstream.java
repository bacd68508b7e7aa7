package dev.activator.proxy;

import dev.activator.proxy.ReadGate.Reason;
import dev.activator.proxy.policy.Answer;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.RequestHeaders;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's HTTP/1 connection: one exchange after another. Requests that come before their turn
 * wait, and past a small window are not read.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Errors.</b> The end of what the caller sends counts as the caller being gone, while it waits for
 * a response too, as in Go's server.
 */
final class Http1Downstream extends ChannelInboundHandlerAdapter implements Downstream {
  private static final Logger log = LoggerFactory.getLogger(Http1Downstream.class);
  /** So much of a body nobody wants is read, so that the connection can go on. */
  private static final int MAX_DISCARDED_BYTES = 256 << 10;
  /** So long a caller that still sends has to read the last response. */
  private static final Duration LINGER = Duration.ofMillis(500);

  /** Told to a connection that should end once it is idle. */
  enum Drain {
    NOW
  }

  private final Channel channel;
  private final Worker worker;
  private final Router router;
  private final Admitter admitter;
  private final Responder responder;
  private final ReadGate gate;
  private final HeadClock headClock;
  private final DeadlineTimer timer;
  private final Ahead ahead = new Ahead();
  private final String peer;
  private @Nullable Exchange current;
  private boolean reading;
  private boolean takingAhead;
  private boolean requestEnded = true;
  private boolean expecting;
  private boolean closing;
  private boolean draining;
  private boolean unflushed;
  private int discardedBytes;

  Http1Downstream(Channel channel, Worker worker, Router router, Admitter admitter,
      Duration headTimeout) {
    this.channel = channel;
    this.worker = worker;
    this.router = router;
    this.admitter = admitter;
    this.responder = new Responder(channel);
    this.gate = new ReadGate(channel.config());
    this.headClock = new HeadClock(worker.loop(), headTimeout);
    this.timer = new DeadlineTimer(worker.loop(), this::checkDeadline);
    this.peer = channel.remoteAddress() instanceof InetSocketAddress address
        ? address.getAddress().getHostAddress()
        : "";
  }

  // What the caller sends.

  @Override
  public void channelActive(ChannelHandlerContext context) {
    headClock.begin();
    timer.within(headClock.nanosLeft());
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    reading = true;
    headClock.sawMessage();
    var part = (HttpObject) message;
    if (closing) {
      ReferenceCountUtil.release(part);
    } else if (ahead.isEmpty() && !(current != null && part instanceof HttpRequest)) {
      take(part);
    } else {
      ahead.add(part);
      if (ahead.isFull()) {
        gate.shut(Reason.AHEAD);
      }
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    reading = false;
    if (current != null) {
      current.flushUpstream();
    }
    flush();
    if (headClock.readComplete(current == null && requestEnded)) {
      timer.within(headClock.nanosLeft());
    }
  }

  private void take(HttpObject part) {
    if (part instanceof HttpRequest request) {
      begin(request);
    } else {
      content((HttpContent) part, part.decoderResult().isFailure());
    }
  }

  private void begin(HttpRequest request) {
    // A refused request may have more behind it, which must be read before the end.
    requestEnded = request instanceof LastHttpContent && request.decoderResult().isSuccess();
    expecting = HttpUtil.is100ContinueExpected(request);
    discardedBytes = 0;
    responder.begin(request);
    if (draining) {
      responder.closeAfter();
    }
    switch (router.route(request)) {
      case Route.Here(var answer) -> respond(answer);
      case Route.Refused(var failure) -> {
        answer(failure);
        ended();
      }
      case Route.To to -> exchange(to, request);
    }
  }

  private void respond(Answer answer) {
    closeIfBodyMayNotCome();
    unflushed = true;
    responder.answer(answer);
    ended();
  }

  private void exchange(Route.To to, HttpRequest request) {
    request.setUri(to.path());
    RequestHeaders.rewrite(new NettyFields(request.headers()), responder.version(), to.host(),
        peer);
    var exchange = new Exchange(worker, this, to, request);
    current = exchange;
    timer.within(exchange.nanosLeft());
    exchange.start(admitter);
  }

  private void content(HttpContent part, boolean malformed) {
    if (malformed) {
      part.release();
      malformedBody();
      return;
    }
    expecting = false;
    requestEnded = part instanceof LastHttpContent;
    if (current != null) {
      current.content(part);
    } else {
      discard(part);
    }
  }

  private void malformedBody() {
    responder.closeAfter();
    if (current != null) {
      current.fail(new Failure.BadRequest("malformed chunk"));
    } else {
      close();
    }
  }

  private void discard(HttpContent part) {
    discardedBytes += part.content().readableBytes();
    part.release();
    if (discardedBytes > MAX_DISCARDED_BYTES) {
      close();
    } else {
      takeAhead();
    }
  }

  private void takeAhead() {
    if (takingAhead) {
      return;
    }
    takingAhead = true;
    while (!closing && !ahead.isEmpty() && !(current != null && ahead.startsWithRequest())) {
      var part = ahead.poll();
      if (part != null) {
        take(part);
      }
    }
    takingAhead = false;
    if (!ahead.isFull()) {
      gate.open(Reason.AHEAD);
    }
    if (current != null && !reading) {
      current.flushUpstream();
    }
  }

  // What the exchange says.

  @Override
  public void interim(HttpResponse head) {
    if (head.status().equals(HttpResponseStatus.CONTINUE)) {
      expecting = false;
    }
    unflushed = true;
    responder.interim(head);
  }

  @Override
  public void head(HttpResponse head) {
    closeIfBodyMayNotCome();
    unflushed = true;
    responder.head(head);
  }

  @Override
  public void content(HttpContent content) {
    unflushed = true;
    responder.content(content);
  }

  @Override
  public void answer(Failure failure) {
    if (failure.endsConnection()) {
      responder.closeAfter();
    }
    closeIfBodyMayNotCome();
    unflushed = true;
    responder.answer(failure.answer());
  }

  /** A caller that was not told to go on may send its body or not: what comes next is not certain. */
  private void closeIfBodyMayNotCome() {
    if (expecting && !requestEnded) {
      responder.closeAfter();
    }
  }

  @Override
  public void ended() {
    current = null;
    gate.open(Reason.BODY);
    if (!responder.persistent()) {
      close();
    } else if (requestEnded) {
      takeAhead();
    }
    flush();
  }

  @Override
  public void abort() {
    current = null;
    closing = true;
    if (responder.endsByClosing()) {
      // An orderly end would be the end of the body; a reset is none.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    } else {
      channel.flush();
    }
    channel.close();
  }

  @Override
  public void flush() {
    if (unflushed && !reading) {
      unflushed = false;
      channel.flush();
    }
  }

  @Override
  public boolean isWritable() {
    return channel.isWritable();
  }

  @Override
  public void pauseReading() {
    gate.shut(Reason.BODY);
  }

  @Override
  public void resumeReading() {
    gate.open(Reason.BODY);
  }

  // How it ends.

  /** Ends the connection after what was written. */
  private void close() {
    if (closing) {
      return;
    }
    closing = true;
    ahead.release();
    gate.open(Reason.AHEAD);
    gate.open(Reason.BODY);
    var written = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
    if (requestEnded) {
      written.addListener(ChannelFutureListener.CLOSE);
    } else {
      // Closing a socket with unread bytes resets it, and the caller may lose the response.
      written.addListener(_ -> ((DuplexChannel) channel).shutdownOutput());
      worker.loop().schedule(LINGER, channel::close);
    }
  }

  private void checkDeadline() {
    if (current != null) {
      long left = current.nanosLeft();
      if (left > 0) {
        timer.within(left);
      } else {
        current.timedOut();
      }
    } else if (headClock.runs()) {
      long left = headClock.nanosLeft();
      if (left > 0) {
        timer.within(left);
      } else {
        channel.close();
      }
    }
  }

  /** The response to the request under way, or else to the next one, is the last. */
  void closeAfterThis() {
    draining = true;
    responder.closeAfter();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == Drain.NOW) {
      closeAfterThis();
      if (current == null && requestEnded && !headClock.begun()) {
        close();
      }
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
    if (cause instanceof IOException) {
      log.debug("The connection to {} failed: {}", peer, cause.toString());
    } else {
      log.warn("Handling the connection to {} failed", peer, cause);
    }
    context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    closing = true;
    timer.cancel();
    ahead.release();
    var gone = current;
    current = null;
    if (gone != null) {
      gone.clientGone();
    }
  }
}
