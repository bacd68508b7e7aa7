package dev.activator.upstream;

import dev.activator.upstream.policy.DialPlan;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that is being opened: one attempt after another, for as long as they time out.
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

    void connected(Channel channel);

    void failed(UpstreamFailure failure);

    /** It was cancelled before anything came of it. */
    void cancelled();
  }

  private static final Logger log = LoggerFactory.getLogger(Dialing.class);

  private final Dialer dialer;
  private final InetSocketAddress address;
  private final Caller caller;
  private int attempt;
  private boolean over;
  private @Nullable Channel connecting;

  Dialing(Dialer dialer, InetSocketAddress address, Caller caller) {
    this.dialer = dialer;
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
    var future = dialer.attempt(attempt, new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        caller.addHandlers(channel.pipeline());
      }
    }).connect(address);
    connecting = future.channel();
    future.addListener((ChannelFuture done) -> finished(done));
  }

  private void finished(ChannelFuture done) {
    if (over) {
      done.channel().close();
    } else if (done.isSuccess()) {
      over = true;
      caller.connected(done.channel());
    } else {
      failed(done.cause());
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
