package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.Outcome;
import dev.activator.observability.Phases;
import dev.activator.proxy.policy.Deadlines;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.TimeoutKind;
import dev.activator.proxy.policy.WaitingPage;
import dev.activator.revision.Revision;
import dev.activator.upstream.PodPools;
import dev.activator.throttle.Admission.Ending;
import dev.activator.throttle.Admission.Permit;
import dev.activator.throttle.Admission.QueueEntry;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.Admission.Rejection;
import dev.activator.throttle.Admission;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its response: queued, forwarding once it has a permit, queued again if the pod
 * cannot be reached. However it ends, it is counted out once and releases its permit or its place
 * in the queue.
 *
 * <p>Two timeouts apply: the whole request's and the current step's (queue, connect, wait for a
 * 100).
 *
 * <p><b>Source.</b> {@code activationHandler} and {@code timeoutHandler} in Knative.
 */
public final class Exchange implements QueuedCaller {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);
  /** The status that nginx logs for a caller that went away. */
  private static final int CLIENT_CLOSED_REQUEST = 499;

  private final RequestDispatcher dispatcher;
  private final HttpRequestRecord record;
  private final Downstream downstream;
  private final Revision revision;
  /** What was read of the request's body and not forwarded. */
  private @Nullable PartBuffer body;
  private @Nullable QueueEntry queueEntry;
  private @Nullable Forwarder forwarder;
  private long stepDueNanos;
  private boolean stepLimited;
  /** Whether the current step ends with a waiting page. */
  private boolean pageDue;
  private long lastWriteNanos;
  /** Whether anything was written to the caller, the pod's 1xx responses included. */
  private boolean written;
  private boolean responding;
  /** Whether a 101 was sent. */
  private boolean switched;
  private boolean ended;

  Exchange(RequestDispatcher dispatcher, HttpRequestRecord record, Downstream downstream,
      Revision revision) {
    this.dispatcher = dispatcher;
    this.record = record;
    this.downstream = downstream;
    this.revision = revision;
  }

  Revision revision() {
    return revision;
  }

  void start() {
    record.begin();
    dispatcher.counter().arrived(revision.id());
    downstream.checkAt(record.arrivedNanos()
        + Deadlines.leftBeforeWrite(revision.timeouts(), 0));
    Admission admission;
    try {
      admission = dispatcher.throttle().apply(revision, this);
    } catch (RuntimeException e) {
      log.error("Admitting a request of {} failed", revision.id(), e);
      fail(new Failure.Internal());
      return;
    }
    switch (admission) {
      case Permit now -> forward(now);
      case QueueEntry later -> {
        boolean full = dispatcher.held().isFull(later.heldBytes());
        queue(later);
        if (full) {
          log.debug("Too many bytes are held to queue another request of {}", revision.id());
          fail(new Failure.MemoryFull(later.retryAfterSeconds()));
        }
      }
    }
  }

  private void queue(QueueEntry later) {
    record.queued();
    queueEntry = later;
    body().countIn(later, PartBuffer.cost(record.request()));
    limitQueueing(later);
    if (dispatcher.texts().pages().isFor(record, revision) && isStarting()
        && stepNanosLeft() > WaitingPage.HOLD.toNanos()) {
      limitStep(WaitingPage.HOLD.toNanos());
      pageDue = true;
    }
    transferBody();
  }

  private void limitQueueing(QueueEntry later) {
    long limit = Deadlines.inQueue(later.timeout(), record.callerNanos());
    if (limit != Deadlines.NONE) {
      limitStep(Math.max(0, limit - passedNanos()));
    }
  }

  private boolean isStarting() {
    return !dispatcher.texts().pages().status(revision.id()).ready();
  }

  /** Holds the request further if it only waits for its turn. */
  private void pageDue(QueueEntry waiting) {
    pageDue = false;
    if (!isStarting()) {
      limitQueueing(waiting);
      return;
    }
    // Queues its stand-in before this leaves, so that the start goes on.
    var page = dispatcher.texts().pages().page(dispatcher, record, revision,
        waiting.retryAfterSeconds());
    end();
    record.ended(Outcome.WAITING_PAGE, page.status());
    downstream.answer(page);
    downstream.ended();
  }

  private void leaveQueue() {
    queueEntry = null;
    pageDue = false;
    body().countOut();
    stepDone();
  }

  @Override
  public Loop loop() {
    return dispatcher.loop();
  }

  @Override
  public long maxWaitNanos() {
    return record.callerNanosLeft();
  }

  @Override
  public void granted(Permit granted) {
    if (ended) {
      granted.release(Ending.UNCOUNTED);
      return;
    }
    boolean tooLate = !pageDue && stepNanosLeft() <= 0;
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
    if (!ended) {
      leaveQueue();
      fail(dispatcher.failure(reason));
    }
  }

  private void forward(Permit granted) {
    // First, as it releases the permit, whatever fails from here on.
    var to = new Forwarder(this, granted);
    forwarder = to;
    try {
      record.granted(dispatcher.pools().address(granted.destination(), revision.id()));
      record.forwarding();
      to.start();
    } catch (RuntimeException e) {
      if (ended) {
        throw e;
      }
      log.error("Forwarding a request of {} failed", revision.id(), e);
      fail(new Failure.Internal());
    }
  }

  /** Nothing was sent: queues the request again, for another pod. */
  void undelivered(String kind, QueueEntry again) {
    forwarder = null;
    record.undelivered(kind);
    queue(again);
  }

  HttpRequestRecord record() {
    return record;
  }

  PodPools pools() {
    return dispatcher.pools();
  }

  PartBuffer newBuffer() {
    return new PartBuffer(dispatcher.held());
  }

  PartBuffer body() {
    if (body == null) {
      body = newBuffer();
    }
    return body;
  }

  boolean holdsBody() {
    return body != null && !body.isEmpty();
  }

  public void content(HttpContent part) {
    record.read(part.content().readableBytes());
    if (switched) {
      // Bytes in both directions reset the idle timeout.
      wrote();
    }
    if (forwarder != null && !holdsBody() && forwarder.takesBody()) {
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

  void askForBody() {
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
    responding = true;
    switched = head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
    boolean timed = !switched && record.wantsTiming();
    record.responding(head.status().code());
    if (timed) {
      head.headers().add(Phases.SERVER_TIMING, record.phases().serverTiming());
    }
    downstream.head(head);
    if (switched) {
      downstream.flush();
    }
  }

  void respond(HttpContent part) {
    boolean last = part instanceof LastHttpContent;
    wrote();
    record.wrote(part.content().readableBytes());
    downstream.content(part);
    if (last) {
      end();
      record.succeeded(switched);
      downstream.drainWithin(idleNanos());
      downstream.ended();
    } else if (!downstream.isWritable()) {
      downstreamWritabilityChanged();
    }
  }

  void flushDownstream() {
    downstream.flush();
  }

  private void wrote() {
    written = true;
    if (!revision.timeouts().idle().isZero()) {
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
    return stepLimited ? stepDueNanos - loop().nanoTime() : Deadlines.NONE;
  }

  public long passedNanos() {
    return loop().nanoTime() - record.arrivedNanos();
  }

  private long requestNanosLeft() {
    return written
        ? Deadlines.leftAfterWrite(revision.timeouts(), passedNanos(),
            loop().nanoTime() - lastWriteNanos)
        : Deadlines.leftBeforeWrite(revision.timeouts(), passedNanos());
  }

  private long idleNanos() {
    var limits = revision.timeouts();
    return (limits.idle().isZero() ? limits.overall() : limits.idle()).toNanos();
  }

  /** Returns the time to the next deadline, or {@link Long#MAX_VALUE}. */
  public long checkDeadlines() {
    long step = stepNanosLeft();
    long whole = requestNanosLeft();
    if (step <= 0 && step < whole) {
      stepTimedOut();
    } else if (whole <= 0) {
      timedOut(written
          ? Deadlines.overAfterWrite(revision.timeouts(), passedNanos())
          : Deadlines.overBeforeWrite(revision.timeouts(), passedNanos()));
    }
    return ended ? Long.MAX_VALUE : Math.max(0, Math.min(stepNanosLeft(), requestNanosLeft()));
  }

  private void stepTimedOut() {
    stepDone();
    if (queueEntry != null && pageDue) {
      pageDue(queueEntry);
    } else if (queueEntry != null) {
      queueTimedOut();
    } else if (forwarder != null) {
      forwarder.stepTimedOut();
    }
  }

  private void queueTimedOut() {
    timedOut(Deadlines.overInQueue(record.callerNanos(), passedNanos()));
  }

  void timedOut(TimeoutKind kind) {
    log.debug("A request of {} timed out: {}", revision.id(), kind);
    abandon();
    fail(new Failure.TimedOut(kind, queueEntry == null ? "" : why()));
  }

  private String why() {
    return dispatcher.texts().pages().status(revision.id()).why();
  }

  public void callerGone() {
    if (!ended) {
      log.debug("The caller of {} is gone", revision.id());
      abandon();
      end();
      record.ended(Outcome.CALLER_GONE, CLIENT_CLOSED_REQUEST);
    }
  }

  public void endUnread() {
    log.debug("A response of {} is not read", revision.id());
    fail(new Failure.Unread());
  }

  private void abandon() {
    if (forwarder != null) {
      forwarder.abandoned();
    }
  }

  /** A response that has begun is cut off. */
  public void fail(Failure failure) {
    end();
    record.ended(failure);
    if (responding) {
      downstream.abort();
    } else {
      downstream.answer(failure, record.errorFormat());
      downstream.ended();
    }
  }

  private void end() {
    if (ended) {
      throw new IllegalStateException("an exchange ends once");
    }
    ended = true;
    try {
      release();
    } finally {
      dispatcher.counter().left(revision.id());
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
    } finally {
      if (body != null) {
        body.clear();
      }
    }
  }
}
