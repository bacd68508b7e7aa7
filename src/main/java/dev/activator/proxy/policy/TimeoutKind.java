package dev.activator.proxy.policy;

/** Which time limit ended a request. */
public enum TimeoutKind {
  /** The revision's for a whole request. */
  OVERALL("request-timeout", ""),
  /** The revision's for the first byte of the response. */
  RESPONSE_START("response-start-timeout", ""),
  /** The revision's between two writes of the response. */
  IDLE("idle-timeout", ""),
  /** The revision's for the time in the queue. */
  QUEUE("queue-timeout", ": no pod was free in time"),
  /** The one that the caller sent. */
  CALLER("caller-deadline", ": the deadline of the request has passed");

  private final String reason;
  private final String detail;

  TimeoutKind(String reason, String detail) {
    this.reason = reason;
    this.detail = detail;
  }

  /** One word, for machines. */
  public String reason() {
    return reason;
  }

  /** The text for the caller: of the revision's own timeouts exactly what Knative says. */
  public String text() {
    return "activator request timeout" + detail;
  }
}
