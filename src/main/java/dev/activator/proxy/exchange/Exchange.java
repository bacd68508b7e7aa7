package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.observability.request.Outcome;
import dev.activator.proxy.held.Heads;
import dev.activator.proxy.held.RequestBody;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.time.Budget;
import dev.activator.proxy.policy.time.Patience;
import dev.activator.proxy.route.Route;
import dev.activator.throttle.Admission;
import dev.activator.throttle.Admission.Permit;
import dev.activator.throttle.Admission.QueueEntry;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.Admission.Rejection;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its response.
 *
 * <pre>
 * queued ──► forwarding ──► ended        a permit came; the response is complete
 *    ◄───────────┘                       the pod could not be reached: another may be
 *    └───────────┴────────► ended        rejected, timed out, the caller gone, the pod failed
 * </pre>
 *
 * Whatever the way, it is counted out once, its permit is released once, and its place is given up.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Source.</b> {@code activationHandler} and {@code timeoutHandler} in Knative.
 */
public final class Exchange implements QueuedCaller {
  private static final Logger log = LoggerFactory.getLogger(Exchange.class);
  /** What servers write down for a caller that went away; no caller ever sees it. */
  private static final int CLIENT_CLOSED_REQUEST = 499;

  private final Worker worker;
  private final HttpPassage passage;
  private final Downstream downstream;
  private final Response response;
  private final Route.To route;
  private final HttpRequest request;
  private final TimeLeft time;
  private final RequestBody body;
  private @Nullable Stay stay;
  private @Nullable Permit permit;
  private @Nullable Forwarder forwarder;
  private boolean ended;

  Exchange(Worker worker, HttpPassage passage, Downstream downstream, Route.To route,
      HttpRequest request) {
    this.worker = worker;
    this.passage = passage;
    this.downstream = downstream;
    this.route = route;
    this.request = request;
    this.body = new RequestBody(worker.held());
    this.time = new TimeLeft(worker.loop(), request, route.revision().timeouts(),
        passage.arrivedNanos());
    this.response = new Response(downstream, time, passage);
  }

  /** Which revision it is for. */
  Route.To route() {
    return route;
  }

  void start(Admitter admitter) {
    passage.begin();
    worker.counter().arrived(route.revision().id());
    Admission admission;
    try {
      admission = admitter.admit(route.revision(), this);
    } catch (RuntimeException bug) {
      log.error("Admitting a request of {} failed", route.revision().id(), bug);
      fail(new Failure.Internal());
      return;
    }
    switch (admission) {
      case Permit now -> forward(now);
      case QueueEntry later -> queueFirst(later);
    }
  }

  private void queueFirst(QueueEntry later) {
    boolean full = worker.held().isFull(later.heldBytes());
    queue(later);
    if (full) {
      log.debug("Too many bytes are held to queue another request of {}", route.revision().id());
      fail(new Failure.MemoryFull(later.retryAfterSeconds()));
    }
  }

  private void queue(QueueEntry later) {
    passage.queued();
    body.waits(later, Heads.size(request));
    stay = new Stay(worker, later, body,
        Patience.of(later.timeout(), time.callerNanos()), time.arrivedNanos(), this::timedOut);
    bodyMoved();
  }

  private @Nullable Budget leaveQueue() {
    var left = stay;
    stay = null;
    if (left == null) {
      return null;
    }
    left.end();
    return left.over();
  }

  @Override
  public long maxWaitNanos() {
    return time.callerNanosLeft();
  }

  @Override
  public Loop loop() {
    return worker.loop();
  }

  @Override
  public void granted(Permit granted) {
    var over = leaveQueue();
    if (ended) {
      granted.release();
    } else if (over != null) {
      permit = granted;
      timedOut(over);
    } else {
      forward(granted);
      flushUpstream();
    }
  }

  @Override
  public void rejected(Rejection reason) {
    leaveQueue();
    if (!ended) {
      fail(worker.refusal(reason));
    }
  }

