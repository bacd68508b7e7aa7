package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RequestVersion;
import io.netty.handler.codec.http.HttpRequest;

/**
 * Answers each request of one loop, or begins its exchange.
 *
 * <p><b>Threads.</b> Confined to the loop.
 */
public final class RequestDispatcher {
  private final LoopContext context;

  public RequestDispatcher(LoopContext context) {
    this.context = context;
  }

  public LoopContext context() {
    return context;
  }

  public void dispatch(HttpRequest request, RequestVersion version, Downstream downstream) {
    var fields = HeaderFieldList.in(request);
    switch (context.router().route(request, fields, version)) {
      case Router.Answered(var answer) -> {
        downstream.answer(answer);
        downstream.ended();
      }
      case Router.UnknownProbe(var revision, var kind, var otherwise) -> {
        var answer = context.router().arrival().probe(kind, revision, context);
        downstream.answer(answer == null ? otherwise : answer);
        downstream.ended();
      }
      case Router.Refused(var failure) -> refuse(failure, request, fields, downstream);
      case Router.ToRevision route -> {
        var exchange = new Exchange(context, downstream, request, route);
        request.setUri(route.path());
        HeaderRewriter.request(fields, version, route.host(), downstream.caller().address());
        begin(exchange, downstream);
      }
    }
  }

  /** Admits a request that a gateway may send itself, like one that is forwarded. */
  public void answerGateway(HttpRequest original, Downstream downstream) {
    var fields = HeaderFieldList.in(original);
    switch (context.router().question(original, fields)) {
      case Router.ToRevision route ->
        begin(new Exchange(context, downstream, original, route), downstream);
      case Router.Refused(var failure) -> refuse(failure, original, fields, downstream);
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
      var refused = new ObservedHttpRequest(context, downstream.caller(), request, null);
      refused.saw(RequestObserver.Step.ARRIVED);
      refused.endedWith(failure);
    }
    downstream.answer(failure, ErrorFormat.of(fields));
    downstream.ended();
  }

  public Loop loop() {
    return context.loop();
  }

  public HeldRequestBytes.Share held() {
    return context.memory().held();
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
    return bytes <= HeldMemoryLimit.LARGE_HEAD_BYTES ? 0 : held().addLargeHead(request, bytes, max);
  }

  /** @param bytes what {@link #holdLargeHead} returned */
  public void releaseHead(int bytes) {
    if (bytes > 0) {
      held().add(-bytes);
    }
  }

  public UnreadResponseBytes.Share unread() {
    return context.memory().unread();
  }
}
