package dev.activator.proxy;

import io.netty.handler.codec.http.HttpContent;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What was sent of a request's body, kept while the pod may still say that it has not looked at it.
 * Only HTTP/2 has pods say so.
 *
 * <p>
 * <b>Threads.</b> Only the event loop whose share of the held bytes it counts in may call.
 *
 * <p>
 * <b>Source.</b> RFC 9113, section 8.7.
 */
final class SentBody {
  /** A longer body is not kept: a pod that was sent so much has looked. */
  private static final int MOST_BYTES = 64 << 10;

  private final HeldBytes.Share held;
  private final Deque<HttpContent> parts = new ArrayDeque<>(2);
  private int bytes;
  private boolean whole = true;

  SentBody(HeldBytes.Share held) {
    this.held = held;
  }

  /** A part that is about to be sent. */
  void add(HttpContent part) {
    int more = part.content().readableBytes();
    if (whole && bytes + more > MOST_BYTES) {
      forget();
    }
    if (whole) {
      parts.add(part.retainedDuplicate());
      count(more);
    }
  }

  /** Whether all that was sent is here. */
  boolean isWhole() {
    return whole;
  }

  /** The pod has looked at it, or nobody wants it any more. */
  void forget() {
    whole = false;
    count(-bytes);
    parts.forEach(HttpContent::release);
    parts.clear();
  }

  /** Puts everything back where it came from, to be sent again. */
  void giveBack(RequestBody body) {
    count(-bytes);
    while (!parts.isEmpty()) {
      body.putBack(parts.removeLast());
    }
  }

  private void count(int more) {
    bytes += more;
    held.add(more);
  }
}
