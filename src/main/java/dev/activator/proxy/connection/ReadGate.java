package dev.activator.proxy.connection;

import io.netty.channel.ChannelConfig;

/**
 * Whether a connection is read: while somebody takes the body of the current request, and not too
 * many requests wait for their turn.
 *
 * <p>
 * <b>Threads.</b> Only the connection's event loop may call.
 */
final class ReadGate {
  private final ChannelConfig config;
  private boolean body = true;
  private boolean ahead = true;
  private boolean reads = true;

  ReadGate(ChannelConfig config) {
    this.config = config;
  }

  /** Whether more of the current request's body is wanted. */
  void body(boolean wanted) {
    body = wanted;
    update();
  }

  /** Whether more requests may wait. */
  void ahead(boolean wanted) {
    ahead = wanted;
    update();
  }

  /** From now on whatever comes is read, to be dropped. */
  void open() {
    body = true;
    ahead = true;
    update();
  }

  private void update() {
    boolean now = body && ahead;
    if (now != reads) {
      reads = now;
      config.setAutoRead(now);
    }
  }
}
