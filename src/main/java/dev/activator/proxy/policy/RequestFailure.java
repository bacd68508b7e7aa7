package dev.activator.proxy.policy;

import dev.activator.http.HeaderMap;
import dev.activator.revision.RevisionId;

/** The reason why a request was not served, with the response to it. No text names an address. */
public sealed interface RequestFailure {
  /** The header that gives the reason in one word. */
  String REASON = "K-Activator-Reason";
  /** The maximum length of a caller's text in a response. */
  int MAX_TEXT_LENGTH = 200;

  /** The request is malformed or ambiguous. */
  record BadRequest(String problem) implements RequestFailure {}

  record HeadTooLarge() implements RequestFailure {}

  record UnknownVersion() implements RequestFailure {}

  record UnknownCoding() implements RequestFailure {}

  record UnknownExpectation() implements RequestFailure {}

  /** There is no such revision. The name may be empty. */
  record UnknownRevision(String name) implements RequestFailure {}

  /** No ScaledService has the host. */
  record UnknownHost(String host, UnknownHostHint known) implements RequestFailure {
    private String text() {
      return "404 Not Found: no service has the host " + shortened(host)
          + (known.deleted() ? ": it was deleted" : "")
          + (known.hosts().isEmpty() ? "" : "; there are " + String.join(", ", known.hosts()));
    }
  }

  /** A ScaledService has the host, but none of its rules matches the request. */
  record NoRule(String host, String target) implements RequestFailure {
    private String text() {
      int query = target.indexOf('?');
      return "404 Not Found: no rule for the host " + shortened(host) + " matches the path "
          + shortened(query < 0 ? target : target.substring(0, query)) + " and the headers";
    }
  }

  /** The request was queued when the activator shut down. */
  record ShuttingDown(RevisionId revision) implements RequestFailure {}

  record LookupFailed() implements RequestFailure {}

  record QueueFull(int retryAfterSeconds) implements RequestFailure {}

  record MemoryFull(int retryAfterSeconds) implements RequestFailure {}

  /** No known start of the revision was fast enough for the request's deadline. */
  record DeadlineTooNear(int retryAfterSeconds) implements RequestFailure {}

  record RevisionGone(RevisionId revision) implements RequestFailure {}

  /**
   * @param reason one word
   * @param message empty if callers may not read it
   */
  record CannotStart(RevisionId revision, String reason, String message) implements RequestFailure {
    private String text() {
      return "revision " + revision + " cannot start: " + (message.isEmpty() ? reason : message);
    }
  }

  /** @param why why the request was still waiting; empty if it had a pod */
  record TimedOut(TimeoutKind kind, String why) implements RequestFailure {
    private String text() {
      return kind.text() + (why.isEmpty() ? "" : ": " + why);
    }
  }

  /**
   * @param kind what happened to the connection
   * @param reason one word; may be empty
   */
  record BadGateway(String kind, String reason) implements RequestFailure {
    public BadGateway(String kind) {
      this(kind, "");
    }
  }

  /** The pod that alone could answer the request is gone; its caller may begin a new session. */
  record PodGone() implements RequestFailure {}

  /** No destination has accepted a connection for a long time, so requests no longer wait. */
  record Unreachable() implements RequestFailure {}

  record Unread() implements RequestFailure {}

  /** A bug. */
  record Internal() implements RequestFailure {}

  default LocalResponse answer(ErrorFormat format) {
    return format.of(answer(), this instanceof CannotStart start ? start.reason() : "");
  }

  /** The response, as text. */
  default LocalResponse answer() {
    return switch (this) {
      case BadRequest(var problem) -> LocalResponse.error(400, "400 Bad Request: " + problem);
      case HeadTooLarge() ->
        LocalResponse.error(431, "431 Request Header Fields Too Large").with(REASON,
            "head-too-large");
      case UnknownVersion() -> LocalResponse.error(505, "505 HTTP Version Not Supported");
      case UnknownCoding() -> LocalResponse.error(501, "501 Not Implemented: transfer coding");
      case UnknownExpectation() -> LocalResponse.error(417, "417 Expectation Failed");
      case UnknownRevision(var name) -> LocalResponse.error(404, notFound(name));
      case UnknownHost host ->
        LocalResponse.error(404, host.text()).with(REASON, "unknown-host");
      case NoRule request ->
        LocalResponse.error(404, request.text()).with(REASON, "no-rule");
      case ShuttingDown(var revision) -> LocalResponse
          .error(503,
              "the activator is shutting down, and no pod of revision " + revision + " was free")
          .with(REASON, "shutting-down");
      case LookupFailed() ->
        LocalResponse.error(500,
            "Error getting active endpoint: the revision could not be looked up");
      case QueueFull(int seconds) ->
        refused("pending request queue full", "queue-full", seconds);
      case MemoryFull(int seconds) ->
        refused("pending request queue full", "memory-full", seconds);
      case DeadlineTooNear(int seconds) ->
        refused("the revision cannot start before the deadline of the request",
            "deadline-too-near", seconds);
      case RevisionGone(var revision) ->
        LocalResponse.error(404, notFound(revision.name())).with(REASON, "revision-gone");
      case CannotStart start ->
        LocalResponse.error(503, start.text()).with(REASON, "cannot-start");
      // Like Knative's response, this one has no line end and no {@code nosniff}.
      case TimedOut timedOut ->
        LocalResponse.plain(504, timedOut.text()).with(REASON, timedOut.kind.reason());
      case BadGateway(var kind, var reason) when reason.isEmpty() -> LocalResponse.error(502, kind);
      case BadGateway(var kind, var reason) ->
        LocalResponse.error(502, kind).with(REASON, reason);
      case PodGone() ->
        LocalResponse.error(404, "the pod of this session is gone").with(REASON, "pod-gone");
      case Unreachable() ->
        LocalResponse.error(502, "no pod accepts connections").with(REASON, "unreachable");
      case Unread() ->
        LocalResponse.error(503, "the response is not read").with(REASON, "unread");
      case Internal() -> LocalResponse.empty(500);
    };
  }

  /** Whether the connection must end, because it is uncertain where the next request begins. */
  default boolean endsConnection() {
    return switch (this) {
      case BadRequest _,HeadTooLarge _,UnknownVersion _,UnknownCoding _,UnknownExpectation _ ->
        true;
      case UnknownRevision _,UnknownHost _,NoRule _,LookupFailed _,QueueFull _,MemoryFull _ ->
        false;
      case DeadlineTooNear _,RevisionGone _,CannotStart _,ShuttingDown _ -> false;
      case TimedOut _,BadGateway _,PodGone _,Unreachable _,Unread _,Internal _ -> false;
    };
  }

  private static String shortened(String text) {
    return text.length() <= MAX_TEXT_LENGTH ? text : text.substring(0, MAX_TEXT_LENGTH) + "…";
  }

  private static LocalResponse refused(String message, String reason, int retryAfterSeconds) {
    return LocalResponse.error(503, message).with(REASON, reason).with("Retry-After",
        Integer.toString(retryAfterSeconds));
  }

  private static String notFound(String name) {
    return "Error getting active endpoint: revision.serving.knative.dev \"" + name
        + "\" not found";
  }
}
