package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.revision.ColdStartFallback;
import dev.activator.revision.Revision;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.upstream.PodConnectionPools;
import dev.activator.waking.SyntheticRequest;
import io.netty.handler.codec.http.HttpRequest;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Answers each request of one loop, or begins its exchange. It holds the objects that all exchanges
 * of the loop share, so each exchange needs only one reference.
 *
 * <p><b>Threads.</b> Confined to the loop.
 */
public final class RequestDispatcher {
  private final Loop loop;
  private final Router router;
  private final BiFunction<Revision, QueuedCaller, ThrottleDecision> throttle;
  private final PodConnectionPools pools;
  private final RequestCounter counter;
  private final RequestObserver observer;
  private final HeldRequestBytes.Share held;
  private final UnreadResponseBytes.Share unread;
  private final ErrorResponseOptions errorResponses;
  private final TunnelActivityTracker silent;
  /** The handover of requests that a gateway sends itself; null where requests are forwarded. */
  private final @Nullable GatewayHandover handover;

  public RequestDispatcher(Loop loop, Router router,
      BiFunction<Revision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pools,
      RequestCounter counter, RequestObserver observer, HeldRequestBytes.Share held,
      UnreadResponseBytes.Share unread, ErrorResponseOptions errorResponses) {
    this(loop, router, throttle, pools, counter, observer, held, unread, errorResponses,
        new TunnelActivityTracker(loop, counter));
  }

  public RequestDispatcher(Loop loop, Router router,
      BiFunction<Revision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pools,
      RequestCounter counter, RequestObserver observer, HeldRequestBytes.Share held,
      UnreadResponseBytes.Share unread, ErrorResponseOptions errorResponses,
      TunnelActivityTracker silent) {
    this(loop, router, throttle, pools, counter, observer, held, unread, errorResponses, silent,
        null);
  }

  private RequestDispatcher(Loop loop, Router router,
      BiFunction<Revision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pools,
      RequestCounter counter, RequestObserver observer, HeldRequestBytes.Share held,
      UnreadResponseBytes.Share unread, ErrorResponseOptions errorResponses,
      TunnelActivityTracker silent,
      @Nullable GatewayHandover handover) {
    this.loop = loop;
    this.router = router;
    this.throttle = throttle;
    this.pools = pools;
    this.counter = counter;
    this.observer = observer;
    this.held = held;
    this.unread = unread;
    this.errorResponses = errorResponses;
    this.silent = silent;
    this.handover = handover;
  }

  /** A dispatcher that shares these objects, for requests that a gateway sends itself. */
  public RequestDispatcher handingOver(RevisionReadySince ready, Duration countedFor) {
    return new RequestDispatcher(loop, router, throttle, pools, counter, observer, held, unread,
        errorResponses, silent, new GatewayHandover(loop, counter, ready, countedFor));
  }

  public void dispatch(HttpRequest request, RequestVersion version, Downstream downstream) {
    var fields = HeaderFieldList.in(request);
    switch (router.route(request, fields, version)) {
      case Router.Answered(var answer) -> {
        downstream.answer(answer);
        downstream.ended();
      }
      case Router.Poll(var revision, var off) -> {
        downstream.answer(pages().poll(this, revision, off));
        downstream.ended();
      }
      case Router.Refused(var failure) -> refuse(failure, request, fields, downstream);
      case Router.ToRevision route -> {
        var exchange = new Exchange(this, downstream, request, route);
        request.setUri(route.path());
        HeaderRewriter.request(fields, version, route.host(), downstream.caller().address());
        begin(exchange, downstream);
      }
    }
  }

  /**
   * Admits a request like one that is forwarded. The response 200 means that the gateway may send
   * it.
   */
  public void answerGateway(HttpRequest original, Downstream downstream) {
    var fields = HeaderFieldList.in(original);
    switch (router.question(original, fields)) {
      case Router.ToRevision route ->
        begin(new Exchange(this, downstream, original, route), downstream);
      case Router.Refused(var failure) -> refuse(failure, original, fields, downstream);
    }
  }

