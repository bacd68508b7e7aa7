package dev.activator.testing.faults;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.time.Duration;

/**
 * Lets what is written gather for a while, and sends it all at once.
 *
 * <p>
 * <b>Threads.</b> Lives on its channel's thread.
 */
final class Burster extends ChannelOutboundHandlerAdapter {
  private final Duration period;
  private final Pace pace;
  private boolean due;

  Burster(Duration period, Pace pace) {
    this.period = period;
    this.pace = pace;
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    if (!due) {
      due = true;
      pace.loop().schedule(period, () -> ctx.executor().execute(() -> {
        due = false;
        ctx.flush();
      }));
    }
  }

  @Override
  public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
    // The end comes in the same burst as what was said before it.
    pace.loop().schedule(period, () -> ctx.executor().execute(() -> {
      ctx.flush();
      ctx.close(promise);
    }));
  }
}
