package dev.activator.proxy.codec;

import dev.activator.http.MessageEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;

/** Writes responses. */
public final class ResponseEncoder extends MessageEncoder {
  private static final AsciiString HTTP_1_1 = AsciiString.cached("HTTP/1.1 ");
  private static final AsciiString HTTP_1_0 = AsciiString.cached("HTTP/1.0 ");
  private static final int SWITCHING_PROTOCOLS = 101;
  private static final int NO_CONTENT = 204;
  private static final int RESET_CONTENT = 205;
  private static final int NOT_MODIFIED = 304;

  private HttpMethod answered = HttpMethod.GET;

  /** Sets the method that the next response answers: the answer to a HEAD has no body. */
  public void answers(HttpMethod method) {
    answered = method;
  }

  @Override
  protected void startLine(ByteBuf out, HttpMessage head) {
    var status = ((HttpResponse) head).status();
    ByteBufUtil.copy(head.protocolVersion().equals(HttpVersion.HTTP_1_0) ? HTTP_1_0 : HTTP_1_1,
        out);
    ByteBufUtil.copy(status.codeAsText(), out);
    out.writeByte(' ');
    text(out, status.reasonPhrase());
    out.writeByte('\r').writeByte('\n');
  }

  /** As RFC 9110 says in sections 8.6 and 15.3.6, and RFC 9112 in section 6.1. */
  @Override
  protected boolean isBodyless(HttpMessage head) {
    var status = ((HttpResponse) head).status();
    boolean interim = status.codeClass() == HttpStatusClass.INFORMATIONAL;
    if (interim && status.code() != SWITCHING_PROTOCOLS || status.code() == NO_CONTENT) {
      head.headers().remove(HttpHeaderNames.CONTENT_LENGTH)
          .remove(HttpHeaderNames.TRANSFER_ENCODING);
    } else if (status.code() == RESET_CONTENT) {
      head.headers().remove(HttpHeaderNames.TRANSFER_ENCODING)
          .setInt(HttpHeaderNames.CONTENT_LENGTH, 0);
    }
    return interim || status.code() == NO_CONTENT || status.code() == RESET_CONTENT
        || status.code() == NOT_MODIFIED || answered.equals(HttpMethod.HEAD);
  }
}
