package dev.activator.loop;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import java.net.ConnectException;
import java.net.InetSocketAddress;

/**
 * Connects, and takes a connection that met itself for one that was refused. With nobody listening
 * on a port of this machine, an attempt that happens to leave from that very port succeeds, and
 * reads what it writes.
 *
 * <p>
 * <b>Source.</b> RFC 9293, section 3.5: two that open a connection to each other at the same time,
 * here one and the same.
 */
public final class Connecting {
  private Connecting() {}

  /** One attempt of this client, which lives on one loop. */
  public static ChannelFuture to(InetSocketAddress address, Bootstrap client) {
    var attempt = client.connect(address);
    // Not a promise of the channel's own: it may have failed before it had a loop.
    var outcome = new DefaultChannelPromise(attempt.channel(), client.config().group().next());
    attempt.addListener((ChannelFuture done) -> finish(done, outcome));
    return outcome;
  }

  @SuppressWarnings("FutureReturnValueIgnored") // A channel that does not close is closed.
  private static void finish(ChannelFuture attempt, ChannelPromise outcome) {
    var channel = attempt.channel();
    if (!attempt.isSuccess()) {
      outcome.tryFailure(attempt.cause());
    } else if (metItself(channel)) {
      // First the reason: that it ends is a consequence.
      outcome.tryFailure(new ConnectException("connection refused: nobody listens on "
          + channel.remoteAddress() + ", and the connection met itself"));
      channel.close();
    } else {
      outcome.trySuccess();
    }
  }

  private static boolean metItself(Channel channel) {
    var local = channel.localAddress();
    return local != null && local.equals(channel.remoteAddress());
  }
}