  /** Rejects requests that wait until their gateway knows of a pod. <b>Threads.</b> Any. */
  public void rejectHandovers() {
    if (handover != null) {
      handover.stop();
    }
  }

  private static void begin(Exchange exchange, Downstream downstream) {
    downstream.begin(exchange);
    exchange.start();
  }

  private void refuse(RequestFailure failure, HttpRequest request, HeaderFieldList fields,
      Downstream downstream) {
    if (failure instanceof RequestFailure.UnknownRevision
        || failure instanceof RequestFailure.UnknownHost
        || failure instanceof RequestFailure.NoRule
        || failure instanceof RequestFailure.LookupFailed) {
      // Other refused requests name no revision.
      var refused = new ObservedHttpRequest(this, downstream.caller(), request, null);
      refused.saw(RequestObserver.Step.ARRIVED);
      refused.endedWith(failure);
    }
    downstream.answer(failure, ErrorFormat.of(fields));
    downstream.ended();
  }

  // Methods for connections.

  public Loop loop() {
    return loop;
  }

  public HeldRequestBytes.Share held() {
    return held;
  }

  /**
   * Counts a large head as held, or marks it as too large. A small head is counted only while its
   * request is queued.
   *
   * @param max the highest number of bytes that is accepted
   * @return the bytes that were counted
   */
  public int holdLargeHead(HttpRequest request, int max) {
    int bytes = HeaderFieldList.bytesInMemory(request);
    return bytes <= HeldMemoryLimit.LARGE_HEAD_BYTES ? 0 : held.addLargeHead(request, bytes, max);
  }

  /** @param bytes what {@link #holdLargeHead} returned */
  public void releaseHead(int bytes) {
    if (bytes > 0) {
      held.add(-bytes);
    }
  }

  public UnreadResponseBytes.Share unread() {
    return unread;
  }

  // Methods for exchanges.

  RequestObserver observer() {
    return observer;
  }

  void arrived(Revision at) {
    counter.arrived(at.id());
  }

  void left(Revision at) {
    counter.left(at.id());
  }

  ThrottleDecision admit(Revision to, QueuedCaller caller) {
    return throttle.apply(to, caller);
  }

  PodConnectionPools pools() {
    return pools;
  }

  @Nullable GatewayHandover handover() {
    return handover;
  }

  TunnelActivityTracker silent() {
    return silent;
  }

  WaitingPages pages() {
    return errorResponses.pages();
  }

  /** The Service that a mesh routes by; null where pods are reached by their own addresses. */
  @Nullable String service(Revision of) {
    return router.service(of.id());
  }

  boolean knows(Revision one) {
    return router.knows(one.id());
  }

  /** The revision of a fallback; null if the fallback is an answer, or there is no such revision. */
  @Nullable Revision other(Revision from, ColdStartFallback fallback) {
    return fallback.service() == null ? null : router.fallback(from, fallback.service());
  }

  SyntheticRequest standIn(Revision of, Consumer<SyntheticRequest.End> onEnd) {
    return new SyntheticRequest(loop, counter, of, onEnd);
  }

  /** Starts a stand-in request. False if it has already ended, and is not queued. */
  boolean start(SyntheticRequest one) {
    return one.start(throttle);
  }

  RequestFailure failure(Rejection reason) {
    return switch (reason) {
      case Rejection.QueueFull(_, int seconds) -> new RequestFailure.QueueFull(seconds);
      case Rejection.DeadlineTooNear(_, int seconds) -> new RequestFailure.DeadlineTooNear(seconds);
      case Rejection.RevisionGone(var revision) -> new RequestFailure.RevisionGone(revision);
      case Rejection.Unreachable _ -> new RequestFailure.Unreachable();
      case Rejection.ShuttingDown(var revision) -> new RequestFailure.ShuttingDown(revision);
      case Rejection.CannotStart(var revision, var why) ->
        new RequestFailure.CannotStart(revision, why.reason(),
            errorResponses.startMessages() ? why.message() : why.forCallers());
    };
  }
}
