package dev.activator.proxy.held;

import dev.activator.throttle.Admission.QueueEntry;
import io.netty.handler.codec.http.HttpContent;
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
public final class RequestBody {
  private final HeldBytes.Share held;
  private final Deque<HttpContent> parts = new ArrayDeque<>(2);
  private int bytes;
  private int headBytes;
  private @Nullable QueueEntry place;

  public RequestBody(HeldBytes.Share held) {
    this.held = held;
  }

  /** Its request waits here, and so much is held of its head. */
  public void waits(QueueEntry in, int headBytes) {
    this.headBytes = headBytes;
    place = in;
    Parts.compact(parts);
    held.add(headBytes);
    in.hold(headBytes + bytes);
  }

  /** Its request waits no more. */
  public void waitsNoMore() {
    if (place != null) {
      held.add(-headBytes);
      place.hold(-headBytes - bytes);
      place = null;
    }
  }

  public void add(HttpContent part) {
    if (place == null && parts.isEmpty()) {
      // It is passed on at once, unless the pod is slow.
      parts.add(part);
      count(Parts.size(part));
    } else {
      count(Parts.keep(parts, part));
    }
  }

  /** The next part, which is the caller's now; null if there is none. */
  public @Nullable HttpContent poll() {
    var part = parts.poll();
    if (part != null) {
      count(-Parts.size(part));
    }
    return part;
  }

  /** A part that was taken, and is to be the next again. */
  void putBack(HttpContent part) {
    parts.addFirst(part);
    count(Parts.size(part));
  }

  public boolean isEmpty() {
    return parts.isEmpty();
  }

  /** Whether there is as much as a window holds: no more should be read for now. */
  public boolean fills(int windowBytes) {
    return bytes >= windowBytes;
  }

  public void release() {
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
}
