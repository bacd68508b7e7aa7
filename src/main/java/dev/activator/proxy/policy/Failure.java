package dev.activator.proxy.policy;

import dev.activator.revision.RevisionId;

/** Why a request was not served, and what the caller is told. No text names an address. */
public sealed interface Failure {
  /** The header with a word that says why a request was refused or given up. */
  String REASON = "K-Activator-Reason";

  /** The request is malformed, or it is not certain where it ends. */
  record BadRequest(String what) implements Failure {}

  /** The request line and headers are longer than is read. */
  record HeadTooLarge() implements Failure {}

  /** A version of HTTP that is not spoken here. */
  record UnknownVersion() implements Failure {}

  /** A transfer coding other than {@code chunked}. */
  record UnknownCoding() implements Failure {}

  /** An expectation other than {@code 100-continue}. */
  record UnknownExpectation() implements Failure {}

  /** The revision does not exist; the name may be empty. */
  record UnknownRevision(String name) implements Failure {}

  /** The revision could not be looked up. */
  record LookupFailed() implements Failure {}

  /** The queue is full. */
  record QueueFull(int retryAfterSeconds) implements Failure {}

  /** Requests hold as much memory as they may. */
  record MemoryFull(int retryAfterSeconds) implements Failure {}

  /** The revision never started quickly enough for the deadline of the request. */
  record DeadlineTooNear(int retryAfterSeconds) implements Failure {}

  /** The revision was deleted while the request was queued. */
  record RevisionGone(RevisionId revision) implements Failure {}

  /**
   * The revision's containers failed to start while the request was queued.
   *
   * @param reason one word
   * @param message a sentence, for callers who may read it; else empty
   */
  record CannotStart(RevisionId revision, String reason, String message) implements Failure {
    private String text() {
      return "revision " + revision + " cannot start: " + (message.isEmpty() ? reason : message);
    }
  }

  /** A time limit is over. */
  record TimedOut(TimeoutKind kind) implements Failure {}

  /**
   * The pod gave no answer.
   *
   * @param kind what happened to the connection
   * @param reason one word; may be empty
   */
  record BadGateway(String kind, String reason) implements Failure {
    public BadGateway(String kind) {
      this(kind, "");
    }
  }

  /** What served the revision has accepted no connections for so long that none should wait. */
  record Unreachable() implements Failure {}

  /** The caller does not take the response, and too much is held of it and of others. */
  record Unread() implements Failure {}

  /** A bug. */
  record Internal() implements Failure {}

  /** What the caller gets. */
  default LocalResponse answer() {
    return switch (this) {
      case BadRequest(var what) -> LocalResponse.error(400, "400 Bad Request: " + what);
      case HeadTooLarge() ->
        LocalResponse.error(431, "431 Request Header Fields Too Large").with(REASON,
            "head-too-large");
      case UnknownVersion() -> LocalResponse.error(505, "505 HTTP Version Not Supported");
      case UnknownCoding() -> LocalResponse.error(501, "501 Not Implemented: transfer coding");
      case UnknownExpectation() -> LocalResponse.error(417, "417 Expectation Failed");
      case UnknownRevision(var name) -> LocalResponse.error(404, notFound(name));
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
        LocalResponse.problem(503, "Service Unavailable", start.text(), start.reason()).with(REASON,
            "cannot-start");
      // As in Knative, without a line end and the header against sniffing.
      case TimedOut(var kind) -> LocalResponse.plain(504, kind.text()).with(REASON, kind.reason());
      case BadGateway(var kind, var reason) when reason.isEmpty() -> LocalResponse.error(502, kind);
      case BadGateway(var kind, var reason) ->
        LocalResponse.error(502, kind).with(REASON, reason);
      case Unreachable() ->
        LocalResponse.error(502, "no pod accepts connections").with(REASON, "unreachable");
      case Unread() ->
        LocalResponse.error(503, "the response is not read").with(REASON, "unread");
      case Internal() -> LocalResponse.empty(500);
    };
  }

  /** Whether the connection cannot be read on, because it is not certain where the next begins. */
  default boolean endsConnection() {
    return switch (this) {
      case BadRequest _,HeadTooLarge _,UnknownVersion _,UnknownCoding _,UnknownExpectation _ ->
        true;
      case UnknownRevision _,LookupFailed _,QueueFull _,MemoryFull _,DeadlineTooNear _ -> false;
      case RevisionGone _,CannotStart _ -> false;
      case TimedOut _,BadGateway _,Unreachable _,Unread _,Internal _ -> false;
    };
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
