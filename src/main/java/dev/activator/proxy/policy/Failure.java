package dev.activator.proxy.policy;

import dev.activator.revision.RevisionId;
import java.util.Map;
import java.util.TreeMap;

/** Why a request was not served, and what its caller is told. No text names an address. */
public sealed interface Failure {
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
  record QueueFull() implements Failure {}

  /** The revision was deleted while the request waited. */
  record RevisionGone(RevisionId revision) implements Failure {}

  /** The revision's containers failed to start while the request waited. */
  record CannotStart(RevisionId revision, String reason, String message) implements Failure {
    private String text() {
      return "revision " + revision + " cannot start: " + (message.isEmpty() ? reason : message);
    }
  }

  /** The revision's time for a request is over. */
  record TimedOut() implements Failure {}

  /** The pod gave no answer; {@code kind} says what happened to the connection. */
  record BadGateway(String kind) implements Failure {}

  /** Something here went wrong. */
  record Internal() implements Failure {}

  /** What the caller gets. */
  default Answer answer() {
    return switch (this) {
      case BadRequest(var what) -> Answer.error(400, "400 Bad Request: " + what);
      case HeadTooLarge() -> Answer.error(431, "431 Request Header Fields Too Large");
      case UnknownVersion() -> Answer.error(505, "505 HTTP Version Not Supported");
      case UnknownCoding() -> Answer.error(501, "501 Not Implemented: transfer coding");
      case UnknownExpectation() -> Answer.error(417, "417 Expectation Failed");
      case UnknownRevision(var name) -> Answer.error(404, notFound(name));
      case LookupFailed() ->
        Answer.error(500, "Error getting active endpoint: the revision could not be looked up");
      case QueueFull() -> retryLater("pending request queue full");
      case RevisionGone(var revision) -> Answer.error(404, notFound(revision.name()));
      case CannotStart start -> Answer.error(503, start.text());
      // Written as Knative does, without a line end and the header against sniffing.
      case TimedOut() -> Answer.plain(504, "activator request timeout");
      case BadGateway(var kind) -> Answer.error(502, kind);
      case Internal() -> Answer.empty(500);
    };
  }

  /** Whether nothing more can be read of the connection, as it is not certain where. */
  default boolean endsConnection() {
    return switch (this) {
      case BadRequest _,HeadTooLarge _,UnknownVersion _,UnknownCoding _,UnknownExpectation _ ->
        true;
      case UnknownRevision _,LookupFailed _,QueueFull _,RevisionGone _,CannotStart _ -> false;
      case TimedOut _,BadGateway _,Internal _ -> false;
    };
  }

  private static Answer retryLater(String message) {
    var error = Answer.error(503, message);
    var headers = new TreeMap<>(error.headers());
    headers.put("Retry-After", "1");
    return new Answer(error.status(), Map.copyOf(headers), error.body());
  }

  private static String notFound(String name) {
    return "Error getting active endpoint: revision.serving.knative.dev \"" + name
        + "\" not found";
  }
}
