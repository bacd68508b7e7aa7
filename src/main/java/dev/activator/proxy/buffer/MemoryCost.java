package dev.activator.proxy.buffer;

import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessageDecoderResult;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/** Estimates how many bytes of memory the parts of a request take, objects included. */
public final class MemoryCost {
  /** Of a part of a body, beyond its bytes. */
  static final int PART_BYTES = 128;
  /** Of a head, beyond its bytes. */
  private static final int HEAD_BYTES = 512;
  /** Of a field, beyond its bytes: an entry and two strings. */
  private static final int FIELD_BYTES = 100;

  private MemoryCost() {}

  /** The cost of a head, or of a part of a body with its trailers. */
  public static int of(HttpObject part) {
    var content = contentOf(part);
    if (content == null) {
      return ofHead(part);
    }
    int bytes = PART_BYTES + content.content().readableBytes();
    return content instanceof LastHttpContent last && !last.trailingHeaders().isEmpty()
        ? bytes + ofFields(last.trailingHeaders())
        : bytes;
  }

  private static int ofHead(HttpObject head) {
    if (!(head instanceof HttpRequest request)) {
      return HEAD_BYTES;
    }
    return head.decoderResult() instanceof HttpMessageDecoderResult read
        ? HEAD_BYTES + read.totalSize() + FIELD_BYTES * request.headers().size()
        : HEAD_BYTES + request.uri().length() + ofFields(request.headers());
  }

  /** The cost of fields whose bytes the decoder has not counted. */
  static int ofFields(HttpHeaders all) {
    int bytes = 0;
    var fields = all.iteratorCharSequence();
    while (fields.hasNext()) {
      var field = fields.next();
      bytes += FIELD_BYTES + field.getKey().length() + field.getValue().length();
    }
    return bytes;
  }

  /** The part as one of a body; null if it is a head: a refused request has its body in it. */
  static @Nullable HttpContent contentOf(HttpObject part) {
    return part instanceof HttpContent content && !(part instanceof HttpRequest) ? content : null;
  }
}
