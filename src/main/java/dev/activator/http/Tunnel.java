package dev.activator.http;

import dev.activator.loop.NettyTransport;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection, to a caller or to a pod, that has switched to another protocol. Either side may end
 * what it sends, while the other side still sends.
 *
 * <p><b>Threads.</b> Only its channel's loop.
 */
// A failure arrives as channelInactive.
@SuppressWarnings("FutureReturnValueIgnored")
public class Tunnel {
  /** How long the peer may take none of the last bytes. */
  private static final long LAST_BYTES_SECONDS = 30;
  /**
   * How long the socket stays open after that. A closed socket answers further bytes of the peer
   * with a reset, and the peer would lose the last bytes.
   */
  private static final long LINGER_SECONDS = 5;
  /**
   * How often it is checked whether a peer that has ended its half is still there, and whether one
   * has received the last bytes.
   */
  private static final long CHECK_SECONDS = 2;

  private final Channel channel;
  private final boolean overTls;
  private boolean inputEnded;
  /** Done when all is written; null if the output goes on. */
  private @Nullable ChannelFuture outputEnd;

  public Tunnel(Channel channel) {
    this.channel = channel;
    this.overTls = channel.pipeline().get(SslHandler.class) != null;
    NettyTransport.allowHalfClosure(channel);
  }

  /**
   * Whether the event is the end of what the peer sends. If TLS ends without close_notify, it
   * closes the channel: an attacker may have cut the bytes off.
   */
  public final boolean endsInput(Object event) {
    boolean isShutdown = event instanceof ChannelInputShutdownEvent;
    if (isShutdown) {
      NettyTransport.keepWriting(channel);
      closeOnceReset();
    }
    if (inputEnded) {
      return false;
    }
    inputEnded = overTls
        ? event instanceof SslCloseCompletionEvent end && end.isSuccess()
        : isShutdown;
    if (isShutdown && !inputEnded) {
      channel.close();
    }
    return inputEnded;
  }

  /** Netty reports no reset of a socket whose input has ended until something is written to it. */
  private void closeOnceReset() {
    var checks = channel.eventLoop().scheduleAtFixedRate(() -> {
      if (NettyTransport.isReset(channel)) {
        channel.close();
      }
    }, CHECK_SECONDS, CHECK_SECONDS, TimeUnit.SECONDS);
    channel.closeFuture().addListener(_ -> checks.cancel(false));
  }

  /** Ends the output behind what was written. */
  public final ChannelFuture endOutput() {
    if (outputEnd == null) {
      outputEnd = channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
        if (written.isSuccess()) {
          NettyTransport.endOutput(channel);
        }
      });
    }
    return outputEnd;
  }

  public final boolean isOver() {
    return inputEnded && outputEnd != null;
  }

  /** Ends the output, and closes when the peer has had time to read it, or does not read it. */
  public final void close() {
    unlessClosedInTime(channel::close);
    endOutput().addListener(written -> {
      if (written.isSuccess()) {
        unlessClosedWithin(LINGER_SECONDS, channel::close);
      }
    });
  }

  /**
   * After {@link #close()}, when the peer sends bytes that have no receiver any more: resets the connection once the peer's
   * kernel has our last bytes. Otherwise the peer would go on sending until the socket is closed.
   */
  public final void refuseInput() {
    if (NettyTransport.hasEndedOutput(channel)) {
      NettyTransport.reset(channel);
    }
  }

  /**
   * Calls this when the peer has received an output that has ended: a reset before that would drop
   * what the kernel still holds. Calls it at once if the output has not ended.
   */
  public final void onceReceived(Runnable then) {
    if (NettyTransport.isEnding(channel)) {
      unlessClosedWithin(CHECK_SECONDS, () -> onceReceived(then));
    } else {
      then.run();
    }
  }

  /** Calls this if the channel is still open, and the peer takes no more of the last bytes. */
  public final void unlessClosedInTime(Runnable otherwise) {
    long unsent = NettyTransport.unsentBytes(channel);
    unlessClosedWithin(LAST_BYTES_SECONDS, () -> {
      if (NettyTransport.unsentBytes(channel) < unsent
          || NettyTransport.hasSent(channel, LAST_BYTES_SECONDS * 1000)) {
        unlessClosedInTime(otherwise);
      } else {
        otherwise.run();
      }
    });
  }

  private void unlessClosedWithin(long seconds, Runnable otherwise) {
    var limit = channel.eventLoop().schedule(otherwise, seconds, TimeUnit.SECONDS);
    channel.closeFuture().addListener(_ -> limit.cancel(false));
  }
}
