package dev.activator.proxy;

import io.netty.channel.ChannelConfig;

/**
 * Whether a connection is read. It is not while there is a reason against it; there may be two.
 *
 * <p>
 * <b>Threads.</b> Only the connection's event loop may call.
 */
final class ReadGate {
  /** Why a connection is not read. */
  enum Reason {
    /** Nobody takes the body of the current request. */
    BODY,
    /** Enough requests wait for their turn. */
    AHEAD
  }

  private final ChannelConfig config;
  private int reasons;

  ReadGate(ChannelConfig config) {
    this.config = config;
  }

  void shut(Reason reason) {
    change(reasons | 1 << reason.ordinal());
  }

  void open(Reason reason) {
    change(reasons & ~(1 << reason.ordinal()));
  }

  private void change(int now) {
    boolean changes = reasons == 0 != (now == 0);
    reasons = now;
    if (changes) {
      config.setAutoRead(now == 0);
    }
  }
}
