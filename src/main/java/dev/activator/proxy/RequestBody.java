package dev.activator.proxy;

import io.netty.handler.codec.http.HttpContent;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** What was read of a request's body and not passed on. */
final class RequestBody {
  /** So much is read while nobody takes it. */
  private static final int WINDOW_BYTES = 64 << 10;

  private final Queue<HttpContent> parts = new ArrayDeque<>(2);
  private int bytes;

  void add(HttpContent part) {
    parts.add(part);
    bytes += part.content().readableBytes();
  }

  /** The next part, which is the caller's now; null if there is none. */
  @Nullable HttpContent poll() {
    var part = parts.poll();
    if (part != null) {
      bytes -= part.content().readableBytes();
    }
    return part;
  }

  boolean isEmpty() {
    return parts.isEmpty();
  }

  /** Whether no more should be read for now. */
  boolean isFull() {
    return bytes >= WINDOW_BYTES;
  }

  void release() {
    for (var part = poll(); part != null; part = poll()) {
      part.release();
    }
  }
}
