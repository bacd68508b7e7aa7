package dev.activator.proxy.policy;

/** Which timeout ended a request. */
public enum TimeoutKind {
  OVERALL("request-timeout", ""),
  RESPONSE_START("response-start-timeout", ""),
  IDLE("idle-timeout", ""),
  QUEUE("queue-timeout", ": no pod was free in time"),
  START("start-timeout", ": no pod started in time"),
  CALLER("caller-deadline", ": the deadline of the request has passed");

  private final String reason;
  private final String detail;

  TimeoutKind(String reason, String detail) {
    this.reason = reason;
    this.detail = detail;
  }

  /** The reason in one word, for machines. */
  public String reason() {
    return reason;
  }

  /** The text for the caller. For a revision's own timeouts it is exactly Knative's. */
  public String text() {
    return "activator request timeout" + detail;
  }
}
