package dev.activator.proxy.connection;

import dev.activator.loop.DeadlineTimer;
import dev.activator.proxy.codec.Malformed;
import dev.activator.proxy.codec.RequestDecoder;
import dev.activator.proxy.codec.ResponseEncoder;
import dev.activator.proxy.exchange.Caller;
import dev.activator.proxy.exchange.Entrance;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.policy.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Supplier;
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
 * a response too, as in Go's server. With native transport it is noticed while the connection is not
 * read as well; but an end that waits behind bytes the kernel has no room for is not.
 */
public final class Http1Connection extends ChannelInboundHandlerAdapter implements Ahead.Taker {
  private static final Logger log = LoggerFactory.getLogger(Http1Connection.class);
  /** So much of a body nobody wants is read, so that the connection can go on. */
  private static final int MAX_DISCARDED_BYTES = 256 << 10;

  private final Channel channel;
  private final Entrance entrance;
  private final Http1Downstream downstream;
  private final HeadClock headClock;
  private final DeadlineTimer timer;
  private final Ahead ahead;
  private final Caller caller;
  private final Supplier<Http2Session> toHttp2;
  private @Nullable H2cUpgrade upgrade;
  private @Nullable Exchange current;
  private int discardedBytes;

  public Http1Connection(Channel channel, Entrance entrance, Duration headTimeout,
      Supplier<Http2Session> toHttp2) {
    var worker = entrance.worker();
    this.entrance = entrance;
    this.toHttp2 = toHttp2;
    this.downstream = new Http1Downstream(channel, worker.loop(), this::ended, this::switched);
    this.ahead = new Ahead(worker.held(), downstream.gate(), this);
    this.channel = channel;
    this.headClock = new HeadClock(worker.loop(), headTimeout);
    this.timer = new DeadlineTimer(worker.loop(), this::checkDeadline);
    this.caller = Caller.of(channel);
  }

  /** The next response is the last. */
  public void closeAfterThis() {
    downstream.closeAfterThis();
  }

  /** The response to the next request is the last. */
  public void closeAfterNext() {
    downstream.closeAfterNext();
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    headClock.begin();
    timer.within(headClock.nanosLeft());
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    downstream.readBegins();
    if (message instanceof ByteBuf bytes) {
      upgradedRead(bytes);
    } else {
      read((HttpObject) message);
    }
  }

  private void read(HttpObject part) {
    headClock.sawMessage();
    ahead.read(part);
  }

  @Override
  public boolean closing() {
    return downstream.closing();
  }

  @Override
  public boolean mayTake(HttpObject part) {
    return !(current != null && part instanceof HttpRequest);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (current != null) {
      current.flushUpstream();
    }
    downstream.readEnds();
    if (headClock.readComplete(idle())) {
      timer.within(headClock.nanosLeft());
    }
  }

  private boolean idle() {
    return current == null && downstream.requestEnded();
  }

  @Override
  public void take(HttpObject part) {
    if (part instanceof HttpRequest request) {
      begin(request);
    } else if (part.decoderResult().isFailure()) {
      ReferenceCountUtil.release(part);
      malformedBody(part.decoderResult().cause());
    } else {
      content((HttpContent) part);
    }
  }

  private void begin(HttpRequest request) {
    discardedBytes = 0;
    downstream.begin(request);
    upgrade = ahead.isTaking() ? null : H2cUpgrade.of(request);
    if (upgrade == null) {
      enter(request);
    }
  }

  private void enter(HttpRequest request) {
    var exchange = entrance.take(request, downstream.version(), caller, downstream);
    if (exchange != null) {
      current = exchange;
      timer.within(exchange.nanosLeft());
      entrance.start(exchange);
    }
  }

  private void content(HttpContent part) {
    downstream.bodyCame(part);
    if (upgrade != null) {
      part.release();
      goOnInHttp2(upgrade);
    } else if (current != null) {
      current.content(part);
    } else {
      discard(part);
    }
  }

  /** The whole request has come: all that follows is HTTP/2, as is the response. */
  private void goOnInHttp2(H2cUpgrade to) {
    downstream.agree(H2cUpgrade.agreement());
    try {
      toHttp2.get().upgraded(to.request(), to.settings());
    } catch (Http2Exception malformed) {
      log.debug("The HTTP/2 of {} cannot begin: {}", caller.address(), malformed.getMessage());
      downstream.close();
    }
  }

  /** HTTP ends here: the codecs leave, and what was read ahead are bytes of what follows. */
  private void switched() {
    // Nobody may talk before the pod has agreed; who did has talked HTTP.
    ahead.release();
    channel.pipeline().remove(ResponseEncoder.class);
    channel.pipeline().remove(RequestDecoder.class);
  }

  private void upgradedRead(ByteBuf bytes) {
    if (current == null) {
      bytes.release();
    } else {
      current.content(new DefaultHttpContent(bytes));
    }
  }

  private void malformedBody(Throwable cause) {
    if (current != null) {
      current.fail(new Failure.BadRequest(Malformed.text(cause, "malformed chunk")));
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
      takeAhead();
    }
  }

  /** An exchange is over, and so may be the connection. */
  private void ended() {
    current = null;
    if (closing()) {
      ahead.release();
    } else {
      takeAhead();
    }
  }

  private void takeAhead() {
    if (ahead.takeAll() && current != null && !downstream.isReading()) {
      current.flushUpstream();
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
        log.debug("No request from {} in time", caller.address());
        downstream.close();
      }
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == Drain.SOON) {
      downstream.closeAfterNext();
    } else if (event == Drain.NOW) {
      downstream.closeAfterThis();
      if (current == null && !headClock.begun()) {
        downstream.close();
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
  @SuppressWarnings("FutureReturnValueIgnored") // The end comes back as channelInactive.
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (cause instanceof IOException || cause.getCause() instanceof IOException) {
      // Of the second kind is what is wrong with a caller's TLS.
      log.debug("The connection to {} failed: {}", caller.address(), cause.toString());
    } else {
      log.warn("Handling the connection to {} failed", caller.address(), cause);
    }
    context.close();
  }

  /** The connection goes on in another protocol. */
  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    timer.cancel();
    ahead.release();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    downstream.gone();
    var gone = current;
    current = null;
    if (gone != null) {
      gone.clientGone();
    }
  }
}
