package dev.activator.upstream.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestEncoder;
import java.nio.charset.StandardCharsets;

/** Writes the target byte for byte as it came; Netty's encoder would use UTF-8. */
public final class RequestEncoder extends HttpRequestEncoder {
  private static final byte[] LINE_END = " HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII);

  @Override
  protected void encodeInitialLine(ByteBuf out, HttpRequest request) {
    ByteBufUtil.copy(request.method().asciiName(), out);
    out.writeByte(HttpConstants.SP);
    out.writeCharSequence(request.uri(), StandardCharsets.ISO_8859_1);
    out.writeBytes(LINE_END);
  }
}
