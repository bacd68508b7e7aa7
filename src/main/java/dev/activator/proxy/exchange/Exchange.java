package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.proxy.policy.TimeoutKind;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.upstream.PodConnectionPools;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.ThrottleDecision;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state machine of one request and its response: queued, forwarding once it has a permit, and
 * queued again if the pod cannot be reached. Every end counts the request out once, and releases
 * its permit or its place in the queue.
 *
 * <p>Two timeouts apply at a time: that of the whole request, and that of the current step (queue,
 * connect, wait for a 100).
 *
 * <p><b>Source.</b> {@code activationHandler} and {@code timeoutHandler} in Knative.
 */
public final class Exchange extends ObservedHttpRequest implements QueuedCaller {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);
  /** The status in the log for a caller that went away, as in nginx. */
  private static final int CLIENT_CLOSED_REQUEST = 499;
  private static final int SWITCHING_PROTOCOLS = 101;
  /** How often a queued request checks whether a pod is left. */
  private static final long RECHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How far the request has come; that of an exchange that has ended is where it was then. */
  private enum Stage {
    ARRIVED,
    QUEUED,
    /** It has a permit. */
    RUNNING
  }

  private final Downstream downstream;
  private final Router.ToRevision route;
  private Stage stage = Stage.ARRIVED;
  /** The revision that the request has fallen back to. */
  private @Nullable Revision fallenBackTo;
  /** Whether the request was ever queued. */
  private boolean waited;
  private int retries;
  private long grantedNanos;
  /** 0 if the connection was already open. */
  private long connectedNanos;
  private @Nullable Destination destination;
  /** The status of the pod's response; 0 before the response. */
  private int responseStatus;
  /** The part of the request's body that is not forwarded yet. */
  private @Nullable RequestBuffer body;
  private @Nullable QueueEntry queueEntry;
  private @Nullable Forwarder forwarder;
  private final RequestDeadlines deadlines = new RequestDeadlines(this);
  /** Whether {@link Hold} decides at the end of the current step, which is then no timeout. */
  private boolean holdEnds;
  /** An upgraded connection that is watched. */
  private TunnelWatcher.@Nullable Tunnel tunnel;
  private boolean ended;

  Exchange(LoopContext context, Downstream downstream, HttpRequest request,
      Router.ToRevision route) {
    super(context, downstream.caller(), request, route);
    this.downstream = downstream;
    this.route = route;
  }

  /** The revision that gets the request; another one than {@link #revision} after a fallback. */
  public Revision currentRevision() {
    return fallenBackTo == null ? route.revision() : fallenBackTo;
  }

  void start() {
    saw(Step.ARRIVED);
    var instead = route.instead();
    if (instead == null) {
      context.counter().arrived(currentRevision().id());
    } else if (instead.always()) {
      answerInstead();
      return;
    }
    downstream.checkAt(arrivedNanos()
        + DeadlineCalculator.leftBeforeWrite(currentRevision().timeouts(), 0));
    admit();
  }

  private void admit() {
    ThrottleDecision admission;
    try {
      admission = context.throttle().apply(currentRevision(), this);
    } catch (RuntimeException e) {
      log.error("Admitting a request of {} failed", currentRevision().id(), e);
      fail(new RequestFailure.Internal());
      return;
    }
    switch (admission) {
      case Permit now -> forward(now);
      case ThrottleDecision.NoRoom _ -> answerInstead();
      case QueueEntry later -> {
        boolean full = context.memory().held().isFull(later.heldBytes());
        queue(later);
        if (full && queueEntry == later) {
          log.debug("Too many bytes are held to queue another request of {}",
              currentRevision().id());
          fail(new RequestFailure.MemoryFull(later.retryAfterSeconds()));
        }
      }
    }
  }

  /** Gives the answer of a request that may not wait. */
  public void answerInstead() {
    var instead = Objects.requireNonNull(route.instead());
    answerWith(instead.answer(), instead.outcome());
  }

  private void queue(QueueEntry later) {
    if (stage != Stage.QUEUED) {
      stage = Stage.QUEUED;
      waited = true;
      saw(Step.QUEUED);
    }
    queueEntry = later;
    body().countIn(later, HeaderFieldList.bytesInMemory(request()));
    limitQueueing(later);
    long hold = holdNanos();
    if (hold == 0 && !startStatus().ready() && deadlines.stepNanosLeft() > 0) {
      endHold(later);
      return;
    }
    holdFor(hold == 0 ? RECHECK_NANOS : hold);
    transferBody();
  }

  /** Lets {@link Hold} decide after this time, unless the time in the queue ends before. */
  private void holdFor(long nanos) {
    holdEnds = deadlines.stepNanosLeft() > nanos;
    if (holdEnds) {
      limitStep(nanos);
    }
  }

  private long holdNanos() {
    return hasFallenBack()
        ? DeadlineCalculator.NONE
        : context.seams().hold().afterNanos(held());
  }

  /** A gateway sends its request to its own Service, so it cannot be redirected. */
  private Hold.Held held() {
    return new Hold.Held(currentRevision(), method(), fields(), context.seams().delivery() == null);
  }

  private void limitQueueing(QueueEntry later) {
    long limit = DeadlineCalculator.inQueue(later.timeout(), callerNanos());
    if (limit != DeadlineCalculator.NONE) {
      limitStep(Math.max(0, limit - passedNanos()));
    }
  }

  private StartStatus startStatus() {
    return context.seams().starts().of(currentRevision());
  }

  /** Gives the request what its hold decides. If a pod is up, keeps the request queued. */
  private void endHold(QueueEntry waiting) {
    holdEnds = false;
    var start = startStatus();
    if (start.ready()) {
      limitQueueing(waiting);
      holdFor(RECHECK_NANOS);
      return;
    }
    // A stand-in is queued before this request leaves the queue, so that the start goes on.
    var starts = context.seams().starts();
    switch (context.seams().hold().passed(held(), start, waiting.retryAfterSeconds())) {
      case Hold.Wait() -> {
        limitQueueing(waiting);
        transferBody();
      }
      case Hold.Answer(var answer, var outcome) -> {
        starts.keep(context, currentRevision(), this, outcome, answer.status());
        answerWith(answer, outcome);
      }
      case Hold.Redirect(var other) -> {
        starts.keep(context, currentRevision());
        leaveQueue();
        waiting.giveUp();
        handTo(other);
      }
    }
  }

  private void answerWith(LocalResponse answer, RequestOutcome how) {
    end();
    endedWith(answer, how);
    downstream.answer(answer);
    downstream.ended();
  }

  /** Hands the whole request to another revision; nothing of it was sent before. */
  private void handTo(Revision other) {
    context.counter().left(currentRevision().id());
    fallenBackTo = other;
    context.counter().arrived(other.id());
    downstream.checkAt(arrivedNanos()
        + DeadlineCalculator.leftBeforeWrite(other.timeouts(), passedNanos()));
    admit();
    if (!ended) {
      flushUpstream();
    }
  }

  /** The Service that a mesh routes by; null where pods are reached by their own addresses. */
  @Nullable String service() {
    return fallenBackTo == null
        ? route.service()
        : context.router().service(fallenBackTo.id());
  }

  private void leaveQueue() {
    queueEntry = null;
    holdEnds = false;
    body().countOut();
    stepDone();
  }

  @Override
  public Loop loop() {
    return context.loop();
  }

  @Override
  public long maxWaitNanos() {
    long left = callerNanosLeft();
    // A request that gets a page or a fallback before its deadline need not wait for the start.
    return holdNanos() < left ? DeadlineCalculator.NONE : left;
  }

  @Override
  public boolean mayWait() {
    return route.instead() == null;
  }

  @Override
  public String from() {
    return peer();
  }

  /** Nothing was sent, and the request may not wait for another pod. */
  void answerUndelivered(String kind) {
    failed(kind);
    answerInstead();
  }

  @Override
  public void granted(Permit granted) {
    if (ended) {
      granted.release(Ending.UNCOUNTED);
      return;
    }
    boolean tooLate = !holdEnds && deadlines.stepNanosLeft() <= 0;
    leaveQueue();
    if (tooLate) {
      granted.release(Ending.ABANDONED);
      queueTimedOut();
    } else {
      forward(granted);
      flushUpstream();
    }
  }

  @Override
  public void rejected(Rejection reason) {
    if (ended) {
      return;
    }
    leaveQueue();
    var end = reason instanceof Rejection.CannotStart && !hasFallenBack()
        ? context.seams().hold().cannotStart(held())
        : new Hold.Wait();
    switch (end) {
      case Hold.Wait() -> fail(context.seams().starts().failure(reason));
      case Hold.Answer(var answer, var outcome) -> answerWith(answer, outcome);
      case Hold.Redirect(var other) -> handTo(other);
    }
  }

  private void forward(Permit granted) {
    var delivery = context.seams().delivery();
    if (delivery != null) {
      delivery.deliver(this, granted);
      return;
    }
    // Set before anything can fail, because from here on the forwarder releases the permit.
    var to = new Forwarder(this, granted);
    forwarder = to;
    try {
      running(context.pools().address(granted.destination(), currentRevision().id()));
      to.start();
    } catch (RuntimeException e) {
      if (ended) {
        throw e;
      }
      log.error("Forwarding a request of {} failed", currentRevision().id(), e);
      fail(new RequestFailure.Internal());
    }
  }

  /** @param to over TLS the port differs from that of the pod */
  private void running(Destination to) {
    grantedNanos = waited ? now() : arrivedNanos();
    connectedNanos = 0;
    stage = Stage.RUNNING;
    destination = to;
    failed(null);
    saw(Step.GRANTED);
    saw(Step.FORWARDING);
  }

  /** Call only for a new connection. */
  void connected() {
    stepDone();
    connectedNanos = now();
  }

  /** Ends the exchange with this answer, but does not count it out: its {@link Delivery} does. */
  public void endUncounted(LocalResponse answer, RequestOutcome how) {
    ended = true;
    release();
    endedWith(answer, how);
    downstream.answer(answer);
    downstream.ended();
  }

  /** Queues the request again for another pod, because nothing was sent. */
  void queueAgain(String kind, QueueEntry again) {
    forwarder = null;
    retries++;
    failed(kind);
    saw(Step.UNDELIVERED);
    queue(again);
  }

  PodConnectionPools pools() {
    return context.pools();
  }

  RequestBuffer newBuffer() {
    return new RequestBuffer(context.memory().held());
  }

  RequestBuffer body() {
    if (body == null) {
      body = newBuffer();
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
    if (queueEntry == null && !holdsBody()) {
      // An empty buffer never exceeds the window, so the bytes of all loops need not be added up.
      downstream.resumeReading();
      return;
    }
    int window = queueEntry == null
        ? context.memory().held().windowWhileForwarding()
        : context.memory().held().windowWhileQueued(queueEntry.heldBytes());
    if ((body == null ? 0 : body.bytes()) >= window) {
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

  void sendContinue() {
    downstream.interim(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
    downstream.flush();
  }

  void interim(HttpResponse head) {
    deadlines.wrote();
    downstream.interim(head);
    downstream.flush();
  }

  void head(HttpResponse head) {
    stepDone();
    deadlines.wrote();
    responseStatus = head.status().code();
    boolean switched = hasSwitched();
    // Those of the revision that the request was sent to, also after a fallback.
    boolean timed = !switched && RequestPhases.areShown(route.revision());
    if (timed) {
      time();
    }
    responseBegins();
    if (timed) {
      head.headers().add(RequestPhases.SERVER_TIMING, phases().serverTiming());
    }
    downstream.head(head);
    // The exchange has ended if there was no memory for the head.
    if (switched && !ended) {
      downstream.flush();
      if (mayWait()) {
        tunnel = context.seams().tunnels().opened(this);
      }
    }
  }

  public boolean isPodWithdrawn() {
    return forwarder != null && forwarder.isPodWithdrawn();
  }

  public void goAway() {
    downstream.goAway();
  }

  void respond(HttpContent part) {
    boolean last = part instanceof LastHttpContent;
    deadlines.wrote();
    bytesPassed(part);
    wrote(part.content().readableBytes());
    downstream.content(part);
    if (ended) {
      // The write failed because the caller's connection has just ended.
      return;
    }
    if (last) {
      closeIfSilent();
      end();
      // A 101 counts as a 200, as in Go's servers.
      ended(hasSwitched() ? RequestOutcome.UPGRADED : RequestOutcome.ANSWERED,
          hasSwitched() ? 200 : responseStatus);
      downstream.drainWithin(deadlines.idleNanos());
      downstream.ended();
    } else if (!downstream.isWritable()) {
      downstreamWritabilityChanged();
    }
  }

  void flushDownstream() {
    downstream.flush();
  }

  private void bytesPassed(HttpContent part) {
    if (tunnel != null && part.content().isReadable()) {
      tunnel.bytesPassed();
    }
  }

  /**
   * Sends a Close frame to the caller of a silent WebSocket, because a stopped pod may end without
   * one.
   */
  private void closeIfSilent() {
    if (tunnel != null && tunnel.isSilent()) {
      downstream.goAway();
    }
  }

  public void limitStep(long nanos) {
    downstream.checkAt(deadlines.limitStep(nanos));
  }

  void stepDone() {
    deadlines.stepDone();
  }

  public long passedNanos() {
    return now() - arrivedNanos();
  }

  /** Returns the time to the next deadline, or {@link Long#MAX_VALUE}. */
  public long checkDeadlines() {
    if (ended) {
      return Long.MAX_VALUE;
    }
    long step = deadlines.stepNanosLeft();
    long whole = deadlines.wholeNanosLeft();
    if (step <= 0 && step < whole) {
      stepTimedOut();
    } else if (whole <= 0) {
      timedOut(deadlines.wholeTimeout());
    }
    return ended
        ? Long.MAX_VALUE
        : Math.max(0, Math.min(deadlines.stepNanosLeft(), deadlines.wholeNanosLeft()));
  }

  private void stepTimedOut() {
    stepDone();
    if (queueEntry != null && holdEnds) {
      endHold(queueEntry);
    } else if (queueEntry != null) {
      queueTimedOut();
    } else if (forwarder != null) {
      forwarder.stepTimedOut();
    } else {
      // The request waits for its delivery.
      timedOut(TimeoutKind.CALLER);
    }
  }

  private void queueTimedOut() {
    timedOut(DeadlineCalculator.overInQueue(callerNanos(), passedNanos()));
  }

  void timedOut(TimeoutKind kind) {
    log.debug("A request of {} timed out: {}", currentRevision().id(), kind);
    abandon();
    fail(new RequestFailure.TimedOut(kind, queueEntry == null ? "" : startStatus().why()));
  }

  public void callerGone() {
    if (!ended) {
      log.debug("The caller of {} is gone", currentRevision().id());
      if (hasSwitched() && forwarder != null) {
        forwarder.sendLast();
      }
      abandon();
      end();
      ended(RequestOutcome.CALLER_GONE, CLIENT_CLOSED_REQUEST);
    }
  }

  public void endUnread() {
    log.debug("A response of {} is not read", currentRevision().id());
    fail(new RequestFailure.Unread());
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
      downstream.abort();
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
        context.counter().left(currentRevision().id());
      }
    }
  }

  private void release() {
    try {
      var queued = queueEntry;
      if (queued != null) {
        leaveQueue();
        queued.giveUp();
      }
      if (forwarder != null) {
        forwarder.stop();
      }
      var delivery = context.seams().delivery();
      if (delivery != null) {
        delivery.ended(this);
      }
    } finally {
      if (body != null) {
        body.clear();
      }
    }
  }

  private boolean hasSwitched() {
    return responseStatus == SWITCHING_PROTOCOLS;
  }

  // What observers read.

  @Override
  public boolean hasFallenBack() {
    return fallenBackTo != null;
  }

  @Override
  public long grantedNanos() {
    return grantedNanos;
  }

  @Override
  public long connectedNanos() {
    return connectedNanos;
  }

  @Override
  public int responseStatus() {
    return responseStatus;
  }

  @Override
  public int retries() {
    return retries;
  }

  @Override
  public boolean isQueued() {
    return stage == Stage.QUEUED;
  }

  @Override
  public boolean isRunning() {
    return stage == Stage.RUNNING;
  }

  @Override
  public boolean waited() {
    return waited;
  }

  @Override
  public @Nullable Destination destination() {
    return destination;
  }
}
