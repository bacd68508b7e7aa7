package dev.activator.upstream;

import dev.activator.tls.Peer;
import dev.activator.upstream.policy.DialPlan;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that is being opened: one attempt after another, for as long as they time out. Over
 * TLS the handshake is part of an attempt.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
// A channel that does not close is one that never was open.
@SuppressWarnings("FutureReturnValueIgnored")
final class Dialing implements Dial {
  /** Who wants a connection, and hears of one of these. */
  interface Caller {
    /** Puts first handlers into a channel that is about to be connected. */
    void addHandlers(ChannelPipeline pipeline);

    /** Which protocols to ask for over TLS; none to let what is sent first say it. */
    default String[] protocols() {
      return new String[0];
    }

    /** It is open, and over TLS where the peer is; no handler but those added is left in it. */
    void connected(Channel channel);

    void failed(UpstreamFailure failure);

    /** It was cancelled before anything came of it. */
    void cancelled();
  }

  private static final Logger log = LoggerFactory.getLogger(Dialing.class);

  private final Dialer dialer;
  private final Peer peer;
  private final InetSocketAddress address;
  private final Caller caller;
  private int attempt;
  private Duration timeout = Duration.ZERO;
  private long begunNanos;
  private boolean over;
  private @Nullable Channel connecting;

  Dialing(Dialer dialer, Peer peer, InetSocketAddress address, Caller caller) {
    this.dialer = dialer;
    this.peer = peer;
    this.address = address;
    this.caller = caller;
  }

  @Override
  public void cancel() {
    if (!over) {
      over = true;
      caller.cancelled();
      if (connecting != null) {
        connecting.close();
      }
    }
  }

  void start() {
    if (over) {
      return;
    }
    timeout = dialer.plan().timeout(attempt);
    begunNanos = dialer.loop().nanoTime();
    var future = dialer.attempt(address, timeout, new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        caller.addHandlers(channel.pipeline());
      }
    });
    connecting = future.channel();
    future.addListener((ChannelFuture done) -> finished(done));
  }

  private void finished(ChannelFuture done) {
    if (over) {
      done.channel().close();
    } else if (!done.isSuccess()) {
      failed(done.cause());
    } else if (peer.namespace() != null) {
      secure(done.channel(), peer.namespace());
    } else {
      connected(done.channel());
    }
  }

  private void connected(Channel channel) {
    over = true;
    caller.connected(channel);
  }

  private void secure(Channel channel, String namespace) {
    var tls = dialer.tls().handler(channel.alloc(), namespace, caller.protocols());
    tls.setHandshakeTimeoutMillis(
        DialPlan.millisLeft(timeout, dialer.loop().nanoTime() - begunNanos));
    channel.pipeline().addLast(new HandshakeErrors());
    tls.handshakeFuture().addListener((Future<Channel> done) -> secured(channel, done));
    channel.pipeline().addFirst(tls);
  }

  private void secured(Channel channel, Future<Channel> done) {
    if (over) {
      channel.close();
    } else if (done.isSuccess()) {
      channel.pipeline().remove(HandshakeErrors.class);
      connected(channel);
    } else {
      channel.close();
      failed(done.cause());
    }
  }

  /** What goes wrong in a handshake is told by its future, and by nobody else. */
  private static final class HandshakeErrors extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      log.debug("The handshake with {} failed: {}", context.channel().remoteAddress(),
          cause.toString());
    }
  }

  private void failed(Throwable cause) {
    var failure = UpstreamFailure.of(cause);
    attempt++;
    // Only a time-out may be a lost packet; whatever else comes back is an answer.
    if (failure == UpstreamFailure.TIMED_OUT && attempt < DialPlan.ATTEMPTS) {
      dialer.loop().schedule(dialer.plan().pause(), this::start);
    } else {
      log.debug("Cannot connect to {}: {}", address, cause.toString());
      over = true;
      caller.failed(failure);
    }
  }
}
