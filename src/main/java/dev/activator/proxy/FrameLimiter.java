package dev.activator.proxy;

import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.codec.FrameScanner;
import dev.activator.proxy.exchange.PartBuffer;
import dev.activator.proxy.exchange.PartialHeads;
import dev.activator.upstream.policy.FrameBudget;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the work and memory that an HTTP/2 connection may cost its loop, before decoding: frames
 * per turn, control frames, the time and memory of an incomplete head. Frames beyond a turn's share
 * wait for other connections; nothing is read meanwhile.
 *
 * <p><b>Errors.</b> Ends the connection with ENHANCE_YOUR_CALM.
 */
@SuppressWarnings("FutureReturnValueIgnored") // A failure arrives as channelInactive.
final class FrameLimiter extends ChannelDuplexHandler {
  private static final Logger log = LoggerFactory.getLogger(FrameLimiter.class);
  /** Large frames: about as much as one read. Heads: about a millisecond of work. */
  static final int FRAMES_PER_TURN = 64;

  private static final Http2Exception TOO_MANY_CONTROL_FRAMES = Http2Exception
      .connectionError(Http2Error.ENHANCE_YOUR_CALM, "too many control frames");
  private static final Http2Exception HEAD_TOO_SLOW = Http2Exception
      .connectionError(Http2Error.ENHANCE_YOUR_CALM, "a head took too long");
  private static final Http2Exception TOO_MANY_PARTIAL_HEADS = Http2Exception.connectionError(
      Http2Error.ENHANCE_YOUR_CALM, "heads that are not whole hold too much memory");

  private final Loop loop;
  private final Duration headTimeout;
  private final FrameScanner scanner = new FrameScanner();
  private final FrameBudget budget;
  /** Apart, as some of the frames that are errors have been charged. */
  private final FrameBudget errors;
  private final DeadlineTimer headTimer;
  private final PartialHeads.Head partialHead;
  private final ArrayDeque<ByteBuf> waiting = new ArrayDeque<>(2);
  private @Nullable ChannelHandlerContext context;
  private int framesLeft = FRAMES_PER_TURN;
  private boolean turnScheduled;
  private boolean refused;
  private int timedHead;
  private long headDueNanos;

  /** @param headTimeout also for the initial SETTINGS */
  FrameLimiter(Loop loop, Duration headTimeout, PartialHeads heads) {
    this.loop = loop;
    this.headTimeout = headTimeout;
    this.budget = new FrameBudget(loop.nanoTime());
    this.errors = new FrameBudget(loop.nanoTime());
    this.headTimer = new DeadlineTimer(loop, this::checkHead);
    this.partialHead = heads.head(() -> refuse(context(), TOO_MANY_PARTIAL_HEADS));
  }

  static EndedConnections.Reason reason(Http2Exception error) {
    if (error == TOO_MANY_CONTROL_FRAMES) {
      return EndedConnections.Reason.CONTROL_FRAMES;
    }
    if (error == HEAD_TOO_SLOW) {
      return EndedConnections.Reason.SLOW_HEAD;
    }
    return error == TOO_MANY_PARTIAL_HEADS
        ? EndedConnections.Reason.PARTIAL_HEADS
        : EndedConnections.Reason.OTHER_LIMIT;
  }

  void wroteResponse(int bytes) {
    budget.earn(bytes);
  }

  /** For the reset of a stream that had been open for a while. */
  void gaveUp() {
    budget.forgiveReset();
  }

  /** For a reset that the caller made necessary. */
  void answeredError() {
    if (!refused && !errors.take(1, loop.nanoTime())) {
      refuse(context(), TOO_MANY_CONTROL_FRAMES);
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
    awaitHead();
  }

  @Override
  public void channelRead(ChannelHandlerContext on, Object message) {
    var bytes = (ByteBuf) message;
    if (refused) {
      bytes.release();
    } else if (waiting.isEmpty()) {
      pass(on, bytes);
    } else {
      waiting.add(bytes);
    }
  }

  private void pass(ChannelHandlerContext on, ByteBuf bytes) {
    int before = scanner.frames();
    int length = scanner.scan(bytes, framesLeft);
    framesLeft -= scanner.frames() - before;
    if (!budget.take(scanner.takeCharged(), loop.nanoTime())) {
      bytes.release();
      refuse(on, TOO_MANY_CONTROL_FRAMES);
    } else if (length == bytes.readableBytes()) {
      on.fireChannelRead(bytes);
    } else {
      waiting.addFirst(bytes);
      proceedInNextTurn(on);
      if (length > 0) {
        on.fireChannelRead(bytes.readRetainedSlice(length));
      }
    }
  }

  private void proceedInNextTurn(ChannelHandlerContext on) {
    if (!turnScheduled) {
      turnScheduled = true;
      on.channel().config().setAutoRead(false);
      // Unlike an executed task, a scheduled one runs after other connections were read.
      loop.schedule(Duration.ZERO, () -> proceed(on));
    }
  }

  private void proceed(ChannelHandlerContext on) {
    turnScheduled = false;
    framesLeft = FRAMES_PER_TURN;
    while (framesLeft > 0 && !waiting.isEmpty()) {
      pass(on, waiting.removeFirst());
    }
    if (!waiting.isEmpty()) {
      proceedInNextTurn(on);
    } else if (!refused) {
      on.channel().config().setAutoRead(true);
    }
    channelReadComplete(on);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext on) {
    if (!turnScheduled) {
      framesLeft = FRAMES_PER_TURN;
    }
    if (scanner.withinHead() && scanner.heads() != timedHead) {
      timedHead = scanner.heads();
      awaitHead();
    }
    countPartialHead(on);
    on.fireChannelReadComplete();
  }

  private void countPartialHead(ChannelHandlerContext on) {
    // The connection may have ended.
    int bytes = refused || !on.channel().isActive() ? 0 : scanner.headBytes();
    if (bytes > 0) {
      partialHead.grew(PartBuffer.costOfHead(bytes, 0));
    } else {
      partialHead.ended();
    }
  }

  @Override
  public void read(ChannelHandlerContext on) {
    if (!turnScheduled) {
      on.read();
    }
  }

  private void awaitHead() {
    headDueNanos = loop.nanoTime() + headTimeout.toNanos();
    headTimer.within(headTimeout);
  }

  private void checkHead() {
    boolean opened = scanner.frames() > 0;
    long left = headDueNanos - loop.nanoTime();
    if (refused || (opened && !scanner.withinHead())) {
      return;
    }
    if (left > 0) {
      headTimer.within(left);
    } else if (opened) {
      refuse(context(), HEAD_TOO_SLOW);
    } else {
      log.debug("No HTTP/2 from {} in time", context().channel().remoteAddress());
      context().close();
    }
  }

  private void refuse(ChannelHandlerContext on, Http2Exception why) {
    refused = true;
    dropWaiting();
    on.fireExceptionCaught(why);
  }

  private void dropWaiting() {
    waiting.forEach(ByteBuf::release);
    waiting.clear();
  }

  private ChannelHandlerContext context() {
    if (context == null) {
      throw new IllegalStateException("not in a pipeline yet");
    }
    return context;
  }

  @Override
  public void channelInactive(ChannelHandlerContext on) {
    headTimer.cancel();
    partialHead.ended();
    dropWaiting();
    on.fireChannelInactive();
  }
}
