package dev.activator.proxy.exchange;

import dev.activator.observability.ServerTiming;
import dev.activator.observability.request.Outcome;
import dev.activator.observability.request.RequestRecord;
import dev.activator.proxy.codec.NettyFields;
import dev.activator.proxy.policy.Failure;
import dev.activator.proxy.policy.Target;
import dev.activator.proxy.policy.field.Field;
import dev.activator.proxy.route.Route;
import io.netty.handler.codec.http.HttpRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What observers may know of an HTTP request, and the headers they may change.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 */
final class HttpPassage extends RequestRecord {
  private final Worker worker;
  private final Caller caller;
  private final HttpRequest request;
  private final String target;
  private final Route.@Nullable To route;

  private HttpPassage(Worker worker, Caller caller, Route.@Nullable To route,
      HttpRequest request) {
    super(worker.observer(), route == null ? null : route.revision(), worker.loop().nanoTime());
    this.worker = worker;
    this.caller = caller;
    this.request = request;
    this.target = request.uri();
    this.route = route;
  }

  /** Of one that has arrived and will have an exchange; its request is as the caller sent it. */
  static HttpPassage to(Route.To route, Worker worker, Caller caller, HttpRequest request) {
    return new HttpPassage(worker, caller, route, request);
  }

  /** Of one whose revision is not known: it is over already. Others that are refused are no one's. */
  static void refused(Failure failure, Worker worker, Caller caller, HttpRequest request) {
    if (failure instanceof Failure.UnknownRevision || failure instanceof Failure.LookupFailed) {
      var passage = new HttpPassage(worker, caller, null, request);
      passage.begin();
      passage.ended(failure);
    }
  }

  /** Whether its caller is told what it waited for; if so, the time is taken from now on. */
  boolean wantsTiming() {
    boolean wanted = route != null && ServerTiming.isWanted(route.revision());
    if (wanted) {
      time();
    }
    return wanted;
  }

  /** It is over, and the caller gets this answer, or none if a response has begun. */
  void ended(Failure failure) {
    var answer = failure.answer();
    if (!responded() && !method().equals("HEAD")) {
      wrote(answer.bodyBytes());
    }
    ended(outcome(failure), answer.status());
  }

  /** The pod's answer has reached its end; as with Go's servers, an agreement counts as a 200. */
  void succeeded(boolean switched) {
    ended(switched ? Outcome.UPGRADED : Outcome.ANSWERED, switched ? 200 : responseStatus());
  }

  private static Outcome outcome(Failure failure) {
    return switch (failure) {
      case Failure.UnknownRevision _ -> Outcome.REVISION_UNKNOWN;
      case Failure.LookupFailed _ -> Outcome.LOOKUP_FAILED;
      case Failure.QueueFull _ -> Outcome.QUEUE_FULL;
      case Failure.MemoryFull _ -> Outcome.MEMORY_FULL;
      case Failure.TooLate _ -> Outcome.DEADLINE_TOO_NEAR;
      case Failure.RevisionGone _ -> Outcome.REVISION_GONE;
      case Failure.CannotStart _ -> Outcome.CANNOT_START;
      case Failure.BadGateway _ -> Outcome.BAD_GATEWAY;
      case Failure.Internal _ -> Outcome.INTERNAL;
      case Failure.TimedOut(var budget) -> switch (budget) {
        case OVERALL -> Outcome.REQUEST_TIMEOUT;
        case RESPONSE_START -> Outcome.RESPONSE_START_TIMEOUT;
        case IDLE -> Outcome.IDLE_TIMEOUT;
        case QUEUE -> Outcome.QUEUE_TIMEOUT;
        case CALLER -> Outcome.CALLER_DEADLINE;
      };
      case Failure.BadRequest _,Failure.HeadTooLarge _,Failure.UnknownVersion _ ->
        Outcome.BAD_REQUEST;
      case Failure.UnknownCoding _,Failure.UnknownExpectation _ -> Outcome.BAD_REQUEST;
    };
  }

  @Override
  public long now() {
    return worker.loop().nanoTime();
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
    var parsed = Target.parse(method(), target);
    return parsed == null ? target : parsed.path();
  }

  @Override
  public String host() {
    return route == null ? new NettyFields(request.headers()).text(Field.HOST) : route.host();
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
    return worker.pools().isSecure();
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
