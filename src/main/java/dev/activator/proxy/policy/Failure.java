package dev.activator.proxy.policy;

import dev.activator.revision.RevisionId;

/** Why a request was not served, and what its caller is told. No text names an address. */
public sealed interface Failure {
  /** The header that says in a word why a request for a revision was refused or given up. */
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

  /** There is no such revision; the name may be empty. */
  record UnknownRevision(String name) implements Failure {}

  /** Whether there is such a revision could not be told. */
  record LookupFailed() implements Failure {}

  /** As many requests wait as may. */
  record QueueFull(int retryAfterSeconds) implements Failure {}

  /** Requests that wait hold as much memory as they may. */
  record MemoryFull(int retryAfterSeconds) implements Failure {}

  /** The revision was never quick enough to start for what the caller allows. */
  record TooLate(int retryAfterSeconds) implements Failure {}

  /** The revision was deleted while the request waited. */
  record RevisionGone(RevisionId revision) implements Failure {}

  /**
   * The revision's containers failed to start while the request waited.
   *
   * @param reason one word
   * @param message a sentence, for callers who may read all about it; else empty
   */
  record CannotStart(RevisionId revision, String reason, String message) implements Failure {
    private String text() {
      return "revision " + revision + " cannot start: " + (message.isEmpty() ? reason : message);
    }
  }

  /** The time for a request is over. */
  record TimedOut(TimeoutKind budget) implements Failure {}

  /** The pod gave no answer; {@code kind} says what happened to the connection. */
  record BadGateway(String kind) implements Failure {}

  /** Something here went wrong. */
  record Internal() implements Failure {}

  /** What the caller gets. */
  default LocalResponse answer() {
    return switch (this) {
      case BadRequest(var what) -> LocalResponse.error(400, "400 Bad Request: " + what);
      case HeadTooLarge() -> LocalResponse.error(431, "431 Request Header Fields Too Large");
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
      case TooLate(int seconds) ->
        refused("the revision cannot start before the deadline of the request",
            "deadline-too-near", seconds);
      case RevisionGone(var revision) ->
        LocalResponse.error(404, notFound(revision.name())).with(REASON, "revision-gone");
      case CannotStart start ->
        LocalResponse.problem(503, "Service Unavailable", start.text(), start.reason()).with(REASON,
            "cannot-start");
      // Written as Knative does, without a line end and the header against sniffing.
      case TimedOut(var budget) ->
        LocalResponse.plain(504, budget.text()).with(REASON, budget.reason());
      case BadGateway(var kind) -> LocalResponse.error(502, kind);
      case Internal() -> LocalResponse.empty(500);
    };
  }

  /** Whether nothing more can be read of the connection, as it is not certain where. */
  default boolean endsConnection() {
    return switch (this) {
      case BadRequest _,HeadTooLarge _,UnknownVersion _,UnknownCoding _,UnknownExpectation _ ->
        true;
      case UnknownRevision _,LookupFailed _,QueueFull _,MemoryFull _,TooLate _ -> false;
      case RevisionGone _,CannotStart _ -> false;
      case TimedOut _,BadGateway _,Internal _ -> false;
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
