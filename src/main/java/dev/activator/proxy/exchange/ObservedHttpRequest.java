package dev.activator.proxy.exchange;

import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestPhases;
import dev.activator.observability.RequestTimeline;
import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.proxy.codec.Http2HeadParser;
import dev.activator.proxy.exchange.Downstream.Caller;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.http.KnownHeader;
import dev.activator.proxy.policy.FramingCheck;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.PodProtocol;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.Destination;
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
 * The HTTP side of a request: what its caller sent, where it is routed, and what is measured of it.
 * As such it is a request that is refused on arrival; {@link Exchange} is one that has a revision.
 * Observers may change its headers.
 */
sealed class ObservedHttpRequest extends RequestTimeline permits Exchange {
  private static final int SWITCHING_PROTOCOLS = 101;

  /** How far the request has come; that of one that has ended is where it was then. */
  private enum Stage {
    ARRIVED,
    QUEUED,
    /** It has a permit. */
    RUNNING
  }

  final RequestDispatcher dispatcher;
  private final Caller caller;
  private final HttpRequest request;
  private final String target;
  private final Router.@Nullable ToRevision route;
  private final long arrivedNanos;
  /** The route to the revision that the request has fallen back to. */
  private Router.@Nullable ToRevision fallback;
  /** Null for a request that may not wait. */
  private @Nullable RevisionCount count;
  private Stage stage = Stage.ARRIVED;
  /** Whether the request was ever queued. */
  private boolean waited;
  private int retries;
  private long grantedNanos;
  /** 0 if the connection was already open. */
  private long connectedNanos;
  private @Nullable Destination destination;
  /** The status of the pod's response; 0 before the response. */
  private int responseStatus;
  private long respondedNanos;
  private long endedNanos;
  private long requestBytes;
  private long responseBytes;
  private boolean timed;
  private int status;
  private @Nullable RequestOutcome outcome;
  private @Nullable String failure;

  /** @param route null if there is no such revision */
  ObservedHttpRequest(RequestDispatcher dispatcher, Caller caller, HttpRequest request,
      Router.@Nullable ToRevision route) {
    this.dispatcher = dispatcher;
    this.caller = caller;
    this.request = request;
    this.target = request.uri();
    this.route = route;
    this.arrivedNanos = dispatcher.loop().nanoTime();
  }

  final Router.ToRevision route() {
    return Objects.requireNonNull(route);
  }

  /** The route of the revision that gets the request. Call only for an {@link Exchange}. */
  final Router.ToRevision currentRoute() {
    return fallback == null ? route() : fallback;
  }

  /**
   * The revision that gets the request; another one than {@link #revision} after a fallback. Call
   * only for an {@link Exchange}.
   */
  public final Revision currentRevision() {
    return currentRoute().revision();
  }

  /** What is kept for {@link #currentRevision}. */
  public final LiveRevision currentLive() {
    return currentRoute().live();
  }

  final void fallBack(LiveRevision to) {
    fallback = dispatcher.router().redirect(route(), to);
  }

  /** Counts the request for the autoscaler. */
  final void countIn() {
    count = dispatcher.counter().of(currentLive());
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
    return now() - arrivedNanos;
  }

  final ErrorFormat errorFormat() {
    return ErrorFormat.of(fields());
  }

  final void saw(RequestObserver.Step step) {
    dispatcher.seams().observer().saw(step, this);
  }

  final void queued() {
    if (stage != Stage.QUEUED) {
      stage = Stage.QUEUED;
      waited = true;
      saw(RequestObserver.Step.QUEUED);
    }
  }

  /** @param to over TLS the port differs from that of the pod */
  final void running(Destination to) {
    grantedNanos = waited ? now() : arrivedNanos;
    connectedNanos = 0;
    stage = Stage.RUNNING;
    destination = to;
    failed(null);
    saw(RequestObserver.Step.GRANTED);
    saw(RequestObserver.Step.FORWARDING);
  }

  /** Call only for a new connection. */
  final void connected() {
    connectedNanos = now();
  }

  /** Nothing was sent, and the request will be queued again. */
  final void undelivered(String kind) {
    retries++;
    failed(kind);
    saw(RequestObserver.Step.UNDELIVERED);
  }

  /** Adds {@code Server-Timing} to the head of the pod's response, if the revision shows it. */
  final void responds(HttpResponse head) {
    responseStatus = head.status().code();
    // Those of the revision that the request was sent to, also after a fallback.
    boolean shown = !hasSwitched() && route != null && RequestPhases.areShown(route.revision());
    if (shown) {
      time();
    }
    respondedNanos = timed || waited ? now() : 0;
    saw(RequestObserver.Step.RESPONDING);
    if (shown) {
      head.headers().add(RequestPhases.SERVER_TIMING, phases().serverTiming());
    }
  }

