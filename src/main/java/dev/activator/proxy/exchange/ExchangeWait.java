package dev.activator.proxy.exchange;

import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.util.concurrent.TimeUnit;

/**
 * The limits of a request's wait in its revision's queue, which the throttler has: how long it may last, and what
 * {@link WaitPolicy} gives the request instead. Made each time a request is queued; a request that runs at once has none.
 *
 * <p><b>Threads.</b> Confined to the request's loop.
 */
final class ExchangeWait {
  /** How often a queued request checks whether a pod is left. */
  private static final long RECHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Exchange exchange;
  private final QueueEntry entry;
  /** The age of the request at which {@link WaitPolicy} decides. */
  private long policyDueNanos = DeadlineCalculator.NONE;
  /** Whether {@link WaitPolicy} decides at the end of the current step, which is then no timeout. */
  private boolean policyIsNext;

  ExchangeWait(Exchange exchange, QueueEntry entry) {
    this.exchange = exchange;
    this.entry = entry;
  }

  QueueEntry entry() {
    return entry;
  }

  /** Call once. The wait may be over when this returns. */
  void begin() {
    exchange.queued();
    exchange.body().countIn(entry, HeldRequestBytes.ofHead(exchange.request()));
    long policy = policyNanos(exchange);
    decideAfter(policy == 0 ? RECHECK_NANOS : policy);
    if (policy == 0 && !start().ready() && left() > 0) {
      decide();
      return;
    }
    exchange.transferBody();
  }

  /** The time to the caller's deadline, or to the end of the wait as far as it is known now. */
  private long left() {
    long passed = exchange.passedNanos();
    return Math.min(entry.limits().left(passed, entry.podsNanos()), exchange.callerNanosLeft());
  }

  /** Lets {@link WaitPolicy} decide after this time, unless the time in the queue ends before. */
  private void decideAfter(long nanos) {
    policyDueNanos = nanos == DeadlineCalculator.NONE ? nanos : exchange.passedNanos() + nanos;
    limitStep();
  }

  private void limitStep() {
    long passed = exchange.passedNanos();
    long queue = Math.min(entry.limits().untilCheck(passed, entry.podsNanos()),
        exchange.callerNanosLeft());
    long policy = policyDueNanos == DeadlineCalculator.NONE
        ? policyDueNanos
        : policyDueNanos - passed;
    policyIsNext = policy < queue;
    long step = Math.min(policy, queue);
    if (step != DeadlineCalculator.NONE) {
      exchange.limitStep(Math.max(0, step));
    }
  }

  /** Whether the time in the queue is over. */
  boolean isOver() {
    return !policyIsNext && exchange.deadlines.stepNanosLeft() <= 0 && left() <= 0;
  }

  void stepTimedOut() {
    if (policyIsNext) {
      decide();
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

  /** Gives the request what the policy decides. If a pod is up, keeps the request queued. */
  private void decide() {
    policyIsNext = false;
    var start = start();
    if (start.ready()) {
      decideAfter(RECHECK_NANOS);
      return;
    }
    var dispatcher = exchange.dispatcher;
    var revision = exchange.serving();
    // A stand-in is queued before this request leaves the queue, so that the start goes on.
    var starts = dispatcher.seams().starts();
    switch (dispatcher.seams().waitPolicy().decide(request(exchange), start,
        entry.retryAfterSeconds())) {
      case WaitPolicy.Unchanged() -> {
        decideAfter(DeadlineCalculator.NONE);
        exchange.transferBody();
      }
      case WaitPolicy.Answer(var answer, var outcome) -> {
        starts.keep(dispatcher, revision, exchange, outcome, answer.status());
        exchange.answerWith(answer, outcome);
      }
      case WaitPolicy.Redirect(var other) -> {
        starts.keep(dispatcher, revision);
        exchange.leaveQueue();
        entry.giveUp();
        exchange.handTo(other);
      }
    }
  }

  StartStatus start() {
    return exchange.dispatcher.seams().starts().of(exchange.serving());
  }

  /** How long a request may be queued before its caller's deadline makes the wait useless. */
  static long maxNanos(Exchange exchange) {
    long left = exchange.callerNanosLeft();
    // A request that gets a page or a fallback before its deadline need not wait for the start.
    return policyNanos(exchange) < left ? DeadlineCalculator.NONE : left;
  }

  /** Gives a request what it gets when the throttler has ended its wait. */
  static void rejected(Exchange exchange, Rejection reason) {
    var seams = exchange.dispatcher.seams();
    var decision = reason instanceof Rejection.CannotStart && !exchange.hasFallenBack()
        ? seams.waitPolicy().cannotStart(request(exchange))
        : new WaitPolicy.Unchanged();
    switch (decision) {
      case WaitPolicy.Unchanged() -> exchange.fail(seams.starts().failure(reason));
      case WaitPolicy.Answer(var answer, var outcome) -> exchange.answerWith(answer, outcome);
      case WaitPolicy.Redirect(var other) -> exchange.handTo(other);
    }
  }

  private static long policyNanos(Exchange exchange) {
    return exchange.hasFallenBack()
        ? DeadlineCalculator.NONE
        : exchange.dispatcher.seams().waitPolicy().afterNanos(request(exchange));
  }

  /** A gateway sends its request to its own Service, so it cannot be redirected. */
  private static WaitPolicy.Request request(Exchange exchange) {
    return new WaitPolicy.Request(exchange.servingSpec(), exchange.method(), exchange.fields(),
        exchange.dispatcher.seams().delivery() == null);
  }
}
