package dev.activator.proxy;

import dev.activator.loop.Loop;
import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.http.Http1Encoder.ResponseEncoder;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.http.KnownHeader;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.HeaderRewriter.BodyEnd;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.UpgradeNegotiation;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.loop.NettyTransport;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Writes the responses of an HTTP/1 connection and decides which is the last.
 *
 * <p><b>Source.</b> RFC 9112, section 9.3.
 */
// A failure arrives as channelInactive.
@SuppressWarnings("FutureReturnValueIgnored")
final class Http1Downstream implements Downstream {
  /** How long a caller that may still send has to read the end of the last response, as in Go. */
  private static final Duration LINGER = Duration.ofMillis(500);
  /** Values of {@code SO_LINGER}. */
  private static final int RESET_ON_CLOSE = 0;
  private static final int NO_LINGER = -1;

  private final Http1CallerConnection connection;
  private final Channel channel;
  private final Loop loop;
  private final Http1RequestReader reader;
  private final Caller caller;
  private final ResponseEncoder encoder;
  private RequestVersion version = RequestVersion.HTTP_1_1;
  private HttpMethod method = HttpMethod.GET;
  private BodyEnd bodyEnd = BodyEnd.LENGTH;
  private @Nullable DownstreamTunnel tunnel;
  private boolean requestEnded = true;
  private boolean awaitsContinue;
  /** Whether the caller has said that it sends no more requests. */
  private boolean lastRequest;
  private boolean persistent = true;
  /** Whether the response's head is written and keeps the connection open. */
  private boolean keepsConnection;
  private boolean lastAfterNext;
  private boolean draining;
  private boolean closing;
  private boolean reading;
  private boolean unflushed;

  Http1Downstream(Http1CallerConnection connection, Channel channel, Loop loop,
      Http1RequestReader reader, Caller caller) {
    this.connection = connection;
    this.channel = channel;
    this.loop = loop;
    this.reader = reader;
    this.caller = caller;
    this.encoder = channel.pipeline().get(ResponseEncoder.class);
  }

  void requestBegins(HttpRequest request) {
    // More may follow a refused request and must be read before closing.
    requestEnded = request instanceof LastHttpContent && request.decoderResult().isSuccess();
    awaitsContinue = HttpUtil.is100ContinueExpected(request);
    version = Http1RequestDecoder.version(request);
    method = request.method();
    bodyEnd = BodyEnd.LENGTH;
    keepsConnection = false;
    encoder.answers(method);
    lastRequest = !HttpUtil.isKeepAlive(request);
    persistent = !lastRequest && !lastAfterNext;
  }

  void bodyCame(HttpContent part) {
    awaitsContinue = false;
    requestEnded = part instanceof LastHttpContent;
  }

  boolean requestEnded() {
    return requestEnded;
  }

  boolean closing() {
    return closing;
  }

  boolean isSwitched() {
    return tunnel != null;
  }

  RequestVersion version() {
    return version;
  }

  /** Delays flushes until all bytes of this read are handled. */
  void readBegins() {
    reading = true;
  }

  boolean isReading() {
    return reading;
  }

  void readEnds() {
    reading = false;
    flush();
  }

  void closeAfterNext() {
    lastAfterNext = true;
  }

  /**
   * Closes after this response. If its head is already written and keeps the connection open,
   * closes after the next one.
   */
  void closeAfterThis() {
    lastAfterNext = true;
    draining = true;
    persistent = keepsConnection;
    if (tunnel != null) {
      tunnel.drain();
    }
  }

  void gone() {
    closing = true;
  }

  @Override
  public Caller caller() {
    return caller;
  }

  @Override
  public void begin(Exchange exchange) {
    connection.begin(exchange);
  }

  @Override
  public void checkAt(long dueNanos) {
    connection.checkAt(dueNanos);
  }

