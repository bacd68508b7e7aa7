package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.codec.Http1RequestDecoder;
import dev.activator.proxy.exchange.Seams.Delivery;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.RequestVersion;
import dev.activator.revision.LiveRevision;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.upstream.PodConnectionPools;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Answers each request of one loop, or begins its exchange. Has what all exchanges of the loop share,
 * so that each needs only one reference.
 *
 * <p><b>Threads.</b> Confined to the loop.
 */
public record RequestDispatcher(Loop loop, Router router,
    BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle, PodConnectionPools pools,
    RequestCounter counter, Memory memory, Seams seams) {
  private static final Set<String> NOT_OF_ORIGINAL = Set.of("host", "connection", "keep-alive",
      "proxy-connection", "te", "trailer", "transfer-encoding", "content-length", "upgrade",
      "expect", "http2-settings", "knative-serving-revision", "knative-serving-namespace");

  /** The loop's shares of the limits of memory. */
  public record Memory(HeldRequestBytes.Share held, UnreadResponseBytes.Share unread) {}

  /** The same for requests that are delivered in another way. */
  public RequestDispatcher with(Delivery delivery) {
    return new RequestDispatcher(loop, router, throttle, pools, counter, memory,
        seams.with(delivery));
  }

  public void dispatch(HttpRequest request, RequestVersion version, Downstream downstream) {
    var fields = HeaderFieldList.in(request);
    var delivery = seams.delivery();
    if (delivery != null) {
      dispatchQuestion(delivery, request, fields, version, downstream);
      return;
    }
    switch (router.route(request, fields, version)) {
      case Router.Answered(var answer) -> {
        downstream.answer(answer);
        downstream.ended();
      }
      case Router.UnknownProbe(var revision, var kind, var otherwise) -> {
        var answer = router.arrival().probe(kind, revision, this);
        downstream.answer(answer == null ? otherwise : answer);
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

  private void dispatchQuestion(Delivery delivery, HttpRequest question, HeaderFieldList fields,
      RequestVersion version, Downstream gateway) {
    var wrong = Router.malformed(question, fields, version);
    if (wrong == null) {
      delivery.question(question, gateway, this);
    } else {
      refuse(wrong, question, fields, gateway);
    }
  }

  /** Admits a request that a gateway may send itself, like one that is forwarded. */
  public void answerGateway(HttpRequest original, Downstream gateway) {
    var fields = HeaderFieldList.in(original);
    switch (router.question(original, fields)) {
      case Router.ToRevision route ->
        begin(new Exchange(this, gateway, original, route), gateway);
      case Router.Refused(var failure) -> refuse(failure, original, fields, gateway);
    }
  }

  /**
   * The request that a gateway describes; one that is refused if a header is malformed. It has none of the
   * headers of the gateway's connection and of the body, nor those that would choose a revision.
   *
   * @param host with the port if given
   * @param target path and query
   */
  public static HttpRequest original(String method, String host, String target,
      Iterable<Map.Entry<String, String>> headers) {
    try {
      var http = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.valueOf(method), target,
          HeaderFieldList.CHECKED);
      for (var header : headers) {
        if (!NOT_OF_ORIGINAL.contains(header.getKey().toLowerCase(Locale.ROOT))) {
          http.headers().add(HeaderFieldList.checked(new AsciiString(header.getKey())),
              header.getValue());
        }
      }
      http.headers().set("Host", host);
      return http;
    } catch (IllegalArgumentException e) {
      return Http1RequestDecoder.refusal(e);
    }
  }

  private static void begin(Exchange exchange, Downstream downstream) {
    downstream.begin(exchange);
    exchange.start();
  }

  private void refuse(RequestFailure failure, HttpRequest request, HeaderFieldList fields,
      Downstream downstream) {
    if (failure.outcome() != RequestOutcome.BAD_REQUEST) {
      // A malformed request names no revision.
      var refused = new ObservedHttpRequest(this, downstream.caller(), request, null);
      refused.saw(RequestObserver.Step.ARRIVED);
      refused.endedWith(failure);
    }
    downstream.answer(failure, ErrorFormat.of(fields));
    downstream.ended();
  }

  public HeldRequestBytes.Share held() {
    return memory.held;
  }

  /**
   * Counts a large head as held, or marks it as too large. A small head is counted only while its
   * request is queued.
   *
   * @param max the highest number of bytes that is accepted
   * @return the bytes that were counted
   */
  public int holdLargeHead(HttpRequest request, int max) {
    int bytes = HeldRequestBytes.ofHead(request);
    return bytes <= HeldMemoryLimit.LARGE_HEAD_BYTES ? 0 : held().addLargeHead(request, bytes, max);
  }

  /** @param bytes what {@link #holdLargeHead} returned */
  public void releaseHead(int bytes) {
    if (bytes > 0) {
      held().add(-bytes);
    }
  }

  public UnreadResponseBytes.Share unread() {
    return memory.unread;
  }
}
