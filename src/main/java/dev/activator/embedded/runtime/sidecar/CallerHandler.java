package dev.activator.embedded.runtime.sidecar;

import dev.activator.embedded.runtime.policy.ProbeVerdict;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.net.SocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The end of one caller's connection, or of one stream of it. Requests are served one after the
 * other; one that arrives early is held, and nothing behind it is read.
 */
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
final class CallerHandler extends ChannelInboundHandlerAdapter {
  private final Sidecar sidecar;
  private final boolean http2;
  private @Nullable Channel channel;
  private @Nullable Exchange exchange;
  private @Nullable HttpRequest early;

  private CallerHandler(Sidecar sidecar, boolean http2) {
    this.sidecar = sidecar;
    this.http2 = http2;
  }

  static CallerHandler ofHttp1(Sidecar sidecar) {
    return new CallerHandler(sidecar, false);
  }

  static CallerHandler ofHttp2(Sidecar sidecar) {
    return new CallerHandler(sidecar, true);
  }

  boolean http2() {
    return http2;
  }

  Channel channel() {
    return Objects.requireNonNull(channel, "not connected");
  }

  @Nullable SocketAddress peer() {
    var connection = http2 ? channel().parent() : channel();
    return connection.remoteAddress();
  }

  ChannelFuture write(Object message) {
    return channel().writeAndFlush(message);
  }

  void read() {
    channel().read();
  }

  /** Ends the connection, so that nobody takes for complete what is not. */
  void abort() {
    channel().close();
  }

  /** This exchange is over: the next request's turn. */
  void ended(Exchange over) {
    if (exchange == over) {
      exchange = null;
      var next = early;
      early = null;
      if (next != null) {
        begin(next);
      } else {
        read();
      }
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    channel = context.channel();
    if (channel.isActive()) {
      channel.read();
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    context.read();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!context.channel().isActive()) {
      ReferenceCountUtil.release(message);
    } else if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
      ReferenceCountUtil.release(message);
      refuse();
    } else if (message instanceof HttpRequest request && exchange == null) {
      begin(request);
    } else if (message instanceof HttpRequest request) {
      early = request;
    } else if (message instanceof HttpContent part && exchange != null) {
      exchange.body(part);
    } else {
      ReferenceCountUtil.release(message);
      context.read();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    ReferenceCountUtil.release(early);
    early = null;
    if (exchange != null) {
      exchange.callerGone();
      exchange = null;
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }

  private void refuse() {
    if (exchange == null) {
      write(Answers.error(400, "this is no HTTP request"));
    }
    abort();
  }

  private void begin(HttpRequest request) {
    var headers = request.headers();
    var next = new Exchange(sidecar, this, request);
    exchange = next;
    switch (ProbeVerdict.of(headers.get("User-Agent", ""), headers.get("K-Network-Probe", ""),
        headers.get("K-Network-Hash"), sidecar.draining())) {
      case ProbeVerdict.Traffic() -> next.forward();
      case ProbeVerdict.CheckProcess() -> check(next);
      case ProbeVerdict.Echo(var hash) -> next.answer(echo(hash));
      case ProbeVerdict.Refuse(var status, var message) ->
        next.answer(Answers.error(status, message));
    }
  }

  private void check(Exchange next) {
    next.waitForAnswer();
    sidecar.check().ask(
        ready -> next.answer(ready ? Answers.plain(200, "queue") : Answers.empty(503)));
  }

  private static FullHttpResponse echo(String hash) {
    var answer = Answers.empty(200);
    answer.headers().set("K-Network-Hash", hash);
    return answer;
  }
}
