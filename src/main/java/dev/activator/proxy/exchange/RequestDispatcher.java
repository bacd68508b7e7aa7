package dev.activator.proxy.exchange;

import dev.activator.http.FieldList;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.Version;
import dev.activator.revision.Revision;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.throttle.Admission.QueuedCaller;
import dev.activator.throttle.Admission.Rejection;
import dev.activator.throttle.Admission;
import dev.activator.upstream.PodPools;
import io.netty.handler.codec.http.HttpRequest;
import java.util.function.BiFunction;

/** Answers each request of one loop at once or begins its exchange. */
public record RequestDispatcher(Loop loop, Router router,
    BiFunction<Revision, QueuedCaller, Admission> throttle, PodPools pools, RequestCounter counter,
    RequestObserver observer, HeldBytes.Share held, UnreadBytes.Share unread,
    ErrorResponses texts, SilentConnections silent) {

  public RequestDispatcher(Loop loop, Router router,
      BiFunction<Revision, QueuedCaller, Admission> throttle, PodPools pools,
      RequestCounter counter, RequestObserver observer, HeldBytes.Share held,
      UnreadBytes.Share unread, ErrorResponses texts) {
    this(loop, router, throttle, pools, counter, observer, held, unread, texts,
        new SilentConnections(loop, counter));
  }

  public void dispatch(HttpRequest request, Version version, Downstream downstream) {
    var fields = FieldList.in(request);
    switch (router.route(request, fields, version)) {
      case Router.Answered(var answer) -> {
        downstream.answer(answer);
        downstream.ended();
      }
      case Router.Poll(var revision, var off) -> {
        downstream.answer(texts.pages().poll(this, revision, off));
        downstream.ended();
      }
      case Router.Refused(var failure) -> {
        if (failure instanceof Failure.UnknownRevision || failure instanceof Failure.UnknownHost
            || failure instanceof Failure.NoRule || failure instanceof Failure.LookupFailed) {
          // Other refused requests name no revision.
          var record = new HttpRequestRecord(this, downstream.caller(), request, fields, null);
          record.begin();
          record.ended(failure);
        }
        downstream.answer(failure, ErrorFormat.of(fields));
        downstream.ended();
      }
      case Router.ToRevision route -> {
        var record = new HttpRequestRecord(this, downstream.caller(), request, fields, route);
        request.setUri(route.path());
        HeaderRewriter.request(fields, version, route.host(), downstream.caller().address());
        var exchange = new Exchange(record, downstream, route.revision());
        downstream.begin(exchange);
        exchange.start();
      }
    }
  }

  Failure failure(Rejection reason) {
    return switch (reason) {
      case Rejection.QueueFull(_, int seconds) -> new Failure.QueueFull(seconds);
      case Rejection.DeadlineTooNear(_, int seconds) -> new Failure.DeadlineTooNear(seconds);
      case Rejection.RevisionGone(var revision) -> new Failure.RevisionGone(revision);
      case Rejection.Unreachable _ -> new Failure.Unreachable();
      case Rejection.ShuttingDown(var revision) -> new Failure.ShuttingDown(revision);
      case Rejection.CannotStart(var revision, var why) ->
        new Failure.CannotStart(revision, why.reason(),
            texts.startMessages() ? why.message() : why.forCallers());
    };
  }
}
