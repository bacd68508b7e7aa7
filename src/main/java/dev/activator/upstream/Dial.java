package dev.activator.upstream;

import dev.activator.upstream.policy.DialPlan;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
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
public final class Dial {
  private static final Logger log = LoggerFactory.getLogger(Dial.class);

  private final Dialer dialer;
  private final InetSocketAddress address;
  private final UpstreamPool pool;
  private final UpstreamListener listener;
  private int attempt;
  private boolean over;
  private @Nullable Channel connecting;

  Dial(Dialer dialer, InetSocketAddress address, UpstreamPool pool, UpstreamListener listener) {
    this.dialer = dialer;
    this.address = address;
    this.pool = pool;
    this.listener = listener;
  }

  /** Gives up: the listener hears nothing. Nothing happens if it has heard already. */
  public void cancel() {
    if (!over) {
      end();
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
        UpstreamConnection.addCodecs(channel.pipeline());
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
      UpstreamConnection.open(done.channel(), pool, listener);
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
      end();
      listener.failed(failure);
    }
  }

  private void end() {
    over = true;
    pool.gone();
  }
}
