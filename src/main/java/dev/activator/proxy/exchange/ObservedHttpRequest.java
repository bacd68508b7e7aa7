package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.codec.Http2HeadParser;
import dev.activator.proxy.exchange.Downstream.Caller;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.FramingCheck;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP side of a request: what its caller sent, and where it is routed. As such it is a request
 * that is refused on arrival; {@link Exchange} is one that has a revision. Observers may change the
 * headers of the request and of the response.
 */
sealed class ObservedHttpRequest extends RequestTimeline permits Exchange {
  private static final int SWITCHING_PROTOCOLS = 101;

  final RequestDispatcher dispatcher;
  private final Caller caller;
  private final HttpRequest request;
  private final String target;
  private final Router.@Nullable ToRevision route;
  /** The route to the revision that the request has fallen back to. */
  private Router.@Nullable ToRevision fallback;
  /** Null for a request that may not wait. */
  private @Nullable RevisionCount count;
  private boolean podInHttp2;
  private boolean podSecure;
  /** The head of the pod's response while observers may add headers; otherwise null. */
  private @Nullable HttpResponse responseHead;

  /** @param route null if there is no such revision */
  ObservedHttpRequest(RequestDispatcher dispatcher, Caller caller, HttpRequest request,
      Router.@Nullable ToRevision route) {
    super(dispatcher.loop().nanoTime());
    this.dispatcher = dispatcher;
    this.caller = caller;
    this.request = request;
    this.target = request.uri();
    this.route = route;
  }

  final Router.ToRevision route() {
    return Objects.requireNonNull(route);
  }

  /** The route of the revision that gets the request. Call only for an {@link Exchange}. */
  final Router.ToRevision currentRoute() {
    return fallback == null ? route() : fallback;
  }

  /** The spec of {@link #serving} when the request came to it. Call only for an {@link Exchange}. */
  public final Revision servingSpec() {
    return currentRoute().revision();
  }

  final void fallBack(LiveRevision to) {
    fallback = dispatcher.router().redirect(route(), to);
  }

  final void countIn() {
    var live = currentRoute().live();
    count = dispatcher.seams().counting().of(this, live, dispatcher.counter().of(live),
        dispatcher.loop());
    count.arrived();
  }

  /** Has counted the request in. Call only if it may wait. */
  public final RevisionCount count() {
    return Objects.requireNonNull(count);
  }

  /** The Service that a mesh routes by; null where pods are reached by their own addresses. */
  final @Nullable String service() {
    return currentRoute().service();
  }

  final HttpRequest request() {
    return request;
  }

  public final HeaderFieldList fields() {
    return HeaderFieldList.in(request);
  }

  /**
   * The time that the caller's headers give the request. Parsed on each call, as few requests have
   * such a header.
   */
  final long callerNanos() {
    return DeadlineCalculator.ofCaller(fields());
  }

  public final long callerNanosLeft() {
    long whole = callerNanos();
    return whole == DeadlineCalculator.NONE ? whole : whole - passedNanos();
  }

  public final long passedNanos() {
    return now() - arrivedNanos();
  }

  final ErrorFormat errorFormat() {
    return ErrorFormat.of(fields());
  }

  @Override
  protected final void saw(RequestObserver.Step step) {
    dispatcher.seams().observer().saw(step, this);
  }

  @Override
  protected final void queued() {
    super.queued();
  }

  @Override
  protected final void connected() {
    super.connected();
  }

  @Override
  protected final void failed(@Nullable String kind) {
    super.failed(kind);
  }

  /** @param head the head of the pod's response, to which observers may add headers */
  final void responds(HttpResponse head) {
    responseHead = head;
    responding(head.status().code());
    responseHead = null;
  }

  final boolean hasSwitched() {
    return responseStatus() == SWITCHING_PROTOCOLS;
  }

  final void endedWith(RequestFailure failure) {
    endedWith(failure.answer(errorFormat()), failure.outcome());
  }

  final void endedWith(LocalResponse answer, RequestOutcome how) {
    if (!responded() && !method().equals("HEAD")) {
      wrote(ByteBufUtil.utf8Bytes(answer.body()));
    }
    ended(how, answer.status());
  }

  public final Loop loop() {
    return dispatcher.loop();
  }

  @Override
  public long now() {
    return dispatcher.loop().nanoTime();
  }

  @Override
  public String method() {
    return request.method().name();
  }

  @Override
  public String target() {
    return target;
  }

  @Override
  public String path() {
    if (route != null) {
      return route.path();
    }
    var parsed = FramingCheck.target(method(), target);
    return parsed == null ? target : parsed.path();
  }

  @Override
  public String host() {
    return route == null ? fields().text(KnownHeader.HOST) : route.host();
  }

  @Override
  public String protocol() {
    return request.protocolVersion().text();
  }

  @Override
  public boolean secure() {
    return caller.secure();
  }

  @Override
  public boolean podInHttp2() {
    return podInHttp2;
  }

  final void podReached(boolean inHttp2, boolean secure) {
    podInHttp2 = inHttp2;
    podSecure = secure;
  }

  final void podChose(boolean http2) {
    podInHttp2 = http2;
  }

  final boolean isHttp2() {
    return request.protocolVersion().majorVersion() == Http2HeadParser.VERSION.majorVersion();
  }

  @Override
  public boolean podSecure() {
    return podSecure;
  }

  @Override
  public String peer() {
    return caller.address();
  }

  @Override
  public int peerPort() {
    return caller.port();
  }

  @Override
  public @Nullable String header(String name) {
    return request.headers().get(name);
  }

  @Override
  public List<String> headers(String name) {
    return request.headers().getAll(name);
  }

  @Override
  public void setHeader(String name, String value) {
    request.headers().set(name, value);
  }

  @Override
  public void addResponseHeader(String name, String value) {
    if (responseHead == null) {
      throw new IllegalStateException("no response is about to be sent");
    }
    responseHead.headers().add(name, value);
  }

  @Override
  public List<String> responseHeaders(String name) {
    return responseHead == null ? List.of() : responseHead.headers().getAll(name);
  }

  @Override
  public @Nullable Revision revision() {
    return route == null ? null : route.revision();
  }

  @Override
  public @Nullable LiveRevision routed() {
    return route == null ? null : route.live();
  }

  @Override
  public boolean mayWait() {
    return route == null || route.instead() == null;
  }

  @Override
  public boolean hasFallenBack() {
    return fallback != null;
  }
}
