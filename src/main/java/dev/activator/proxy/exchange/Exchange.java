package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.TimeoutKind;
import dev.activator.proxy.policy.WaitingPagePolicy;
import dev.activator.revision.Destination;
import dev.activator.revision.DoNotWakeRule;
import dev.activator.revision.ColdStartFallback;
import dev.activator.revision.ConfiguredResponse;
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
  /** The Retry-After of a fallback's 503, when a start has failed. */
  private static final int START_RETRY_SECONDS = 30;
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
  private long stepDueNanos;
  private boolean stepLimited;
  /** Whether the current step ends with a waiting page or a fallback, and not with a timeout. */
  private boolean holdEnds;
  private long lastWriteNanos;
  /** Whether anything was written to the caller, including the pod's 1xx responses. */
  private boolean written;
  /** Not null for an upgraded connection that is not counted while it is silent. */
  private TunnelActivityTracker.@Nullable Connection silence;
  private boolean ended;

  Exchange(RequestDispatcher dispatcher, Downstream downstream, HttpRequest request,
      Router.ToRevision route) {
    super(dispatcher, downstream.caller(), request, route);
    this.downstream = downstream;
    this.route = route;
  }

  /** The revision that gets the request; another one than {@link #revision} after a fallback. */
  Revision currentRevision() {
    return fallenBackTo == null ? route.revision() : fallenBackTo;
  }

  void start() {
    saw(Step.ARRIVED);
    var rule = route.rule();
    if (rule == null) {
      dispatcher.arrived(currentRevision());
    } else if (rule.always()) {
      answer(rule);
      return;
    }
    downstream.checkAt(arrivedNanos()
        + DeadlineCalculator.leftBeforeWrite(currentRevision().timeouts(), 0));
    admit();
  }

  private void admit() {
    ThrottleDecision admission;
    try {
      admission = dispatcher.admit(currentRevision(), this);
    } catch (RuntimeException e) {
      log.error("Admitting a request of {} failed", currentRevision().id(), e);
      fail(new RequestFailure.Internal());
      return;
    }
    switch (admission) {
      case Permit now -> forward(now);
      case ThrottleDecision.NoRoom _ -> answer(Objects.requireNonNull(route.rule()));
      case QueueEntry later -> {
        boolean full = dispatcher.held().isFull(later.heldBytes());
        queue(later);
        if (full && queueEntry == later) {
          log.debug("Too many bytes are held to queue another request of {}",
              currentRevision().id());
          fail(new RequestFailure.MemoryFull(later.retryAfterSeconds()));
        }
      }
    }
  }

  private void answer(DoNotWakeRule of) {
    finish(
        LocalResponse.of(of.answer()).with(RequestFailure.REASON,
            RequestOutcome.NOT_WOKEN.toString()),
        RequestOutcome.NOT_WOKEN);
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
    if (hold == 0 && isStarting() && stepNanosLeft() > 0) {
      endHold(later);
      return;
    }
    holdFor(hold == 0 ? RECHECK_NANOS : hold);
    transferBody();
  }

  /**
   * Sets the time of the page or the fallback, unless the request's time in the queue ends before.
   */
  private void holdFor(long nanos) {
    holdEnds = stepNanosLeft() > nanos;
    if (holdEnds) {
      limitStep(nanos);
    }
  }

  /**
   * How long the request waits for a permit before it gets the page or the fallback; {@link
   * DeadlineCalculator#NONE} if it gets neither.
   */
  private long holdNanos() {
    if (hasFallenBack()) {
      return DeadlineCalculator.NONE;
    }
    if (dispatcher.pages().isFor(this, currentRevision())) {
      return WaitingPagePolicy.HOLD.toNanos();
    }
    var fallback = fallback();
    return fallback == null ? DeadlineCalculator.NONE : fallback.after().toNanos();
  }

  private @Nullable ColdStartFallback fallback() {
    var rules = currentRevision().rules();
    var fallback = rules == null ? null : rules.fallback();
    // A gateway sends the request to its own Service, never to that of a fallback.
    return fallback != null && fallback.service() != null && dispatcher.handover() != null
        ? null
        : fallback;
  }

  private void limitQueueing(QueueEntry later) {
    long limit = DeadlineCalculator.inQueue(later.timeout(), callerNanos());
    if (limit != DeadlineCalculator.NONE) {
      limitStep(Math.max(0, limit - passedNanos()));
    }
  }

  private boolean isStarting() {
    return dispatcher.pages().isStarting(currentRevision());
  }

  /** Sends the page or falls back. If a pod is up, keeps the request queued. */
  private void endHold(QueueEntry waiting) {
    holdEnds = false;
    // A stand-in is queued before this request leaves the queue, so that the start goes on.
    var pages = dispatcher.pages();
    var fallback = fallback();
    if (!isStarting()) {
      limitQueueing(waiting);
      holdFor(RECHECK_NANOS);
    } else if (pages.isFor(this, currentRevision())) {
      finish(pages.page(dispatcher, this, currentRevision(), waiting.retryAfterSeconds()),
          RequestOutcome.WAITING_PAGE);
    } else if (fallback != null && fallback.answer() != null) {
      pages.keep(dispatcher, currentRevision(), this, RequestOutcome.FALLBACK,
          fallback.answer().status());
      answer(fallback.answer(), waiting.retryAfterSeconds());
    } else {
      redirect(waiting, fallback);
    }
  }

  private void answer(ConfiguredResponse ofFallback, int retryAfterSeconds) {
    finish(LocalResponse.of(ofFallback).withRetryAfter(retryAfterSeconds)
        .with(RequestFailure.REASON, RequestOutcome.FALLBACK.toString()), RequestOutcome.FALLBACK);
  }

  private void finish(LocalResponse answer, RequestOutcome how) {
    end();
    endedWith(answer, how);
    downstream.answer(answer);
    downstream.ended();
  }

  /** Hands the whole request to another revision; nothing of it was sent before. */
  private void redirect(QueueEntry waiting, @Nullable ColdStartFallback to) {
    var other = to == null ? null : dispatcher.other(currentRevision(), to);
    if (other == null) {
      log.debug("{}: the fallback {} does not exist, so a request stays queued",
          currentRevision().id(), to);
      limitQueueing(waiting);
      transferBody();
      return;
    }
    dispatcher.pages().keep(dispatcher, currentRevision());
    leaveQueue();
    waiting.giveUp();
    handTo(other);
  }

  private void handTo(Revision other) {
    dispatcher.left(currentRevision());
    fallenBackTo = other;
    dispatcher.arrived(other);
    downstream.checkAt(arrivedNanos()
        + DeadlineCalculator.leftBeforeWrite(other.timeouts(), passedNanos()));
    admit();
    if (!ended) {
      flushUpstream();
    }
  }

  /** The Service that a mesh routes by; null where pods are reached by their own addresses. */
  @Nullable String service() {
    return fallenBackTo == null ? route.service() : dispatcher.service(fallenBackTo);
  }

  private void leaveQueue() {
    queueEntry = null;
    holdEnds = false;
    body().countOut();
    stepDone();
  }

  @Override
  public Loop loop() {
    return dispatcher.loop();
  }

  @Override
  public long maxWaitNanos() {
    long left = callerNanosLeft();
    // A request that gets a page or a fallback before its deadline need not wait for the start.
    return holdNanos() < left ? DeadlineCalculator.NONE : left;
  }

  @Override
  public boolean mayWait() {
    return route.rule() == null;
  }

  @Override
  public String from() {
    return peer();
  }

  /**
   * Answers as the request's rule says: nothing was sent, and the request may not wait for another
   * pod.
   */
  void undelivered(String kind) {
    failed(kind);
    answer(Objects.requireNonNull(route.rule()));
  }

  @Override
  public void granted(Permit granted) {
    if (ended) {
      granted.release(Ending.UNCOUNTED);
      return;
    }
    boolean tooLate = !holdEnds && stepNanosLeft() <= 0;
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
    var fallback = hasFallenBack() ? null : fallback();
    if (reason instanceof Rejection.CannotStart && fallback != null) {
      cannotStart(fallback, dispatcher.failure(reason));
    } else {
      fail(dispatcher.failure(reason));
    }
  }

  /** The start has failed, so the fallback applies at once. */
  private void cannotStart(ColdStartFallback fallback, RequestFailure failure) {
    var other = dispatcher.other(currentRevision(), fallback);
    if (fallback.answer() != null) {
      answer(fallback.answer(), START_RETRY_SECONDS);
    } else if (other != null) {
      handTo(other);
    } else {
      fail(failure);
    }
  }

  private void forward(Permit granted) {
    var handover = dispatcher.handover();
    if (handover != null) {
      handOver(granted, handover);
      return;
    }
    // Set before anything can fail, because from here on the forwarder releases the permit.
    var to = new Forwarder(this, granted);
    forwarder = to;
    try {
      running(dispatcher.pools().address(granted.destination(), currentRevision().id()));
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

  /**
   * Lets the gateway send the request. No permit is kept, because the end of the request is not
   * seen here.
   */
  private void handOver(Permit granted, GatewayHandover to) {
    var pod = granted.destination();
    granted.release(Ending.UNCOUNTED);
    boolean isReady = to.isReady(currentRevision().id());
    if (!isReady && !dispatcher.knows(currentRevision())) {
      // The revision was deleted after it had a pod. Requests that were waiting are already
      // rejected.
      rejected(new Rejection.RevisionGone(currentRevision().id()));
    } else if (isReady || mayWait()) {
      to.whenReady(this, pod);
      long left = callerNanosLeft();
      if (!ended && left != DeadlineCalculator.NONE) {
        limitStep(left);
      }
    } else {
      answer(Objects.requireNonNull(route.rule()));
    }
  }

  /** Answers that the gateway may send the request. The request is still counted for a while. */
  void handedOver(Destination pod, GatewayHandover by) {
    ended = true;
    release();
    if (mayWait()) {
      by.countOn(currentRevision());
    }
    var answer = LocalResponse.empty(200).with(GatewayHandover.POD, pod.toString());
    endedWith(answer, RequestOutcome.HANDED_OVER);
    downstream.answer(answer);
    downstream.ended();
  }

  /** Queues the request again for another pod, because nothing was sent. */
  void undelivered(String kind, QueueEntry again) {
    forwarder = null;
    retries++;
    failed(kind);
    saw(Step.UNDELIVERED);
    queue(again);
  }

  PodConnectionPools pools() {
    return dispatcher.pools();
  }

  RequestBuffer newBuffer() {
    return new RequestBuffer(dispatcher.held());
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
      wrote();
      notSilent(part);
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
        ? dispatcher.held().windowWhileForwarding()
        : dispatcher.held().windowWhileQueued(queueEntry.heldBytes());
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
    wrote();
    downstream.interim(head);
    downstream.flush();
  }

  void head(HttpResponse head) {
    stepDone();
    wrote();
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
      var rules = currentRevision().rules();
      if (rules != null && rules.ignoreIdleAfter() != null && mayWait()) {
        silence = dispatcher.silent().add(this, currentRevision().id(), rules.ignoreIdleAfter());
      }
    }
  }

  boolean isPodWithdrawn() {
    return forwarder != null && forwarder.isPodWithdrawn();
  }

  void goAway() {
    downstream.goAway();
  }

  void respond(HttpContent part) {
    boolean last = part instanceof LastHttpContent;
    wrote();
    notSilent(part);
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
      downstream.drainWithin(idleNanos());
      downstream.ended();
    } else if (!downstream.isWritable()) {
      downstreamWritabilityChanged();
    }
  }

  void flushDownstream() {
    downstream.flush();
  }

  private void notSilent(HttpContent part) {
    if (silence != null && part.content().isReadable()) {
      silence.bytesCame();
    }
  }

  /**
   * Sends a Close frame to the caller of a silent WebSocket, because a stopped pod may end without
   * one.
   */
  private void closeIfSilent() {
    if (silence != null && silence.isSilent()) {
      downstream.goAway();
    }
  }

  private void wrote() {
    written = true;
    if (!currentRevision().timeouts().idle().isZero()) {
      lastWriteNanos = loop().nanoTime();
    }
  }

  void limitStep(long nanos) {
    stepLimited = true;
    stepDueNanos = loop().nanoTime() + nanos;
    downstream.checkAt(stepDueNanos);
  }

  void stepDone() {
    stepLimited = false;
  }

  private long stepNanosLeft() {
    return stepLimited ? stepDueNanos - loop().nanoTime() : DeadlineCalculator.NONE;
  }

  public long passedNanos() {
    return loop().nanoTime() - arrivedNanos();
  }

  private long requestNanosLeft() {
    return written
        ? DeadlineCalculator.leftAfterWrite(currentRevision().timeouts(), writingNanos(),
            loop().nanoTime() - lastWriteNanos - marginNanos())
        : DeadlineCalculator.leftBeforeWrite(currentRevision().timeouts(), passedNanos());
  }

  /** The age of a request whose response has begun, as counted for its timeouts. */
  private long writingNanos() {
    return currentRevision().hasQueueProxy()
        ? loop().nanoTime() - grantedNanos - marginNanos()
        : passedNanos();
  }

  private long marginNanos() {
    return currentRevision().hasQueueProxy() ? DeadlineCalculator.QUEUE_PROXY_MARGIN : 0;
  }

  private long idleNanos() {
    var limits = currentRevision().timeouts();
    return (limits.idle().isZero() ? limits.overall() : limits.idle()).toNanos();
  }

  /** Returns the time to the next deadline, or {@link Long#MAX_VALUE}. */
  public long checkDeadlines() {
    if (ended) {
      return Long.MAX_VALUE;
    }
    long step = stepNanosLeft();
    long whole = requestNanosLeft();
    if (step <= 0 && step < whole) {
      stepTimedOut();
    } else if (whole <= 0) {
      timedOut(written
          ? DeadlineCalculator.overAfterWrite(currentRevision().timeouts(), writingNanos())
          : DeadlineCalculator.overBeforeWrite(currentRevision().timeouts(), passedNanos()));
    }
    return ended ? Long.MAX_VALUE : Math.max(0, Math.min(stepNanosLeft(), requestNanosLeft()));
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
      // The request waits until its gateway knows of the pod.
      timedOut(TimeoutKind.CALLER);
    }
  }

  private void queueTimedOut() {
    timedOut(DeadlineCalculator.overInQueue(callerNanos(), passedNanos()));
  }

  void timedOut(TimeoutKind kind) {
    log.debug("A request of {} timed out: {}", currentRevision().id(), kind);
    abandon();
    fail(new RequestFailure.TimedOut(kind, queueEntry == null ? "" : why()));
  }

  private String why() {
    return dispatcher.pages().why(currentRevision());
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
      if (mayWait() && (silence == null || silence.end())) {
        dispatcher.left(currentRevision());
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
      var handover = dispatcher.handover();
      if (handover != null) {
        handover.forget(this);
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
