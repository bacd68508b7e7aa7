package dev.activator.proxy;

import dev.activator.http.FrameBudget;
import dev.activator.http.Http2Setup.FrameGuard;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.AbusiveConnectionCounter.Reason;
import dev.activator.proxy.exchange.HeldRequestBytes;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Limits what an HTTP/2 caller may cost beyond its turns: control frames, errors, the time and
 * memory of an incomplete head.
 *
 * <p><b>Errors.</b> Ends the connection with ENHANCE_YOUR_CALM.
 */
final class Http2FloodLimiter implements FrameGuard {
  private static final Http2Exception HEAD_TOO_SLOW = error(Reason.SLOW_HEAD);
  private static final Http2Exception TOO_MANY_PARTIAL_HEADS = error(Reason.PARTIAL_HEADS);

  private final FrameBudget budget;
  /**
   * The budget for frames with errors. It is separate because some of them are also charged to
   * {@link #budget}.
   */
  private final FrameBudget errors;
  private final ResettableTimer headTimer;
  private final IncompleteHead head;
  private final HeldRequestBytes.PartialHead table;
  private @Nullable Http2CallerSession session;
  private boolean ended;
  private int partialHeadBytes;
  private int tableBytes;
  private boolean headTimed;

  /** @param headTimeout the timeout for a head, and for the initial SETTINGS */
  Http2FloodLimiter(Loop loop, Duration headTimeout, HeldRequestBytes.Share held) {
    this.budget = new FrameBudget(loop);
    this.errors = new FrameBudget(loop);
    this.headTimer = new ResettableTimer(loop, this::checkHead);
    this.head = new IncompleteHead(loop, headTimeout, headTimer, held,
        () -> refuse(TOO_MANY_PARTIAL_HEADS));
    this.table = held.partialHead(() -> refuse(TOO_MANY_PARTIAL_HEADS));
  }

  private static Http2Exception error(Reason reason) {
    return Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, reason.description());
  }

  static Reason reason(Http2Exception error) {
    return Arrays.stream(Reason.values())
        .filter(one -> one.description().equals(error.getMessage()))
        .findFirst().orElse(Reason.OTHER_LIMIT);
  }

  void start(Http2CallerSession of) {
    session = of;
    head.await();
  }

  void wroteResponse(int bytes) {
    budget.earn(bytes);
  }

  /** Does not charge for the caller's reset of a stream that was open for a while. */
  void forgiveReset() {
    budget.forgiveReset();
  }

  /** Charges for an error of the caller that is answered with a reset. */
  void answeredError() {
    if (!ended && !errors.take()) {
      refuse(FrameBudget.TOO_MANY);
    }
  }

  @Override
  public boolean mayBegin(int type, int flags, int length) throws Http2Exception {
    if (ended) {
      return false;
    }
    headTimed &= type != Http2FrameTypes.HEADERS;
    budget.charge(type, flags, length);
    return true;
  }

  @Override
  public void readEnds(int ofPartialHead, int ofTable) {
    partialHeadBytes = ofPartialHead;
    tableBytes = ofTable;
  }

  /** Call when all bytes of a read are handled, or when the turn is over. */
  void readCompletes() {
    if (!ended && tableBytes > 0) {
      table.grew(tableBytes);
    }
    if (ended || partialHeadBytes == 0) {
      head.ended();
      return;
    }
    if (!headTimed) {
      headTimed = true;
      // This head began after another one ended in the same read, so it counts as newer.
      head.ended();
      head.await();
    }
    head.grew(partialHeadBytes, 0);
  }

  private void checkHead() {
    if (ended) {
      return;
    }
    boolean opened = session().decoder().prefaceReceived();
    if (opened && partialHeadBytes == 0 || !head.isLate()) {
      return;
    }
    if (opened) {
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

  void close() {
    ended = true;
    headTimer.cancel();
    head.ended();
    table.ended();
  }
}
