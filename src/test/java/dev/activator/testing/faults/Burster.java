package dev.activator.testing.faults;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.time.Duration;

/**
 * Lets what is written gather for a while, and sends it all at once.
 *
 * <p><b>Threads.</b> Lives on its channel's thread.
 */
final class Burster extends ChannelOutboundHandlerAdapter {
  private final Duration period;
  private final FaultClock clock;
  private boolean due;

  Burster(Duration period, FaultClock clock) {
    this.period = period;
    this.clock = clock;
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    if (!due) {
      due = true;
      clock.loop().schedule(period, () -> ctx.executor().execute(() -> {
        due = false;
        ctx.flush();
      }));
    }
  }

  @Override
  public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
    // The end comes in the same burst as what was said before it.
    clock.loop().schedule(period, () -> ctx.executor().execute(() -> {
      ctx.flush();
      ctx.close(promise);
    }));
  }
}