  @Override
  public void interim(HttpResponse head) {
    unflushed = true;
    if (head.status().equals(HttpResponseStatus.CONTINUE)) {
      awaitsContinue = false;
    }
    if (version == RequestVersion.HTTP_1_1) {
      head.headers().remove(HttpHeaderNames.CONNECTION);
      write(head);
      write(LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  @Override
  public void head(HttpResponse head) {
    var fields = HeaderFieldList.in(head);
    if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      switched(head, fields);
      return;
    }
    closeIfBodyMayNotCome();
    int status = head.status().code();
    bodyEnd = HeaderRewriter.response(fields, version,
        method.equals(HttpMethod.HEAD) || status == 204 || status == 304);
    if (bodyEnd == BodyEnd.CLOSE) {
      persistent = false;
      // Until the body is complete, any close must be a reset, because a FIN would end the body.
      linger(RESET_ON_CLOSE);
    }
    writeHead(head);
  }

  private void switched(HttpResponse head, HeaderFieldList fields) {
    String protocol = fields.text(KnownHeader.UPGRADE);
    HeaderRewriter.response(fields, version, true);
    UpgradeNegotiation.put(fields, protocol);
    requestEnded = true;
    persistent = false;
    write(head);
    write(LastHttpContent.EMPTY_LAST_CONTENT);
    connection.leaveHttp();
    tunnel = new DownstreamTunnel(channel, loop, protocol.equalsIgnoreCase("websocket"));
    if (draining) {
      tunnel.drain();
    }
  }

  @Override
  public void content(HttpContent content) {
    if (tunnel == null) {
      if (bodyEnd == BodyEnd.CLOSE && content instanceof LastHttpContent) {
        linger(NO_LINGER);
      }
      write(content);
    } else {
      unflushed = true;
      tunnel.write(content.content());
    }
  }

  private void linger(int seconds) {
    // The option of a closed channel cannot be set.
    if (channel.isOpen()) {
      channel.config().setOption(ChannelOption.SO_LINGER, seconds);
    }
  }

  @Override
  public void answer(RequestFailure failure, ErrorFormat format) {
    if (failure.endsConnection()) {
      persistent = false;
    }
    answer(failure.answer(format));
  }

  @Override
  public void answer(LocalResponse answer) {
    closeIfBodyMayNotCome();
    // Allocated on the heap, because direct memory may be exhausted.
    var bytes = Unpooled.copiedBuffer(answer.body(), StandardCharsets.UTF_8);
    var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
        HttpResponseStatus.valueOf(answer.status()), bytes);
    answer.headers().forEach(response.headers()::set);
    if (answer.hasLength()) {
      response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, bytes.readableBytes());
    }
    writeHead(response);
  }

  /**
   * Closes if the caller waits for a 100. It may or may not send the body, so the next bytes would
   * be ambiguous.
   */
  private void closeIfBodyMayNotCome() {
    if (awaitsContinue && !requestEnded) {
      persistent = false;
    }
  }

  private void writeHead(HttpResponse head) {
    keepsConnection = persistent;
    if (version == RequestVersion.HTTP_1_0) {
      head.setProtocolVersion(HttpVersion.HTTP_1_0);
      if (persistent) {
        head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
      }
    } else {
      head.setProtocolVersion(HttpVersion.HTTP_1_1);
    }
    if (!persistent) {
      head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
    write(head);
  }

  private void write(Object part) {
    unflushed = true;
    channel.write(part, channel.voidPromise());
  }

  @Override
  public void flush() {
    if (unflushed && !reading) {
      unflushed = false;
      channel.flush();
      connection.flushed();
    }
  }

  @Override
  public boolean isWritable() {
    return channel.isWritable();
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
    if (tunnel != null) {
      tunnel.drain();
    }
  }

  @Override
  public void drainWithin(long nanos) {
    connection.drainWithin(nanos);
  }

  @Override
  public void ended() {
    reader.resumeBody();
    if (!persistent) {
      close();
    }
    connection.ended();
    flush();
  }

  @Override
  public void abort() {
    if (bodyEnd == BodyEnd.CLOSE) {
      closing = true;
      cut();
    } else {
      // Responses before this one are complete, and must reach the caller.
      close();
    }
    connection.ended();
  }

  void cut() {
    if (bodyEnd == BodyEnd.CLOSE) {
      // An orderly close, or close_notify of TLS, would complete the body.
      NettyTransport.reset(channel);
    } else {
      channel.flush();
      channel.close();
    }
  }

  /** Closes after what was written. */
  void close() {
    if (closing) {
      return;
    }
    closing = true;
    reader.readToDrop();
    var written = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
    connection.flushed();
    if (requestEnded && lastRequest && tunnel == null) {
      written.addListener(ChannelFutureListener.CLOSE);
    } else {
      // A closed socket answers further bytes with a reset, and the response may be lost.
      written.addListener(_ -> {
        NettyTransport.endOutput(channel);
        loop.schedule(LINGER, channel::close);
      });
    }
  }
}
