package dev.activator.proxy;

import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMessageDecoderResult;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Requests that came before their turn, in order. The first of them is a request's head. */
final class Ahead {
  private static final int WINDOW_BYTES = 64 << 10;
  /** What a head takes beyond its bytes, about. */
  private static final int HEAD_BYTES = 512;

  private final Queue<HttpObject> parts = new ArrayDeque<>(0);
  private int bytes;

  void add(HttpObject part) {
    parts.add(part);
    bytes += size(part);
  }

  boolean isEmpty() {
    return parts.isEmpty();
  }

  /** Whether no more should be read for now. */
  boolean isFull() {
    return bytes >= WINDOW_BYTES;
  }

  boolean startsWithRequest() {
    return parts.peek() instanceof HttpRequest;
  }

  @Nullable HttpObject poll() {
    var part = parts.poll();
    if (part != null) {
      bytes -= size(part);
    }
    return part;
  }

  void release() {
    for (var part = poll(); part != null; part = poll()) {
      ReferenceCountUtil.release(part);
    }
  }

  private static int size(HttpObject part) {
    if (part instanceof HttpContent content) {
      return content.content().readableBytes();
    }
    return part.decoderResult() instanceof HttpMessageDecoderResult read
        ? HEAD_BYTES + read.totalSize()
        : HEAD_BYTES;
  }
}
