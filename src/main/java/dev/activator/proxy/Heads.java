package dev.activator.proxy;

import io.netty.handler.codec.http.HttpMessageDecoderResult;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;

/** What a request's head takes in memory, about. */
final class Heads {
  /** Beyond its bytes. */
  private static final int OBJECT_BYTES = 512;
  /** What RFC 9113, section 6.5.2, counts for a field beyond its bytes. */
  private static final int FIELD_BYTES = 32;

  private Heads() {}

  static int size(HttpObject head) {
    if (head.decoderResult() instanceof HttpMessageDecoderResult read) {
      return OBJECT_BYTES + read.totalSize();
    }
    return OBJECT_BYTES + (head instanceof HttpRequest request ? fields(request) : 0);
  }

  /** What the fields of a head take that was not read from a connection of HTTP/1. */
  private static int fields(HttpRequest request) {
    int bytes = request.uri().length();
    var fields = request.headers().iteratorCharSequence();
    while (fields.hasNext()) {
      var field = fields.next();
      bytes += FIELD_BYTES + field.getKey().length() + field.getValue().length();
    }
    return bytes;
  }
}
