package dev.activator.proxy;

import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Requests that came before their turn, in order. The first of them is a request's head. */
final class Ahead {
  private final Queue<HttpObject> parts = new ArrayDeque<>(0);
  private final HeldBytes.Share held;
  private int bytes;

  Ahead(HeldBytes.Share held) {
    this.held = held;
  }

  void add(HttpObject part) {
    parts.add(part);
    count(size(part));
  }

  boolean isEmpty() {
    return parts.isEmpty();
  }

  /** Whether no more should be read for now. */
  boolean isFull() {
    return bytes >= held.windowWhileForwarding();
  }

  boolean startsWithRequest() {
    return parts.peek() instanceof HttpRequest;
  }

  @Nullable HttpObject poll() {
    var part = parts.poll();
    if (part != null) {
      count(-size(part));
    }
    return part;
  }

  void release() {
    for (var part = poll(); part != null; part = poll()) {
      ReferenceCountUtil.release(part);
    }
  }

  private void count(int more) {
    bytes += more;
    held.add(more);
  }

  private static int size(HttpObject part) {
    return part instanceof HttpContent content
        ? content.content().readableBytes()
        : Heads.size(part);
  }
}
