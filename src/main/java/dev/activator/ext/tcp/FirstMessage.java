package dev.activator.ext.tcp;

import dev.activator.loop.LogLimit;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.exchange.HeldRequestBytes.PartialHead;
import dev.activator.proxy.exchange.RequestDispatcher;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bounds of what a client must send before it is known where its connection goes. A connection
 * that exceeds one is reset, and the log says why. The bytes count as heads of requests do, of which
 * the oldest are refused when memory is scarce.
 *
 * <p><b>Threads.</b> Confined to its channel's loop.
 */
final class FirstMessage {
  private static final Logger log = LoggerFactory.getLogger(FirstMessage.class);

  private final Channel client;
  private final RequestDispatcher dispatcher;
  private final LogLimit refusals;
  private final PartialHead held;
  private final ResettableTimer timer;
  private int bytes;
  private boolean over;

  /** @param name for the log */
  FirstMessage(Channel client, RequestDispatcher dispatcher, LogLimit refusals, String name,
      Duration timeout) {
    this.client = client;
    this.dispatcher = dispatcher;
    this.refusals = refusals;
    this.held = dispatcher.held().partialHead(() -> refuse("too much memory is held"));
    this.timer = new ResettableTimer(dispatcher.loop(),
        () -> refuse(name + " did not come in time"));
    timer.within(timeout);
    // What a codec closes is reset, too.
    client.config().setOption(ChannelOption.SO_LINGER, 0);
  }

  int bytes() {
    return bytes;
  }

  void read(int more) {
    if (!over) {
      bytes += more;
      held.grew(bytes);
    }
  }

  boolean isOver() {
    return over;
  }

  /** The connection goes on. */
  void complete() {
    end();
    client.config().setOption(ChannelOption.SO_LINGER, -1);
  }

  /** Idempotent. */
  void refuse(@Nullable String why) {
    if (!over) {
      end();
      reset(client, dispatcher, refusals, why);
    }
  }

  static void reset(Channel client, RequestDispatcher dispatcher, LogLimit refusals,
      @Nullable String why) {
    refusals.log(dispatcher.loop().nanoTime(), others -> log.info("A connection of {} was reset:"
        + " {}. {} others were since the last such line",
        NettyTransport.text(client.remoteAddress()),
        why, others));
    NettyTransport.reset(client);
  }

  void end() {
    over = true;
    held.ended();
    timer.cancel();
  }
}