  private void forward(Permit granted) {
    permit = granted;
    passage.granted(worker.pools().address(granted.destination(), route.revision().id()));
    var started = new Forwarder(worker, this, response, request, body);
    forwarder = started;
    passage.forwarding();
    started.start(granted.destination());
  }

  /** A part of the request's body has come. */
  public void content(HttpContent part) {
    passage.read(part.content().readableBytes());
    if (response.isSwitched()) {
      // Either side may be the one that talks.
      time.wrote();
    }
    body.add(part);
    bodyMoved();
  }

  /** The caller takes more of the response, or no longer does. */
  public void downstreamWritabilityChanged() {
    if (forwarder != null) {
      forwarder.follow(downstream.isWritable());
    }
  }

  /** Has the parts of the body that were passed on leave for the pod. */
  public void flushUpstream() {
    if (forwarder != null) {
      forwarder.flush();
    }
  }

  /** The caller has closed the connection, or its stream. */
  public void clientGone() {
    if (!ended) {
      log.debug("The caller of {} is gone", route.revision().id());
      end();
      passage.ended(Outcome.CALLER_GONE, CLIENT_CLOSED_REQUEST);
    }
  }

  /** The time left before this exchange is given up; 0 or less once it is over. */
  public long nanosLeft() {
    return time.nanos();
  }

  /** There is no time left: its caller is told which of its budgets ran out. */
  public void timedOut() {
    timedOut(time.over());
  }

  private void timedOut(Budget over) {
    log.debug("A request of {} timed out: {}", route.revision().id(), over);
    fail(new Failure.TimedOut(over));
  }

  /** Ends it with an answer of ours, or breaks the response off where one has begun. */
  public void fail(Failure failure) {
    end();
    passage.ended(failure);
    response.fail(failure);
  }

  // What the forwarder tells.

  /** A connection was made. Whether there is time to send on it; if not, all has failed by now. */
  boolean inTime() {
    passage.connected();
    boolean inTime = time.callerNanosLeft() > 0;
    if (!inTime) {
      timedOut(Budget.CALLER);
    }
    return inTime;
  }

  /** The pod could not be reached, and nothing was sent: another may be. */
  void undelivered(String kind) {
    var unused = permit;
    if (unused == null || passage.retries() == Reaching.MOST_RETRIES) {
      upstreamFailed(kind);
      return;
    }
    log.debug("A request of {} could not be delivered to {}: {}", route.revision().id(),
        unused.destination(), kind);
    permit = null;
    forwarder = null;
    var again = unused.retry(this);
    if (again == null) {
      passage.failed(kind);
      fail(new Failure.BadGateway(kind));
    } else {
      passage.undelivered(kind);
      queue(again);
    }
  }

  /** Parts of the body were passed on, or could not be. */
  void bodyMoved() {
    if (forwarder != null) {
      forwarder.pump();
    }
    int window = stay == null ? worker.held().windowWhileForwarding() : stay.window();
    if (body.fills(window)) {
      downstream.pauseReading();
    } else {
      downstream.resumeReading();
    }
  }

  /** A part of the response; the last one ends the exchange. */
  void respond(HttpContent part) {
    boolean last = part instanceof LastHttpContent;
    response.content(part);
    if (last) {
      end();
      passage.succeeded(response.isSwitched());
      downstream.ended();
    } else if (!downstream.isWritable()) {
      downstreamWritabilityChanged();
    }
  }

  void upstreamFailed(String kind) {
    log.debug("A request of {} failed at {}: {}", route.revision().id(),
        permit == null ? "no pod" : permit.destination(), kind);
    passage.failed(kind);
    if (permit != null) {
      permit.releaseBroken();
      permit = null;
    }
    fail(new Failure.BadGateway(kind));
  }

  private void end() {
    if (ended) {
      throw new IllegalStateException("an exchange ends once");
    }
    ended = true;
    if (stay != null) {
      stay.giveUp();
      stay = null;
    }
    if (forwarder != null) {
      forwarder.stop();
    }
    body.release();
    if (permit != null) {
      permit.release();
    }
    worker.counter().left(route.revision().id());
  }
}
