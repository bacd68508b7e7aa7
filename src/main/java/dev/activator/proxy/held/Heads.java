package dev.activator.proxy.held;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessageDecoderResult;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;

/** What a request's head takes in memory, about; and what trailers do. */
public final class Heads {
  /** Beyond its bytes. */
  private static final int OBJECT_BYTES = 512;
  /** What a field takes beyond its bytes: an entry and two texts. */
  private static final int FIELD_BYTES = 100;

  private Heads() {}

  public static int size(HttpObject head) {
    if (!(head instanceof HttpRequest request)) {
      return OBJECT_BYTES;
    }
    return head.decoderResult() instanceof HttpMessageDecoderResult read
        ? OBJECT_BYTES + read.totalSize() + FIELD_BYTES * request.headers().size()
        : OBJECT_BYTES + request.uri().length() + fields(request.headers());
  }

  /** What fields take whose bytes nobody has counted. */
  static int fields(HttpHeaders all) {
    int bytes = 0;
    var fields = all.iteratorCharSequence();
    while (fields.hasNext()) {
      var field = fields.next();
      bytes += FIELD_BYTES + field.getKey().length() + field.getValue().length();
    }
    return bytes;
  }
}
