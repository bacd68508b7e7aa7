package dev.activator.proxy;

import dev.activator.http.Tunnel;
import dev.activator.loop.Loop;
import dev.activator.proxy.codec.WebSocketFrameTracker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.time.Duration;

/**
 * Writes a pod's bytes to the caller after their connection switched protocols. Tracks the frames of
 * a WebSocket, so that a Close can be sent between two.
 *
 * <p><b>Source.</b> RFC 6455, sections 5.5.1 and 7.4.1.
 */
// A failure arrives as channelInactive.
@SuppressWarnings("FutureReturnValueIgnored")
final class DownstreamTunnel extends Tunnel {
  /** A Close frame with code 1001, going away. */
  private static final ByteBuf GOING_AWAY = Unpooled.unreleasableBuffer(
      Unpooled.wrappedBuffer(new byte[]{(byte) 0x88, 2, 0x03, (byte) 0xe9}));
  /** How long caller and pod have to close the tunnel themselves once the Close frame is sent. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  private enum State {
    OPEN,
    /** Closes at the end of the current frame. */
    CLOSING,
    CLOSED
  }

  private final Channel channel;
  private final Loop loop;
  private final boolean webSocket;
  private final WebSocketFrameTracker frames = new WebSocketFrameTracker();
  private State state = State.OPEN;

  DownstreamTunnel(Channel channel, Loop loop, boolean webSocket) {
    super(channel);
    this.channel = channel;
    this.loop = loop;
    this.webSocket = webSocket;
  }

  void write(ByteBuf bytes) {
    switch (state) {
      case OPEN -> {
        if (webSocket) {
          frames.follow(bytes);
        }
        channel.write(bytes, channel.voidPromise());
      }
      case CLOSING -> {
        int last = frames.followToBoundary(bytes);
        channel.write(bytes.readRetainedSlice(last), channel.voidPromise());
        bytes.release();
        closeIfAtBoundary();
      }
      case CLOSED -> bytes.release();
    }
  }

  /** Closes a WebSocket gracefully. For other protocols there is no known way. */
  void drain() {
    if (webSocket && state == State.OPEN) {
      state = State.CLOSING;
      closeIfAtBoundary();
    }
  }

  private void closeIfAtBoundary() {
    if (frames.atBoundary()) {
      state = State.CLOSED;
      // The caller's answer goes to the pod, which then closes.
      channel.writeAndFlush(GOING_AWAY.duplicate())
          .addListener(_ -> loop.schedule(CLOSE_TIMEOUT, channel::close));
      unlessClosedInTime(channel::close);
    }
  }
}
