package dev.activator.proxy.exchange;

import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.Downstream.Caller;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.ErrorFormat;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.http.KnownHeader;
import dev.activator.proxy.policy.FramingCheck;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.revision.DoNotWakeRule;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An HTTP request as observers see it. They may change its headers. */
final class ObservedHttpRequest extends RequestTimeline {
  private static final int SWITCHING_PROTOCOLS = 101;

  private final Loop loop;
  private final boolean podSecure;
  private final Caller caller;
  private final HttpRequest request;
  private final HeaderFieldList fields;
  private final String target;
  private final Router.@Nullable ToRevision route;

  /**
   * @param podSecure whether the pod is reached over TLS
   * @param route null if there is no such revision
   */
  ObservedHttpRequest(RequestObserver observer, Loop loop, boolean podSecure, Caller caller,
      HttpRequest request, HeaderFieldList fields, Router.@Nullable ToRevision route) {
    super(observer, route == null ? null : route.revision(), loop.nanoTime());
    this.loop = loop;
    this.podSecure = podSecure;
    this.caller = caller;
    this.request = request;
    this.fields = fields;
    this.target = request.uri();
    this.route = route;
  }

  HttpRequest request() {
    return request;
  }

  HeaderFieldList fields() {
    return fields;
  }

  /** The rule that keeps the request from waking its revision; null for most requests. */
  @Nullable DoNotWakeRule rule() {
    return route == null ? null : route.rule();
  }

  @Override
  public boolean mayWake() {
    return rule() == null;
  }

  /** The Service that a mesh routes by; null where pods are reached by their own addresses. */
  @Nullable String service() {
    return route == null ? null : route.service();
  }

  /**
   * The time that the caller's headers give the request. Parsed on each call, as few requests have
   * such a header.
   */
  long callerNanos() {
    return DeadlineCalculator.ofCaller(fields);
  }

  long callerNanosLeft() {
    long whole = callerNanos();
    return whole == DeadlineCalculator.NONE ? whole : whole - (now() - arrivedNanos());
  }

  boolean wantsTiming() {
    boolean wanted = route != null && RequestPhases.areShown(route.revision());
    if (wanted) {
      time();
    }
    return wanted;
  }

  ErrorFormat errorFormat() {
    return ErrorFormat.of(fields);
  }

  void ended(RequestFailure failure) {
    ended(outcome(failure), failure.answer(errorFormat()));
  }

  void ended(RequestOutcome how, LocalResponse answer) {
    if (!responded() && !method().equals("HEAD")) {
      wrote(ByteBufUtil.utf8Bytes(answer.body()));
    }
    ended(how, answer.status());
  }

  /** Whether the pod has switched protocols. */
  boolean switched() {
    return responseStatus() == SWITCHING_PROTOCOLS;
  }

  /** Records the successful end. A 101 counts as a 200, as in Go's servers. */
  void succeeded() {
    ended(switched() ? RequestOutcome.UPGRADED : RequestOutcome.ANSWERED,
        switched() ? 200 : responseStatus());
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
        case CALLER -> RequestOutcome.CALLER_DEADLINE;
      };
      case RequestFailure.BadRequest _,RequestFailure.HeadTooLarge _,RequestFailure.UnknownVersion _ ->
        RequestOutcome.BAD_REQUEST;
      case RequestFailure.UnknownCoding _,RequestFailure.UnknownExpectation _ ->
        RequestOutcome.BAD_REQUEST;
    };
  }

  @Override
  public long now() {
    return loop.nanoTime();
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
    return route == null ? fields.text(KnownHeader.HOST) : route.host();
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
  public void header(String name, String value) {
    request.headers().set(name, value);
  }
}
