package dev.activator.embedded.runtime.sidecar;

import static io.netty.handler.codec.http.HttpVersion.HTTP_1_1;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;

/**
 * The answers a sidecar gives by itself.
 *
 * <p>
 * <b>Source.</b> Errors have the form Go's {@code http.Error} gives them.
 */
final class Answers {
  private Answers() {}

  static FullHttpResponse empty(int status) {
    return plain(status, "");
  }

  static FullHttpResponse plain(int status, String body) {
    var bytes = Unpooled.copiedBuffer(body, StandardCharsets.UTF_8);
    var answer = new DefaultFullHttpResponse(HTTP_1_1, HttpResponseStatus.valueOf(status), bytes);
    answer.headers().setInt("Content-Length", bytes.readableBytes());
    return answer;
  }

  static FullHttpResponse error(int status, String message) {
    var answer = plain(status, message + "\n");
    answer.headers().set("Content-Type", "text/plain; charset=utf-8");
    answer.headers().set("X-Content-Type-Options", "nosniff");
    return answer;
  }
}
