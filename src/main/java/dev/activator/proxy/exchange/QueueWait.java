package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.util.concurrent.TimeUnit;

/**
 * A request's wait in its revision's queue: how long it may last, and what {@link Hold} gives the
 * request instead. Made each time a request is queued; a request that runs at once has none.
 *
 * <p><b>Threads.</b> Confined to the request's loop.
 */
final class QueueWait {
  /** How often a queued request checks whether a pod is left. */
  private static final long RECHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Exchange exchange;
  private final QueueEntry entry;
  /** The age of the request at which {@link Hold} decides. */
  private long holdDueNanos = DeadlineCalculator.NONE;
  /** Whether {@link Hold} decides at the end of the current step, which is then no timeout. */
  private boolean holdEnds;

  QueueWait(Exchange exchange, QueueEntry entry) {
    this.exchange = exchange;
    this.entry = entry;
  }

  QueueEntry entry() {
    return entry;
  }

  /** Call once. The wait may be over when this returns. */
  void begin() {
    exchange.queued();
    exchange.body().countIn(entry, HeaderFieldList.bytesInMemory(exchange.request()));
    long hold = holdNanos(exchange);
    holdFor(hold == 0 ? RECHECK_NANOS : hold);
    if (hold == 0 && !start().ready() && left() > 0) {
      endHold();
      return;
    }
    exchange.transferBody();
  }

  /** The time to the caller's deadline, or to the end of the wait as far as it is known now. */
  private long left() {
    long passed = exchange.passedNanos();
    return Math.min(entry.limits().left(passed, entry.podsNanos()), exchange.callerNanosLeft());
  }

  /** Lets {@link Hold} decide after this time, unless the time in the queue ends before. */
  private void holdFor(long nanos) {
    holdDueNanos = nanos == DeadlineCalculator.NONE ? nanos : exchange.passedNanos() + nanos;
    limitStep();
  }

  private void limitStep() {
    long passed = exchange.passedNanos();
    long queue = Math.min(entry.limits().untilCheck(passed, entry.podsNanos()),
        exchange.callerNanosLeft());
    long hold = holdDueNanos == DeadlineCalculator.NONE ? holdDueNanos : holdDueNanos - passed;
    holdEnds = hold < queue;
    long step = Math.min(hold, queue);
    if (step != DeadlineCalculator.NONE) {
      exchange.limitStep(Math.max(0, step));
    }
  }

  /** Whether the time in the queue is over. */
  boolean isOver() {
    return !holdEnds && exchange.deadlines.stepNanosLeft() <= 0 && left() <= 0;
  }

  void stepTimedOut() {
    if (holdEnds) {
      endHold();
    } else if (left() > 0) {
      limitStep();
    } else {
      timedOut();
    }
  }

  void timedOut() {
    exchange.timedOut(DeadlineCalculator.overInQueue(exchange.callerNanos(),
        exchange.passedNanos(), entry.limits().isForStart(entry.podsNanos())));
  }

  /** Gives the request what its hold decides. If a pod is up, keeps the request queued. */
  private void endHold() {
    holdEnds = false;
    var start = start();
    if (start.ready()) {
      holdFor(RECHECK_NANOS);
      return;
    }
    var dispatcher = exchange.dispatcher;
    var revision = exchange.currentLive();
    // A stand-in is queued before this request leaves the queue, so that the start goes on.
    var starts = dispatcher.seams().starts();
    switch (dispatcher.seams().hold().passed(held(exchange), start, entry.retryAfterSeconds())) {
      case Hold.Unchanged() -> {
        holdFor(DeadlineCalculator.NONE);
        exchange.transferBody();
      }
      case Hold.Answer(var answer, var outcome) -> {
        starts.keep(dispatcher, revision, exchange, outcome, answer.status());
        exchange.answerWith(answer, outcome);
      }
      case Hold.Redirect(var other) -> {
        starts.keep(dispatcher, revision);
        exchange.leaveQueue();
        entry.giveUp();
        exchange.handTo(other);
      }
    }
  }

  StartStatus start() {
    return exchange.dispatcher.seams().starts().of(exchange.currentLive());
  }

  /** How long a request may be queued before its caller's deadline makes the wait useless. */
  static long maxNanos(Exchange exchange) {
    long left = exchange.callerNanosLeft();
    // A request that gets a page or a fallback before its deadline need not wait for the start.
    return holdNanos(exchange) < left ? DeadlineCalculator.NONE : left;
  }

  /** What a request gets whose wait the throttler has ended. */
  static Hold.End rejected(Exchange exchange, Rejection reason) {
    return reason instanceof Rejection.CannotStart && !exchange.hasFallenBack()
        ? exchange.dispatcher.seams().hold().cannotStart(held(exchange))
        : new Hold.Unchanged();
  }

  private static long holdNanos(Exchange exchange) {
    return exchange.hasFallenBack()
        ? DeadlineCalculator.NONE
        : exchange.dispatcher.seams().hold().afterNanos(held(exchange));
  }

  /** A gateway sends its request to its own Service, so it cannot be redirected. */
  private static Hold.Held held(Exchange exchange) {
    return new Hold.Held(exchange.currentRevision(), exchange.method(), exchange.fields(),
        exchange.dispatcher.seams().delivery() == null);
  }
}
