package dev.activator.proxy;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.Http1Encoder.ResponseEncoder;
import dev.activator.http.KnownHeader;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyTransport;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.HeaderRewriter.BodyEnd;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.proxy.policy.UpgradeNegotiation;
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
final class Http1ResponseWriter {
  /** How long a caller that may still send has to read the end of the last response, as in Go. */
  private static final Duration LINGER = Duration.ofMillis(500);
  /** Values of {@code SO_LINGER}. */
  private static final int RESET_ON_CLOSE = 0;
  private static final int NO_LINGER = -1;

  private final Channel channel;
  private final Loop loop;
  private final ResponseEncoder encoder;
  private RequestVersion version = RequestVersion.HTTP_1_1;
  private HttpMethod method = HttpMethod.GET;
  private BodyEnd bodyEnd = BodyEnd.LENGTH;
  private @Nullable DownstreamTunnel tunnel;
  /** Whether the caller has said that it sends no more requests. */
  private boolean lastRequest;
  private boolean persistent = true;
  private boolean keepsConnection;
  private boolean lastAfterNext;
  private boolean draining;
  private boolean unflushed;

  Http1ResponseWriter(Channel channel, Loop loop) {
    this.channel = channel;
    this.loop = loop;
    this.encoder = channel.pipeline().get(ResponseEncoder.class);
  }

  void requestBegins(HttpRequest request, RequestVersion ofRequest) {
    version = ofRequest;
    method = request.method();
    bodyEnd = BodyEnd.LENGTH;
    keepsConnection = false;
    encoder.answers(method);
    lastRequest = !HttpUtil.isKeepAlive(request);
    persistent = !lastRequest && !lastAfterNext;
  }

  boolean isPersistent() {
    return persistent;
  }

  /** Whether the end of the connection ends the body of the response. */
  boolean endsByClosing() {
    return bodyEnd == BodyEnd.CLOSE;
  }

  boolean isTunnel() {
    return tunnel != null;
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
    goAway();
  }

  void endAfterResponse() {
    persistent = false;
  }

  void interim(HttpResponse head) {
    unflushed = true;
    if (version == RequestVersion.HTTP_1_1) {
      write(head);
      write(LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  /** After a 101, {@link #content} writes bytes of the other protocol. */
  void head(HttpResponse head) {
    var fields = HeaderFieldList.in(head);
    if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      switchProtocols(head, fields);
      return;
    }
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

  private void switchProtocols(HttpResponse head, HeaderFieldList fields) {
    String protocol = fields.text(KnownHeader.UPGRADE);
    HeaderRewriter.interim(fields);
    UpgradeNegotiation.put(fields, protocol);
    persistent = false;
    write(head);
    write(LastHttpContent.EMPTY_LAST_CONTENT);
    channel.pipeline().remove(encoder);
    tunnel = new DownstreamTunnel(channel, loop, protocol.equalsIgnoreCase("websocket"));
    if (draining) {
      tunnel.drain();
    }
  }

  void content(HttpContent content) {
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

  void answer(LocalResponse answer) {
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

  boolean flush() {
    if (!unflushed) {
      return false;
    }
    unflushed = false;
    channel.flush();
    return true;
  }

  void goAway() {
    if (tunnel != null) {
      tunnel.drain();
    }
  }

  boolean endsInput(Object event) {
    return tunnel != null && tunnel.endsInput(event);
  }

  void endOutput() {
    if (tunnel != null) {
      tunnel.endOutput();
    }
  }

  /** Closes at once. A response that is not complete does not seem so. */
  void cut() {
    if (endsByClosing()) {
      // An orderly close, or close_notify of TLS, would complete the body.
      NettyTransport.reset(channel);
    } else {
      channel.flush();
      channel.close();
    }
  }

  /**
   * Closes after what was written.
   *
   * @param requestEnded whether the current request was read to its end
   */
  void close(boolean requestEnded) {
    var written = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
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
