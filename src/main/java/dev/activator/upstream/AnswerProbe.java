package dev.activator.upstream;

import dev.activator.loop.Loop;
import dev.activator.revision.ReadinessProbeSpec.ExpectedAnswer;
import dev.activator.upstream.PodConnectionPools.OpenListener;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.upstream.UpstreamPool.Dial;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A probe that is no HTTP: it connects, sends some bytes, and reads how the answer begins. It closes
 * the connection.
 *
 * <p><b>Threads.</b> Confined to the loop.
 */
// A failed write or close ends the channel, and the probe is notified.
@SuppressWarnings("FutureReturnValueIgnored")
final class AnswerProbe extends ChannelInboundHandlerAdapter implements OpenListener {
  /** How much of another answer is reported. */
  private static final int KEPT_CHARS = 100;

  private final Loop loop;
  private final ProbeRequest request;
  private final ExpectedAnswer expected;
  private final Consumer<ProbeResult> done;
  private final long startedNanos;
  private final StringBuilder received = new StringBuilder();
  private Loop.@Nullable Timer timer;
  private @Nullable Dial dial;
  private @Nullable Channel channel;
  private boolean ended;

  AnswerProbe(Loop loop, ProbeRequest request, ExpectedAnswer expected,
      Consumer<ProbeResult> done) {
    this.loop = loop;
    this.request = request;
    this.expected = expected;
    this.done = done;
    this.startedNanos = loop.nanoTime();
  }

  void start(PodConnectionPools pools) {
    timer = timeOut(request.connectTimeout());
    dial = pools.open(request.destination(), this);
  }

  private Loop.Timer timeOut(Duration after) {
    return loop.schedule(after.minusNanos(loop.nanoTime() - startedNanos),
        () -> end(new ProbeResult.TimedOut(after, channel != null)));
  }

  @Override
  public void connected(Channel opened) {
    channel = opened;
    dial = null;
    if (timer != null) {
      timer.cancel();
    }
    timer = timeOut(request.timeout());
    opened.pipeline().addLast(this);
    opened.writeAndFlush(Unpooled.copiedBuffer(expected.send(), StandardCharsets.ISO_8859_1));
    opened.config().setAutoRead(true);
  }

  @Override
  public void failed(UpstreamFailure failure) {
    dial = null;
    end(ProbeResult.withoutConnection(failure));
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    var bytes = (ByteBuf) message;
    int room = Math.max(KEPT_CHARS, expected.expect().length()) - received.length();
    received.append(bytes.toString(bytes.readerIndex(), Math.min(room, bytes.readableBytes()),
        StandardCharsets.ISO_8859_1));
    bytes.release();
    if (received.indexOf(expected.expect()) == 0) {
      end(new ProbeResult.Connected());
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (!ended && !expected.expect().startsWith(received.toString())) {
      end(new ProbeResult.Unexpected("answered '" + printable(received) + "'"));
    }
  }

  private static String printable(CharSequence text) {
    return text.toString().replaceAll("[^ -~]+", " ").strip();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    end(new ProbeResult.Unexpected("ended the connection before it answered as one that is ready"));
  }

  private void end(ProbeResult result) {
    if (ended) {
      return;
    }
    ended = true;
    if (timer != null) {
      timer.cancel();
    }
    if (dial != null) {
      dial.timedOut();
    }
    if (channel != null) {
      channel.close();
    }
    done.accept(result);
  }
}
