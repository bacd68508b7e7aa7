package dev.activator.proxy.policy;

import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RevisionId;

/**
 * Why a request was not served, with the response to it. No text names an address.
 *
 * @param answer as text
 * @param cause of a revision that cannot start, in one word; else empty
 */
public record RequestFailure(RequestOutcome outcome, LocalResponse answer, String cause) {
  /** The header that gives the reason in one word. */
  public static final String REASON = "K-Activator-Reason";
  /** The maximum length of a caller's text in a response. */
  private static final int MAX_TEXT_LENGTH = 200;

  /** A failure with the outcome's name as the reason. */
  private static RequestFailure of(RequestOutcome outcome, int status, String message) {
    return of(outcome, status, message, outcome.toString());
  }

  private static RequestFailure of(RequestOutcome outcome, int status, String message,
      String reason) {
    return new RequestFailure(outcome, LocalResponse.error(status, message).with(REASON, reason),
        "");
  }

  private static RequestFailure withoutReason(RequestOutcome outcome, int status,
      String message) {
    return new RequestFailure(outcome, LocalResponse.error(status, message), "");
  }

  public LocalResponse answer(ErrorFormat format) {
    return format.of(answer, cause);
  }

  /** Whether it is uncertain where the next request begins. */
  public boolean endsConnection() {
    return outcome == RequestOutcome.BAD_REQUEST;
  }

  /** The request is malformed or ambiguous. */
  public static RequestFailure badRequest(String problem) {
    return withoutReason(RequestOutcome.BAD_REQUEST, 400, "400 Bad Request: " + problem);
  }

  public static RequestFailure headTooLarge() {
    return of(RequestOutcome.BAD_REQUEST, 431, "431 Request Header Fields Too Large",
        "head-too-large");
  }

  static RequestFailure unknownVersion() {
    return withoutReason(RequestOutcome.BAD_REQUEST, 505, "505 HTTP Version Not Supported");
  }

  static RequestFailure unknownCoding() {
    return withoutReason(RequestOutcome.BAD_REQUEST, 501, "501 Not Implemented: transfer coding");
  }

  static RequestFailure unknownExpectation() {
    return withoutReason(RequestOutcome.BAD_REQUEST, 417, "417 Expectation Failed");
  }

  /** @param name may be empty */
  static RequestFailure unknownRevision(String name) {
    return withoutReason(RequestOutcome.REVISION_UNKNOWN, 404, notFound(name));
  }

  /**
   * No ScaledService has the host.
   *
   * @param hint what is known of this host and others; may be empty
   */
  static RequestFailure unknownHost(String host, String hint) {
    return of(RequestOutcome.REVISION_UNKNOWN, 404,
        "404 Not Found: no service has the host " + shortened(host) + hint, "unknown-host");
  }

  /** A ScaledService has the host, but none of its rules matches the request. */
  static RequestFailure noRule(String host, String target) {
    int query = target.indexOf('?');
    return of(RequestOutcome.REVISION_UNKNOWN, 404,
        "404 Not Found: no rule for the host " + shortened(host) + " matches the path "
            + shortened(query < 0 ? target : target.substring(0, query)) + " and the headers",
        "no-rule");
  }

  public static RequestFailure lookupFailed() {
    return withoutReason(RequestOutcome.LOOKUP_FAILED, 500,
        "Error getting active endpoint: the revision could not be looked up");
  }

  /** The request was queued when the activator shut down. */
  public static RequestFailure shuttingDown(RevisionId revision) {
    return of(RequestOutcome.SHUTTING_DOWN, 503,
        "the activator is shutting down, and no pod of revision " + revision + " was free");
  }

  public static RequestFailure queueFull(int retryAfterSeconds) {
    return refused(RequestOutcome.QUEUE_FULL, "pending request queue full", retryAfterSeconds);
  }

  public static RequestFailure memoryFull(int retryAfterSeconds) {
    return refused(RequestOutcome.MEMORY_FULL, "pending request queue full", retryAfterSeconds);
  }

  /** No known start of the revision was fast enough for the request's deadline. */
  public static RequestFailure deadlineTooNear(int retryAfterSeconds) {
    return refused(RequestOutcome.DEADLINE_TOO_NEAR,
        "the revision cannot start before the deadline of the request", retryAfterSeconds);
  }

  private static RequestFailure refused(RequestOutcome outcome, String message, int retryAfter) {
    return new RequestFailure(outcome, of(outcome, 503, message).answer.with("Retry-After",
        Integer.toString(retryAfter)), "");
  }

  public static RequestFailure revisionGone(RevisionId revision) {
    return of(RequestOutcome.REVISION_GONE, 404, notFound(revision.name()));
  }

  /**
   * @param reason one word
   * @param message empty if callers may not read it
   */
  public static RequestFailure cannotStart(RevisionId revision, String reason, String message) {
    var failure = of(RequestOutcome.CANNOT_START, 503,
        "revision " + revision + " cannot start: " + (message.isEmpty() ? reason : message));
    return new RequestFailure(failure.outcome, failure.answer, reason);
  }

  /**
   * For a revision's own timeouts the text is exactly Knative's.
   *
   * @param kind which timeout is over
   * @param why why the request was still waiting; empty if it had a pod
   */
  public static RequestFailure timedOut(RequestOutcome kind, String why) {
    var detail = switch (kind) {
      case QUEUE_TIMEOUT -> ": no pod was free in time";
      case START_TIMEOUT -> ": no pod started in time";
      case CALLER_DEADLINE -> ": the deadline of the request has passed";
      default -> "";
    };
    // Like Knative's response, this one has no line end and no {@code nosniff}.
    return new RequestFailure(kind, LocalResponse.plain(504, "activator request timeout" + detail
        + (why.isEmpty() ? "" : ": " + why)).with(REASON, kind.toString()), "");
  }

  /** @param kind what happened to the connection */
  public static RequestFailure badGateway(String kind) {
    return withoutReason(RequestOutcome.BAD_GATEWAY, 502, kind);
  }

  /** The pod does not answer any more, but its connection is open. */
  public static RequestFailure unresponsive(String kind) {
    return of(RequestOutcome.BAD_GATEWAY, 502, kind, "pod-unresponsive");
  }

  /** The pod that alone could answer the request is gone; its caller may begin a new session. */
  public static RequestFailure podGone() {
    return of(RequestOutcome.POD_GONE, 404, "the pod of this session is gone");
  }

  /** No destination has accepted a connection for a long time, so requests no longer wait. */
  public static RequestFailure unreachable() {
    return of(RequestOutcome.BAD_GATEWAY, 502, "no pod accepts connections", "unreachable");
  }

  public static RequestFailure unread() {
    return of(RequestOutcome.UNREAD, 503, "the response is not read");
  }

  /** A bug. */
  public static RequestFailure internal() {
    return new RequestFailure(RequestOutcome.INTERNAL, LocalResponse.empty(500), "");
  }

  private static String shortened(String text) {
    return text.length() <= MAX_TEXT_LENGTH ? text : text.substring(0, MAX_TEXT_LENGTH) + "…";
  }

  /** Knative's text, also without Knative: callers may read it. */
  private static String notFound(String name) {
    return "Error getting active endpoint: revision.serving.knative.dev \"" + name
        + "\" not found";
  }
}
