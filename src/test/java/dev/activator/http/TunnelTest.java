package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TunnelTest {
  private final SlowChannel channel = new SlowChannel();
  private boolean stuck;

  /** Its peer takes only as many bytes as it is let. */
  private static final class SlowChannel extends EmbeddedChannel {
    private int taken;

    @Override
    protected void doWrite(ChannelOutboundBuffer queue) {
      queue.removeBytes(taken);
      taken = 0;
    }

    void take(int bytes) {
      taken = bytes;
      unsafe().flush();
    }

    void pass(long seconds) {
      advanceTimeBy(seconds, TimeUnit.SECONDS);
      runScheduledPendingTasks();
    }
  }

  private void write(int bytes) {
    channel.freezeTime();
    for (int i = 0; i < bytes; i++) {
      var _ = channel.write(Unpooled.buffer(1).writeZero(1));
    }
    channel.flush();
    new Tunnel(channel).unlessClosedInTime(() -> stuck = true);
  }

  @AfterEach
  void release() {
    channel.finishAndReleaseAll();
  }

  @Test
  void isNotCut_whileThePeerReadsTheLastBytesSlowly() {
    write(1_000);

    for (int i = 0; i < 10; i++) {
      channel.take(1);
      channel.pass(30);
      assertThat(stuck).isFalse();
    }
    channel.pass(30);
    assertThat(stuck).isTrue();
  }

  @Test
  void isCut_ifThePeerReadsNothing() {
    write(1_000);

    channel.pass(29);
    assertThat(stuck).isFalse();
    channel.pass(1);
    assertThat(stuck).isTrue();
  }
}
