package dev.activator.backend.policy;

/**
 * The result of a probe.
 *
 * @param verdict what it means
 * @param detail what came back, for people: {@code 503}, {@code connection refused}
 */
public record ProbeOutcome(Verdict verdict, String detail) {
  /** The whole body of a queue-proxy's answer to our probe. */
  static final String EXPECTED_BODY = "queue";

  /** Requests can be sent. */
  public static final ProbeOutcome ANSWERS = new ProbeOutcome(Verdict.HEALTHY, "answers");

  /** What an answer, or the lack of one, means. */
  public enum Verdict {
    /** It answered as it should: requests can be sent. */
    HEALTHY,
    /** Something that is not a mesh answered, but not as it should. */
    UNHEALTHY,
    /** It answered what a mesh does that does not let us through. */
    MESH_LIKE,
    /** It answered nothing, as where a mesh cuts the connection, or a pod does not listen. */
    NO_ANSWER;

    /** Whether a mesh may be in the way. */
    boolean looksLikeAMesh() {
      return this == MESH_LIKE || this == NO_ANSWER;
    }
  }

  /**
   * The meaning of an HTTP answer.
   *
   * <p>
   * <b>Source.</b> {@code isNotMesh} in Knative's {@code revision_backends.go}: 502 and 503 are what
   * meshes answer to a request for a pod's own address.
   */
  public static ProbeOutcome of(int status, String body) {
    if (status != 200) {
      return refusal(status);
    }
    return body.equals(EXPECTED_BODY)
        ? ANSWERS
        : new ProbeOutcome(Verdict.UNHEALTHY, "answered 200, but is no queue-proxy");
  }

  /**
   * The meaning of an HTTP answer of a container itself.
   *
   * <p>
   * <b>Source.</b> {@code pkg/probe/http} in Kubernetes: 200 to 399 is ready.
   */
  public static ProbeOutcome ofContainer(int status) {
    return status >= 200 && status < 400 ? ANSWERS : refusal(status);
  }

  private static ProbeOutcome refusal(int status) {
    return new ProbeOutcome(
        status == 502 || status == 503 ? Verdict.MESH_LIKE : Verdict.UNHEALTHY,
        "answered " + status);
  }

  /** Nothing came back; in a cold start this is what is seen first. */
  public static ProbeOutcome noAnswer(String reason) {
    return new ProbeOutcome(Verdict.NO_ANSWER, reason);
  }

  public boolean healthy() {
    return verdict == Verdict.HEALTHY;
  }
}
