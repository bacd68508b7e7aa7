package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.VirtualLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DownstreamTunnelTest {
  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final EmbeddedChannel channel = new EmbeddedChannel();

  @AfterEach
  void release() {
    channel.finishAndReleaseAll();
  }

  @Test
  void ofAWebSocketThatIsNotClosedByEitherSideIsCutAfterFiveSeconds() {
    new DownstreamTunnel(channel, loop, true).drain();

    ByteBuf close = channel.readOutbound();
    assertThat(close).isEqualTo(Unpooled.wrappedBuffer(new byte[]{(byte) 0x88, 2, 3, (byte) 0xe9}));
    loop.advance(Duration.ofMillis(4_999));
    assertThat(channel.isOpen()).isTrue();
    loop.advance(Duration.ofMillis(1));
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void ofAWebSocketWhoseCallerReadsSlowly_isNotCutBeforeTheCloseFrameIsSent() {
    var unread = new ArrayList<ChannelPromise>();
    channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
      @Override
      public void write(ChannelHandlerContext context, Object bytes, ChannelPromise written) {
        ReferenceCountUtil.release(bytes);
        unread.add(written);
      }
    });
    new DownstreamTunnel(channel, loop, true).drain();
    loop.advance(Duration.ofSeconds(20));
    assertThat(channel.isOpen()).isTrue();

    unread.forEach(ChannelPromise::setSuccess);
    loop.advance(Duration.ofSeconds(5));
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void ofAnotherProtocolStaysOpenInADrain() {
    new DownstreamTunnel(channel, loop, false).drain();

    loop.advance(Duration.ofMinutes(1));

    assertThat(channel.<ByteBuf>readOutbound()).isNull();
    assertThat(channel.isOpen()).isTrue();
  }
}
