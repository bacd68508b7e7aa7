package dev.activator.proxy;

import dev.activator.proxy.exchange.HeldBytes;
import dev.activator.proxy.exchange.PartBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelConfig;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;

/**
 * Keeps pipelined requests in order, and the bytes that follow a request for another protocol. The connection is read while the current body is wanted and
 * little waits. Parts beyond a turn's share wait too, so that other connections are served in
 * between.
 */
final class PipelineBuffer {
  interface Receiver {
    /** Whether the part may be taken if nothing waits before it. */
    boolean mayTake(HttpObject part);

    void take(HttpObject part);

    boolean closing();

    /** Call {@link #nextTurn} in the loop's next turn. */
    void turnUsedUp();
  }

  /** About a millisecond of work; a request without a body is two parts. */
  static final int PARTS_PER_TURN = 64;

  private final PartBuffer parts;
  private final HeldBytes.Share held;
  private final ChannelConfig config;
  private final Receiver receiver;
  private int partsLeft = PARTS_PER_TURN;
  private boolean taking;
  private boolean bodyWanted = true;
  private boolean dropping;
  private boolean reads = true;

  PipelineBuffer(HeldBytes.Share held, ChannelConfig config, Receiver receiver) {
    this.held = held;
    this.config = config;
    this.receiver = receiver;
    this.parts = new PartBuffer(held);
    parts.compact();
  }

  void read(HttpObject part) {
    if (receiver.closing()) {
      ReferenceCountUtil.release(part);
    } else if (parts.isEmpty() && partsLeft > 0 && receiver.mayTake(part)) {
      take(part);
    } else {
      parts.add(part);
      updateReading();
    }
  }

  private void take(HttpObject part) {
    partsLeft--;
    if (partsLeft == 0) {
      receiver.turnUsedUp();
    }
    receiver.take(part);
  }

  void readEnds() {
    if (partsLeft > 0) {
      partsLeft = PARTS_PER_TURN;
    }
  }

  void nextTurn() {
    partsLeft = PARTS_PER_TURN;
    updateReading();
  }

  /** Whether the part after this one is taken at once if it has been read. */
  boolean isDirect() {
    return !taking && partsLeft > 0;
  }

  boolean isIdle() {
    return !taking && parts.isEmpty();
  }

  /** False if nothing waits. */
  boolean takeAll() {
    if (taking || parts.isEmpty()) {
      return false;
    }
    taking = true;
    try {
      for (var next = parts.peek(); next != null && mayTake(next); next = parts.peek()) {
        parts.poll();
        take(next);
      }
    } finally {
      taking = false;
      updateReading();
    }
    return true;
  }

  private boolean mayTake(HttpObject next) {
    return partsLeft > 0 && !receiver.closing() && receiver.mayTake(next);
  }

  boolean startsWithRequest() {
    return parts.peek() instanceof HttpRequest;
  }

  /** Takes all parts, none of which is a request, as bytes. */
  ByteBuf takeBytes() {
    var all = new ArrayList<ByteBuf>();
    while (parts.poll() instanceof HttpContent part) {
      all.add(part.content());
    }
    updateReading();
    return Unpooled.wrappedBuffer(all.toArray(ByteBuf[]::new));
  }

  void clear() {
    parts.clear();
    updateReading();
  }

  void resumeBody() {
    bodyWanted = true;
    updateReading();
  }

  void pauseBody() {
    bodyWanted = false;
    updateReading();
  }

  /** From now on everything is read and dropped. */
  void readToDrop() {
    dropping = true;
    updateReading();
  }

  private void updateReading() {
    boolean full = !parts.isEmpty()
        && (partsLeft <= 0 || parts.bytes() >= held.windowWhileForwarding());
    boolean now = dropping || (bodyWanted && !full);
    if (now != reads) {
      reads = now;
      config.setAutoRead(now);
    }
  }
}
