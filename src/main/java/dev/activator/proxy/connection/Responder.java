package dev.activator.proxy.connection;

import dev.activator.proxy.codec.NettyFields;
import dev.activator.proxy.codec.ResponseEncoder;
import dev.activator.proxy.policy.Answer;
import dev.activator.proxy.policy.field.Field;
import dev.activator.proxy.policy.field.ResponseHeaders;
import dev.activator.proxy.policy.field.ResponseHeaders.End;
import dev.activator.proxy.policy.field.Upgrade;
import dev.activator.proxy.policy.field.Version;
import dev.activator.proxy.route.Router;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
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

/**
 * Writes responses on an HTTP/1 connection, one after another, and knows whether it goes on after
 * each.
 *
 * <p>
 * <b>Source.</b> RFC 9112, section 9.3.
 */
final class Responder {
  private final Channel channel;
  private final ResponseEncoder encoder;
  private Version version = Version.HTTP_1_1;
  private HttpMethod method = HttpMethod.GET;
  private boolean persistent = true;
  private End end = End.LENGTH;

  Responder(Channel channel) {
    this.channel = channel;
    this.encoder = channel.pipeline().get(ResponseEncoder.class);
  }

  /** From now on responses are to this request. */
  void begin(HttpRequest request) {
    version = Router.version(request);
    method = request.method();
    persistent = HttpUtil.isKeepAlive(request);
    end = End.LENGTH;
    encoder.answering(method);
  }

  Version version() {
    return version;
  }

  /** The connection ends with this response; the caller hears it if it has not begun. */
  void closeAfter() {
    persistent = false;
  }

  /** Whether another request may follow. */
  boolean persistent() {
    return persistent;
  }

  /** Whether the connection's end is the body's, so that a broken one would look whole. */
  boolean endsByClosing() {
    return end == End.CLOSE;
  }

  void interim(HttpResponse head) {
    if (version == Version.HTTP_1_1) {
      if (!head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
        head.headers().remove(HttpHeaderNames.CONNECTION);
      }
      write(head);
      write(LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  void head(HttpResponse head) {
    end = ResponseHeaders.rewrite(new NettyFields(head.headers()), version, bodyless(head));
    if (end == End.CLOSE) {
      persistent = false;
    }
    writeHead(head);
  }

  /** Writes a 101, and with it the last of HTTP; whether a WebSocket follows. */
  boolean switched(HttpResponse head) {
    var fields = new NettyFields(head.headers());
    String protocol = fields.text(Field.UPGRADE);
    ResponseHeaders.rewrite(fields, version, true);
    Upgrade.put(fields, protocol);
    persistent = false;
    write(head);
    write(LastHttpContent.EMPTY_LAST_CONTENT);
    return protocol.equalsIgnoreCase("websocket");
  }

  void content(HttpContent content) {
    write(content);
  }

  void answer(Answer answer) {
    var bytes = ByteBufUtil.writeUtf8(channel.alloc(), answer.body());
    var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
        HttpResponseStatus.valueOf(answer.status()), bytes);
    answer.headers().forEach(response.headers()::set);
    response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, bytes.readableBytes());
    writeHead(response);
  }

  private void writeHead(HttpResponse head) {
    if (version == Version.HTTP_1_0) {
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

  private boolean bodyless(HttpResponse head) {
    int status = head.status().code();
    return method.equals(HttpMethod.HEAD) || status == 204 || status == 304;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // A write that fails ends the connection.
  private void write(Object part) {
    channel.write(part, channel.voidPromise());
  }
}
