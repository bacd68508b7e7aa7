package dev.activator.upstream;

import dev.activator.http.MessageEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import java.nio.charset.StandardCharsets;

/** Writes requests to a pod in HTTP/1.1. */
public final class RequestEncoder extends MessageEncoder {
  private static final byte[] LINE_END = " HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII);

  @Override
  protected void startLine(ByteBuf out, HttpMessage head) {
    var request = (HttpRequest) head;
    ByteBufUtil.copy(request.method().asciiName(), out);
    out.writeByte(HttpConstants.SP);
    text(out, request.uri());
    out.writeBytes(LINE_END);
  }

  @Override
  protected boolean isBodyless(HttpMessage head) {
    return false;
  }
}
