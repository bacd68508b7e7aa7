package dev.activator.proxy.exchange;

import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.policy.DeadlineCalculator;

/**
 * The two deadlines that apply to a request at a time: that of the whole request, and that of its
 * current step (queue, connect, wait for a 100). The first depends on whether anything was written
 * to the caller.
 *
 * <p><b>Threads.</b> Confined to the request's loop.
 *
 * <p><b>Units.</b> Nanoseconds of the loop's clock.
 *
 * <p><b>Source.</b> {@code timeoutHandler} in Knative; {@link DeadlineCalculator} decides.
 */
final class RequestDeadlines {
  private final Exchange exchange;
  private long stepDueNanos;
  private boolean stepLimited;
  private long lastWriteNanos;
  private boolean written;

  RequestDeadlines(Exchange exchange) {
    this.exchange = exchange;
  }

  /** Returns when the step is over. */
  long limitStep(long nanos) {
    stepLimited = true;
    stepDueNanos = exchange.now() + nanos;
    return stepDueNanos;
  }

  void stepDone() {
    stepLimited = false;
  }

  long stepNanosLeft() {
    return stepLimited ? stepDueNanos - exchange.now() : DeadlineCalculator.NONE;
  }

  void wrote() {
    written = true;
    if (!exchange.servingSpec().timeouts().idle().isZero()) {
      lastWriteNanos = exchange.now();
    }
  }

  long wholeNanosLeft() {
    var timeouts = exchange.servingSpec().timeouts();
    return written
        ? DeadlineCalculator.leftAfterWrite(timeouts, writingNanos(),
            exchange.now() - lastWriteNanos - marginNanos())
        : DeadlineCalculator.leftBeforeWrite(timeouts, exchange.passedNanos());
  }

  /** Which time of the whole request is over. */
  RequestOutcome wholeTimeout() {
    var timeouts = exchange.servingSpec().timeouts();
    return written
        ? DeadlineCalculator.overAfterWrite(timeouts, writingNanos())
        : DeadlineCalculator.overBeforeWrite(timeouts, exchange.passedNanos());
  }

  /** The age of a request whose response has begun, as counted for its timeouts. */
  private long writingNanos() {
    return exchange.servingSpec().hasQueueProxy()
        ? exchange.now() - exchange.grantedNanos() - marginNanos()
        : exchange.passedNanos();
  }

  private long marginNanos() {
    return exchange.servingSpec().hasQueueProxy() ? DeadlineCalculator.QUEUE_PROXY_MARGIN : 0;
  }

  void check() {
    long step = stepNanosLeft();
    long whole = wholeNanosLeft();
    if (step <= 0 && step < whole) {
      exchange.stepTimedOut();
    } else if (whole <= 0) {
      var over = wholeTimeout();
      if (over == RequestOutcome.IDLE_TIMEOUT && written
          && exchange.downstream.hasRead(idleNanos())) {
        wrote();
      } else {
        exchange.timedOut(over);
      }
    }
  }

  long nanosLeft() {
    return Math.max(0, Math.min(stepNanosLeft(), wholeNanosLeft()));
  }

  /** How long a caller may read nothing. */
  long idleNanos() {
    var timeouts = exchange.servingSpec().timeouts();
    return (timeouts.idle().isZero() ? timeouts.overall() : timeouts.idle()).toNanos();
  }
}
