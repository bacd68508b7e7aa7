package dev.activator.proxy.connection;

import dev.activator.loop.Loop;
import dev.activator.proxy.codec.WebSocketFrames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.time.Duration;

/**
 * What goes to a caller after its connection has left HTTP: bytes, as they are. Of a WebSocket it is
 * known where a frame may begin, so that it can be told the end in its own words.
 *
 * <p>
 * <b>Threads.</b> Only the connection's event loop may call.
 *
 * <p>
 * <b>Source.</b> RFC 6455, sections 5.5.1 and 7.4.1.
 */
// What cannot be written or closed ends the connection, and the handler hears of that.
@SuppressWarnings("FutureReturnValueIgnored")
final class Upgraded {
  /** A Close with the code 1001: going away. */
  private static final ByteBuf GOING_AWAY = Unpooled.unreleasableBuffer(
      Unpooled.wrappedBuffer(new byte[]{(byte) 0x88, 2, 0x03, (byte) 0xe9}));
  /** So long caller and pod may take to end it by themselves. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private enum Ending {
    /** It is not to end. */
    NO,
    /** It ends where the next frame may begin. */
    SOON,
    /** It was told so, and nothing may follow. */
    TOLD
  }

  private final Channel channel;
  private final Loop loop;
  private final boolean webSocket;
  private final WebSocketFrames frames = new WebSocketFrames();
  private Ending ending = Ending.NO;

  Upgraded(Channel channel, Loop loop, boolean webSocket) {
    this.channel = channel;
    this.loop = loop;
    this.webSocket = webSocket;
  }

  void write(ByteBuf bytes) {
    switch (ending) {
      case NO -> {
        if (webSocket) {
          frames.follow(bytes);
        }
        channel.write(bytes, channel.voidPromise());
      }
      case SOON -> {
        int last = frames.followToBoundary(bytes);
        channel.write(bytes.readRetainedSlice(last), channel.voidPromise());
        bytes.release();
        tellIfAtBoundary();
      }
      case TOLD -> bytes.release();
    }
  }

  /** Has a WebSocket end; of another protocol nothing is known that would end it in order. */
  void drain() {
    if (webSocket && ending == Ending.NO) {
      ending = Ending.SOON;
      tellIfAtBoundary();
    }
  }

  private void tellIfAtBoundary() {
    if (frames.atBoundary()) {
      ending = Ending.TOLD;
      // The caller's answer goes to the pod, which ends it then.
      channel.writeAndFlush(GOING_AWAY.duplicate());
      loop.schedule(PATIENCE, channel::close);
    }
  }
}
