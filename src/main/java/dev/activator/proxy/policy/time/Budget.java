package dev.activator.proxy.policy.time;

/** Which limit of time a request has used up. */
public enum Budget {
  /** The revision's for a whole request. */
  OVERALL("request-timeout", ""),
  /** The revision's for the first byte of a response. */
  RESPONSE_START("response-start-timeout", ""),
  /** The revision's between two writes of a response. */
  IDLE("idle-timeout", ""),
  /** The revision's for waiting. */
  QUEUE("queue-timeout", ": no pod was free in time"),
  /** What the caller itself allowed. */
  CALLER("caller-deadline", ": the deadline of the request has passed");

  private final String reason;
  private final String ending;

  Budget(String reason, String ending) {
    this.reason = reason;
    this.ending = ending;
  }

  /** In a word, for machines. */
  public String reason() {
    return reason;
  }

  /** What a caller is told: of the revision's own timeouts just what Knative says. */
  public String text() {
    return "activator request timeout" + ending;
  }
}
