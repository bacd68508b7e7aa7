package dev.activator.proxy;

import dev.activator.http.FrameBudget;
import dev.activator.http.FrameGuard;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.proxy.AbusiveConnectionCounter.Reason;
import dev.activator.proxy.exchange.HeldRequestBytes;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Limits the work and memory that an HTTP/2 connection may cost its loop: frames per turn, control
 * frames, the time and memory of an incomplete head. Frames beyond a turn's share wait for other
 * connections; nothing is read meanwhile.
 *
 * <p><b>Errors.</b> Ends the connection with ENHANCE_YOUR_CALM.
 */
final class Http2FloodLimiter implements FrameGuard {
  /**
   * The limit of frames a turn. Large frames are then about as much as one read, and heads about a
   * millisecond of compiled code.
   */
  static final int FRAMES_PER_TURN = 64;
  /**
   * After this time in a turn, a head waits for the next one: in uncompiled code a single head may
   * take as long.
   */
  static final long TURN_NANOS = 1_000_000;

  private static final Http2Exception TOO_MANY_CONTROL_FRAMES = error(Reason.CONTROL_FRAMES);
  private static final Http2Exception HEAD_TOO_SLOW = error(Reason.SLOW_HEAD);
  private static final Http2Exception TOO_MANY_PARTIAL_HEADS = error(Reason.PARTIAL_HEADS);

  private final Loop loop;
  private final Duration headTimeout;
  private final FrameBudget budget;
  /**
   * The budget for errors. It is separate, as some of the frames that are errors are charged to the
   * other one.
   */
  private final FrameBudget errors;
  private final ResettableTimer headTimer;
  private final HeldRequestBytes.PartialHead partialHead;
  private final HeldRequestBytes.PartialHead table;
  private @Nullable Http2CallerSession session;
  private int framesLeft = FRAMES_PER_TURN;
  private boolean turnTimed;
  private long turnDueNanos;
  private boolean turnOver;
  private boolean ended;
  private int partialHeadBytes;
  private int tableBytes;
  private boolean headTimed;
  private long headDueNanos;

  /** @param headTimeout also for the initial SETTINGS */
  Http2FloodLimiter(Loop loop, Duration headTimeout, HeldRequestBytes.Share held) {
    this.loop = loop;
    this.headTimeout = headTimeout;
    this.budget = new FrameBudget(loop.nanoTime());
    this.errors = new FrameBudget(loop.nanoTime());
    this.headTimer = new ResettableTimer(loop, this::checkHead);
    this.partialHead = held.partialHead(() -> refuse(TOO_MANY_PARTIAL_HEADS));
    this.table = held.partialHead(() -> refuse(TOO_MANY_PARTIAL_HEADS));
  }

  private static Http2Exception error(Reason reason) {
    return Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, reason.what());
  }

  static Reason reason(Http2Exception error) {
    return Arrays.stream(Reason.values()).filter(one -> one.what().equals(error.getMessage()))
        .findFirst().orElse(Reason.OTHER_LIMIT);
  }

  void start(Http2CallerSession of) {
    session = of;
    awaitHead();
  }

  void wroteResponse(int bytes) {
    budget.earn(bytes);
  }

  /** Charges for the reset of a stream that had been open for a while. */
  void gaveUp() {
    budget.forgiveReset();
  }

  /** Charges for a reset that the caller made necessary. */
  void answeredError() {
    if (!ended && !errors.take(loop.nanoTime())) {
      refuse(TOO_MANY_CONTROL_FRAMES);
    }
  }

  @Override
  public boolean mayBegin(int type, int flags, int length) throws Http2Exception {
    if (framesLeft == 0 || ended || (type == Http2FrameTypes.HEADERS && isLate())) {
      endTurn();
      return false;
    }
    framesLeft--;
    headTimed &= type != Http2FrameTypes.HEADERS;
    if (FrameBudget.isCharged(type, flags, length) && !budget.take(loop.nanoTime())) {
      throw TOO_MANY_CONTROL_FRAMES;
    }
    return true;
  }

  /** Whether the turn has no time for another head; never for the first one. */
  private boolean isLate() {
    long now = loop.nanoTime();
    if (!turnTimed) {
      turnTimed = true;
      turnDueNanos = now + TURN_NANOS;
    }
    return now - turnDueNanos >= 0;
  }

  private void beginTurn() {
    turnTimed = false;
    framesLeft = FRAMES_PER_TURN;
  }

  private void endTurn() {
    if (!turnOver && !ended) {
      turnOver = true;
      session().pauseReading();
      // Unlike an executed task, a scheduled one runs after other connections were read.
      loop.schedule(Duration.ZERO, this::nextTurn);
    }
  }

  boolean isTurnOver() {
    return turnOver;
  }

  private void nextTurn() {
    turnOver = false;
    beginTurn();
    if (!ended) {
      session().handleWaiting();
    }
  }

  @Override
  public void readEnds(int ofPartialHead, int ofTable) {
    partialHeadBytes = ofPartialHead;
    tableBytes = ofTable;
  }

  /** Everything that was read at once has been handled, or the turn is over. */
  void readCompletes() {
    if (!turnOver) {
      beginTurn();
    }
    if (!ended && tableBytes > 0) {
      table.grew(tableBytes);
    }
    if (ended || partialHeadBytes == 0) {
      partialHead.ended();
      return;
    }
    if (!headTimed) {
      headTimed = true;
      // It began later than the head that ended in the same read.
      partialHead.ended();
      awaitHead();
    }
    partialHead.grew(HeldRequestBytes.costOfHead(partialHeadBytes, 0));
  }

  private void awaitHead() {
    headDueNanos = loop.nanoTime() + headTimeout.toNanos();
    headTimer.within(headTimeout);
  }

  private void checkHead() {
    if (ended) {
      return;
    }
    boolean opened = session().decoder().prefaceReceived();
    long left = headDueNanos - loop.nanoTime();
    if (opened && partialHeadBytes == 0) {
      return;
    }
    if (left > 0) {
      headTimer.within(left);
    } else if (opened) {
      refuse(HEAD_TOO_SLOW);
    } else {
      session().closeUnopened();
    }
  }

  private void refuse(Http2Exception why) {
    ended = true;
    session().refuse(why);
  }

  private Http2CallerSession session() {
    if (session == null) {
      throw new IllegalStateException("not in a pipeline yet");
    }
    return session;
  }

  /** The connection has ended. */
  void close() {
    ended = true;
    headTimer.cancel();
    partialHead.ended();
    table.ended();
  }
}