  /** Whether the pod has upgraded the connection. */
  final boolean hasSwitched() {
    return responseStatus == SWITCHING_PROTOCOLS;
  }

  final void read(int bodyBytes) {
    requestBytes += bodyBytes;
  }

  final void wrote(int bodyBytes) {
    responseBytes += bodyBytes;
  }

  /** @param kind a few words without an address; null before a new attempt */
  final void failed(@Nullable String kind) {
    failure = kind;
  }

  final void endedWith(RequestFailure failure) {
    endedWith(failure.answer(errorFormat()), outcome(failure));
  }

  final void endedWith(LocalResponse answer, RequestOutcome how) {
    if (!responded() && !method().equals("HEAD")) {
      wrote(ByteBufUtil.utf8Bytes(answer.body()));
    }
    ended(how, answer.status());
  }

  /** @param as the status to record: the response's if it is complete, else one for the outcome */
  final void ended(RequestOutcome how, int as) {
    outcome = how;
    status = as;
    endedNanos = now();
    saw(RequestObserver.Step.ENDED);
  }

  static RequestOutcome outcome(RequestFailure failure) {
    return switch (failure) {
      case RequestFailure.UnknownRevision _,RequestFailure.UnknownHost _,RequestFailure.NoRule _ ->
        RequestOutcome.REVISION_UNKNOWN;
      case RequestFailure.LookupFailed _ -> RequestOutcome.LOOKUP_FAILED;
      case RequestFailure.QueueFull _ -> RequestOutcome.QUEUE_FULL;
      case RequestFailure.MemoryFull _ -> RequestOutcome.MEMORY_FULL;
      case RequestFailure.DeadlineTooNear _ -> RequestOutcome.DEADLINE_TOO_NEAR;
      case RequestFailure.RevisionGone _ -> RequestOutcome.REVISION_GONE;
      case RequestFailure.CannotStart _ -> RequestOutcome.CANNOT_START;
      case RequestFailure.ShuttingDown _ -> RequestOutcome.SHUTTING_DOWN;
      case RequestFailure.BadGateway _,RequestFailure.Unreachable _ -> RequestOutcome.BAD_GATEWAY;
      case RequestFailure.Unread _ -> RequestOutcome.UNREAD;
      case RequestFailure.Internal _ -> RequestOutcome.INTERNAL;
      case RequestFailure.TimedOut(var kind, _) -> switch (kind) {
        case OVERALL -> RequestOutcome.REQUEST_TIMEOUT;
        case RESPONSE_START -> RequestOutcome.RESPONSE_START_TIMEOUT;
        case IDLE -> RequestOutcome.IDLE_TIMEOUT;
        case QUEUE -> RequestOutcome.QUEUE_TIMEOUT;
        case START -> RequestOutcome.START_TIMEOUT;
        case CALLER -> RequestOutcome.CALLER_DEADLINE;
      };
      case RequestFailure.BadRequest _,RequestFailure.HeadTooLarge _,RequestFailure.UnknownVersion _ ->
        RequestOutcome.BAD_REQUEST;
      case RequestFailure.UnknownCoding _,RequestFailure.UnknownExpectation _ ->
        RequestOutcome.BAD_REQUEST;
    };
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
    return PodProtocol.of(isHttp2(), currentRevision(), fields()) == PortProtocol.H2C;
  }

  final boolean isHttp2() {
    return request.protocolVersion().majorVersion() == Http2HeadParser.VERSION.majorVersion();
  }

  @Override
  public boolean podSecure() {
    return dispatcher.pools().isSecure();
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
  public void header(String name, String value) {
    request.headers().set(name, value);
  }

  @Override
  public @Nullable Revision revision() {
    return route == null ? null : route.revision();
  }

  @Override
  public @Nullable LiveRevision live() {
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

  @Override
  public long arrivedNanos() {
    return arrivedNanos;
  }

  @Override
  public void time() {
    timed = true;
  }

  @Override
  public long respondedNanos() {
    return respondedNanos;
  }

  @Override
  public long endedNanos() {
    return endedNanos;
  }

  @Override
  public long requestBytes() {
    return requestBytes;
  }

  @Override
  public long responseBytes() {
    return responseBytes;
  }

  @Override
  public int status() {
    return status;
  }

  @Override
  public @Nullable RequestOutcome outcome() {
    return outcome;
  }

  @Override
  public @Nullable String failure() {
    return failure;
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
