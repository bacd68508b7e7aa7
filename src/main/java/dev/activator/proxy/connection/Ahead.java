package dev.activator.proxy.connection;

import dev.activator.proxy.held.HeldBytes;
import dev.activator.proxy.held.Parts;
import io.netty.handler.codec.http.HttpObject;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The order of what comes on a connection: a request that comes before its turn waits, and what
 * follows it; past a small window no more is read. The first that waits is a request's head.
 *
 * <p>
 * <b>Threads.</b> Only the connection's event loop may call.
 */
final class Ahead {
  /** Whose turns they are. */
  interface Taker {
    /** Whether the turn of this part has come, if nothing waits before it. */
    boolean mayTake(HttpObject part);

    void take(HttpObject part);

    /** Whether nothing more is taken, whatever comes. */
    boolean closing();
  }

  private final Deque<HttpObject> parts = new ArrayDeque<>(0);
  private final HeldBytes.Share held;
  private final ReadGate gate;
  private final Taker taker;
  private boolean taking;
  private int bytes;

  Ahead(HeldBytes.Share held, ReadGate gate, Taker taker) {
    this.held = held;
    this.gate = gate;
    this.taker = taker;
  }

  /** A part has come: it is taken now, or waits, or is dropped where nothing more is taken. */
  void read(HttpObject part) {
    if (taker.closing()) {
      ReferenceCountUtil.release(part);
    } else if (parts.isEmpty() && taker.mayTake(part)) {
      taker.take(part);
    } else {
      count(keep(part));
      gate.ahead(!isFull());
    }
  }

  /** Whether what is taken now has waited. */
  boolean isTaking() {
    return taking;
  }

  /** Turns may have come: takes what may be taken; whether there was anything to look at. */
  boolean takeAll() {
    if (taking || parts.isEmpty()) {
      return false;
    }
    taking = true;
    for (var next = parts.peek(); next != null && mayTake(next); next = parts.peek()) {
      parts.remove();
      count(-Parts.size(next));
      taker.take(next);
    }
    taking = false;
    gate.ahead(!isFull());
    return true;
  }

  private boolean mayTake(HttpObject next) {
    return !taker.closing() && taker.mayTake(next);
  }

  private boolean isFull() {
    return bytes >= held.windowWhileForwarding();
  }

  void release() {
    for (var part = parts.poll(); part != null; part = parts.poll()) {
      count(-Parts.size(part));
      ReferenceCountUtil.release(part);
    }
  }

  private void count(int more) {
    bytes += more;
    held.add(more);
  }

  private int keep(HttpObject part) {
    var body = Parts.ofBody(part);
    if (body != null) {
      return Parts.keep(parts, body);
    }
    parts.add(part);
    return Parts.size(part);
  }
}
