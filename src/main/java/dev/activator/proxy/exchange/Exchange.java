package dev.activator.proxy.exchange;

import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.exchange.Seams.Delivery;
import dev.activator.proxy.exchange.Seams.TunnelWatcher;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.revision.LiveRevision;
import dev.activator.throttle.PodChoice;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state machine of one request and its response: queued, forwarding once it has a permit, and
 * queued again if the pod cannot be reached. Every end counts the request out once, and releases
 * its permit or its place in the queue.
 *
 * <p><b>Source.</b> {@code activationHandler} and {@code timeoutHandler} in Knative.
 */
public final class Exchange extends ObservedHttpRequest implements QueuedCaller {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);
  /** The status in the log for a caller that went away, as in nginx. */
  private static final int CLIENT_CLOSED_REQUEST = 499;

  final Downstream downstream;
  /** The part of the request's body that is not forwarded yet. */
  private @Nullable RequestBuffer body;
  /** Null unless the request is queued. */
  private @Nullable ExchangeWait queued;
  private @Nullable Forwarder forwarder;
  final RequestDeadlines deadlines = new RequestDeadlines(this);
  private TunnelWatcher.@Nullable Tunnel tunnel;
  private boolean ended;

  Exchange(RequestDispatcher dispatcher, Downstream downstream, HttpRequest request,
      Router.ToRevision route) {
    super(dispatcher, downstream.caller(), request, route);
    this.downstream = downstream;
  }

  void start() {
    saw(Step.ARRIVED);
    var instead = route().instead();
    if (instead == null) {
      countIn();
    } else if (instead.always()) {
      answerInstead();
      return;
    }
    admit();
  }

  private void admit() {
    downstream.checkAt(arrivedNanos()
        + DeadlineCalculator.leftBeforeWrite(servingSpec().timeouts(), 0));
    ThrottleDecision admission;
    try {
      admission = dispatcher.throttle().apply(serving(), this);
    } catch (RuntimeException e) {
      log.error("Admitting a request of {} failed", servingSpec().id(), e);
      fail(RequestFailure.internal());
      return;
    }
    switch (admission) {
      case Permit now -> forward(now);
      case ThrottleDecision.NoRoom _ -> answerInstead();
      case QueueEntry later -> {
        boolean full = dispatcher.held().isFull(later.heldBytes());
        queue(later);
        if (full && queued != null && queued.entry() == later) {
          log.debug("Too many bytes are held to queue another request of {}",
              servingSpec().id());
          fail(RequestFailure.memoryFull(later.retryAfterSeconds()));
        }
      }
    }
  }

  /** Gives the answer of a request that may not wait. */
  public void answerInstead() {
    var instead = Objects.requireNonNull(route().instead());
    answerWith(instead.answer(), instead.outcome());
  }

  private void queue(QueueEntry later) {
    queued = new ExchangeWait(this, later);
    queued.begin();
  }

  void answerWith(LocalResponse answer, RequestOutcome how) {
    end();
    answer(answer, how);
  }

  private void answer(LocalResponse answer, RequestOutcome how) {
    endedWith(answer, how);
    downstream.answer(answer);
    downstream.ended();
  }

  /** Hands the whole request to another revision; nothing of it was sent before. */
  void handTo(LiveRevision other) {
    count().left();
    fallBack(other);
    countIn();
    admit();
    if (!ended) {
      flushUpstream();
    }
  }

  void leaveQueue() {
    queued = null;
    body().countOut();
    deadlines.stepDone();
  }

  @Override
  public RequestTimeline timeline() {
    return this;
  }

  @Override
  public LiveRevision serving() {
    return currentRoute().live();
  }

  @Override
  public @Nullable PodChoice choice(@Nullable PodChoice ofRevision) {
    return downstream.choice(ofRevision);
  }

  @Override
  public long maxWaitNanos() {
    return ExchangeWait.maxNanos(this);
  }

  @Override
  public void granted(Permit granted) {
    if (ended) {
      granted.release(Ending.UNCOUNTED);
      return;
    }
    var wait = queued;
    if (wait != null && wait.isOver()) {
      leaveQueue();
      granted.release(Ending.ABANDONED);
      wait.timedOut();
    } else {
      leaveQueue();
      forward(granted);
      flushUpstream();
    }
  }

  @Override
  public void rejected(Rejection reason) {
    if (!ended) {
      leaveQueue();
      ExchangeWait.rejected(this, reason);
    }
  }

  private void forward(Permit granted) {
    var delivery = dispatcher.seams().delivery();
    if (delivery != null) {
      delivery.deliver(this, granted);
      return;
    }
    // Set before anything can fail, because from here on the forwarder releases the permit.
    var to = new Forwarder(this, granted);
    forwarder = to;
    try {
      granted(granted.isPod() ? granted.destination() : null, dispatcher.pools()
          .address(granted.destination(), serving(), granted.transport().identity()));
      saw(Step.FORWARDING);
      to.start();
    } catch (RuntimeException e) {
      if (ended) {
        throw e;
      }
      log.error("Forwarding a request of {} failed", servingSpec().id(), e);
      fail(RequestFailure.internal());
    }
  }

  /**
   * Call when a {@link Delivery} has given the request to a pod. It then passes on the response, by
   * {@link #head} and {@link #respond}, as far as it sees one.
   */
  public void delivered(Permit permit) {
    granted(permit.isPod() ? permit.destination() : null, permit.destination());
    saw(Step.FORWARDING);
  }

  /** Ends the exchange with this answer, but does not count it out: its {@link Delivery} does. */
  public void endUncounted(LocalResponse answer, RequestOutcome how) {
    ended = true;
    release();
    answer(answer, how);
  }

  /** Queues the request again for another pod, because nothing was sent. */
  void queueAgain(String kind, QueueEntry again) {
    forwarder = null;
    undelivered(kind);
    queue(again);
  }

  RequestBuffer body() {
    if (body == null) {
      body = new RequestBuffer(dispatcher.held());
    }
    return body;
  }

  boolean holdsBody() {
    return body != null && !body.isEmpty();
  }

  public void content(HttpContent part) {
    read(part.content().readableBytes());
    if (hasSwitched()) {
      // Bytes in either direction reset the idle timeout.
      deadlines.wrote();
      bytesPassed(part);
    }
    if (forwarder != null && !holdsBody() && forwarder.takes(part)) {
      forwarder.send(part);
    } else {
      body().add(part);
    }
    transferBody();
  }

  void transferBody() {
    if (forwarder != null) {
      forwarder.sendBody();
    }
    if (ended) {
      return;
    }
    if (body != null && body.isWindowFull()) {
      downstream.pauseReading();
    } else {
      downstream.resumeReading();
    }
  }

  public void flushUpstream() {
    if (forwarder != null) {
      forwarder.flush();
    }
  }

  public void downstreamWritabilityChanged() {
    if (forwarder != null) {
      forwarder.setReading(downstream.isWritable());
    }
  }

  void interim(HttpResponse head) {
    deadlines.wrote();
    downstream.interim(head);
  }

  public void head(HttpResponse head) {
    deadlines.stepDone();
    deadlines.wrote();
    responds(head);
    downstream.drainWithin(deadlines.idleNanos());
    downstream.head(head);
    // The exchange has ended if there was no memory for the head.
    if (hasSwitched() && !ended) {
      downstream.flush();
      if (mayWait()) {
        tunnel = dispatcher.seams().tunnels().opened(this);
      }
    }
  }

  public boolean isPodWithdrawn() {
    return forwarder != null && forwarder.isPodWithdrawn();
  }

  /** Whether bytes wait for a side of an upgraded connection that reads slowly. */
  public boolean hasUnsent() {
    return downstream.hasUnsent() || (forwarder != null && forwarder.hasUnsent());
  }

  public void goAway() {
    downstream.goAway();
  }

  public void respond(HttpContent part) {
    deadlines.wrote();
    bytesPassed(part);
    wrote(part.content().readableBytes());
    downstream.content(part);
    if (part instanceof LastHttpContent && waited()) {
      // In HTTP/1 the response is out before a cold start is recorded, by code that is cold, too.
      downstream.flush();
    }
    if (ended) {
      // The write failed because the caller's connection has just ended.
      return;
    }
    if (part instanceof LastHttpContent) {
      closeIfSilent();
      end();
      // A 101 counts as a 200, as in Go's servers.
      ended(hasSwitched() ? RequestOutcome.UPGRADED : RequestOutcome.ANSWERED,
          hasSwitched() ? 200 : responseStatus());
      downstream.drainWithin(deadlines.idleNanos());
      downstream.ended();
    } else if (!downstream.isWritable()) {
      downstreamWritabilityChanged();
    }
  }

  private void bytesPassed(HttpContent part) {
    if (tunnel != null && part.content().isReadable()) {
      tunnel.bytesPassed();
    }
  }

  /** Sends a Close frame to the caller of a silent WebSocket: a stopped pod may send none. */
  void closeIfSilent() {
    if (tunnel != null && tunnel.isSilent()) {
      downstream.goAway();
    }
  }

  public void limitStep(long nanos) {
    downstream.checkAt(deadlines.limitStep(nanos));
  }

  /** Returns the time to the next deadline, or {@link Long#MAX_VALUE}. */
  public long checkDeadlines() {
    if (!ended) {
      deadlines.check();
    }
    return ended ? Long.MAX_VALUE : deadlines.nanosLeft();
  }

  void stepTimedOut() {
    deadlines.stepDone();
    if (queued != null) {
      queued.stepTimedOut();
    } else if (forwarder != null) {
      forwarder.stepTimedOut();
    } else {
      // The request waits for its delivery.
      timedOut(RequestOutcome.CALLER_DEADLINE);
    }
  }

  void timedOut(RequestOutcome kind) {
    log.debug("A request of {} timed out: {}", servingSpec().id(), kind);
    abandon();
    fail(RequestFailure.timedOut(kind, queued == null ? "" : queued.start().why()));
  }

  public void callerGone() {
    if (!ended) {
      log.debug("The caller of {} is gone", servingSpec().id());
      if (hasSwitched() && forwarder != null) {
        forwarder.sendLast();
      }
      abandon();
      end();
      ended(RequestOutcome.CALLER_GONE, CLIENT_CLOSED_REQUEST);
    }
  }

  public void endUnread() {
    log.debug("A response of {} is not read", servingSpec().id());
    fail(RequestFailure.unread());
  }

  private void abandon() {
    if (forwarder != null) {
      forwarder.abandoned();
    }
  }

  /** Answers with the failure, or breaks off the response if it has begun. */
  public void fail(RequestFailure failure) {
    end();
    endedWith(failure);
    if (responded()) {
      closeIfSilent();
      downstream.abort(failure);
    } else {
      downstream.answer(failure, errorFormat());
      downstream.ended();
    }
  }

  private void end() {
    if (ended) {
      throw new IllegalStateException("the exchange has already ended");
    }
    ended = true;
    try {
      release();
    } finally {
      if (mayWait() && (tunnel == null || tunnel.end())) {
        count().left();
      }
    }
  }

  private void release() {
    try {
      var wait = queued;
      if (wait != null) {
        leaveQueue();
        wait.entry().giveUp();
      }
      if (forwarder != null) {
        forwarder.stop();
      }
      var delivery = dispatcher.seams().delivery();
      if (delivery != null) {
        delivery.ended(this);
      }
    } finally {
      if (body != null) {
        body.clear();
      }
    }
  }
}
