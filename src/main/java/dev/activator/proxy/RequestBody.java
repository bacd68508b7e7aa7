package dev.activator.proxy;

import dev.activator.throttle.Place;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What was read of a request's body and not passed on. While the request waits, it and the head count
 * for the revision.
 *
 * <p>
 * <b>Threads.</b> Only the event loop whose share of the held bytes it counts in may call.
 */
final class RequestBody {
  /** What a part takes beyond its bytes, about. */
  private static final int PART_BYTES = 128;
  /** A part keeps all of what was read with it: one that is small is better copied. */
  private static final int WORTH_KEEPING_BYTES = 1 << 10;

  private final HeldBytes.Share held;
  private final Deque<HttpContent> parts = new ArrayDeque<>(2);
  private int bytes;
  private int headBytes;
  private @Nullable Place place;

  RequestBody(HeldBytes.Share held) {
    this.held = held;
  }

  /** Its request waits here, and so much is held of its head. */
  void waits(Place in, int headBytes) {
    this.headBytes = headBytes;
    place = in;
    held.add(headBytes);
    in.hold(headBytes + bytes);
  }

  /** Its request waits no more. */
  void waitsNoMore() {
    if (place != null) {
      held.add(-headBytes);
      place.hold(-headBytes - bytes);
      place = null;
    }
  }

  void add(HttpContent part) {
    var kept = parts.isEmpty() ? part : compact(part);
    parts.add(kept);
    count(size(kept));
  }

  /** The next part, which is the caller's now; null if there is none. */
  @Nullable HttpContent poll() {
    var part = parts.poll();
    if (part != null) {
      count(-size(part));
    }
    return part;
  }

  /** A part that was taken, and is to be the next again. */
  void putBack(HttpContent part) {
    parts.addFirst(part);
    count(size(part));
  }

  boolean isEmpty() {
    return parts.isEmpty();
  }

  /** Whether there is as much as a window holds: no more should be read for now. */
  boolean fills(int windowBytes) {
    return bytes >= windowBytes;
  }

  void release() {
    for (var part = poll(); part != null; part = poll()) {
      part.release();
    }
  }

  private void count(int more) {
    bytes += more;
    held.add(more);
    if (place != null) {
      place.hold(more);
    }
  }

  private static int size(HttpContent part) {
    int bytes = PART_BYTES + part.content().readableBytes();
    return part instanceof LastHttpContent last && !last.trailingHeaders().isEmpty()
        ? bytes + Heads.fields(last.trailingHeaders())
        : bytes;
  }

  private static HttpContent compact(HttpContent part) {
    int length = part.content().readableBytes();
    if (length == 0 || length >= WORTH_KEEPING_BYTES) {
      return part;
    }
    var copy = part.replace(Unpooled.copiedBuffer(part.content()));
    part.release();
    return copy;
  }
}
