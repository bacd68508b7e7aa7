package dev.activator.ext.tcp;

import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;

/**
 * What a client has sent before there is a pod for it. It counts as memory that is held, and of its
 * revision's queue.
 *
 * <p><b>Threads.</b> Confined to its channel's loop.
 */
final class FirstBytes {
  private final Channel client;
  private final HeldRequestBytes.Share share;
  /** Null if there are none. */
  private @Nullable ByteBuf held;
  private @Nullable QueueEntry queued;

  FirstBytes(Channel client, HeldRequestBytes.Share share) {
    this.client = client;
    this.share = share;
  }

  /** Copies the bytes into one buffer, because a client may send each byte in a separate packet. */
  void add(ByteBuf bytes) {
    int more = bytes.readableBytes();
    var all = held == null ? client.alloc().buffer(more) : held;
    held = all.writeBytes(bytes);
    bytes.release();
    share.add(more);
    if (queued != null) {
      queued.addHeldBytes(more);
    }
  }

  void enter(QueueEntry entry) {
    queued = entry;
    entry.addHeldBytes(size());
  }

  void leaveQueue() {
    if (queued != null) {
      queued.addHeldBytes(-size());
      queued = null;
    }
  }

  /** Whether there is room for more. */
  boolean hasRoom() {
    return size() < (queued == null
        ? share.windowWhileForwarding()
        : share.windowWhileQueued(queued.heldBytes()));
  }

  private int size() {
    return held == null ? 0 : held.readableBytes();
  }

  /** Returns the bytes, which then count no longer; null if there are none. */
  @Nullable ByteBuf take() {
    var all = held;
    if (all != null) {
      leaveQueue();
      share.add(-size());
      held = null;
    }
    return all;
  }

  /** Idempotent. */
  void drop() {
    var all = take();
    if (all != null) {
      all.release();
    }
  }
}
