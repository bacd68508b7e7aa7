package dev.activator.backend.policy;

/**
 * What the result of one probe says of the pod's health.
 *
 * @param detail a text for people
 */
public record ProbeVerdict(Kind kind, String detail) {
  /** The complete body of a queue-proxy's answer to a probe. */
  static final String EXPECTED_BODY = "queue";

  public static final ProbeVerdict ANSWERS = new ProbeVerdict(Kind.HEALTHY, "answers");

  public enum Kind {
    /** Requests can be sent. */
    HEALTHY,
    /** A wrong answer, but not one of a mesh. */
    UNHEALTHY,
    /** An answer to the probe of a port, but not the expected one. */
    UNEXPECTED,
    /** A container accepted the connection, but did not answer in time. */
    SLOW,
    /** The answer of a mesh that does not let the probe through. */
    MESH_LIKE,
    /** A mesh cut the connection, or the pod does not answer. */
    NO_ANSWER,
    /** The attempt to connect got no answer, or failed in this process. */
    NO_CONNECTION,
    /**
     * The pod's host refused the connection, because no server listens yet, or because of a mesh or
     * a network policy.
     */
    REFUSED;

    /** Whether a probe that fails like this takes little time and work. */
    boolean isCheap() {
      return this == REFUSED || this == UNEXPECTED;
    }

    boolean indicatesMesh() {
      return this == MESH_LIKE || isWithoutAnswer();
    }

    boolean isWithoutAnswer() {
      return this == NO_ANSWER || this == NO_CONNECTION || this == REFUSED;
    }
  }

  /**
   * <b>Source.</b> Knative's {@code isNotMesh}: meshes answer requests to a pod's address with 502
   * or 503.
   */
  public static ProbeVerdict of(int status, String body) {
    if (status != 200) {
      return refusal(status);
    }
    return body.equals(EXPECTED_BODY)
        ? ANSWERS
        : new ProbeVerdict(Kind.UNHEALTHY, "answered 200, but is no queue-proxy");
  }

  /** <b>Source.</b> Kubernetes' {@code pkg/probe/http}. */
  public static ProbeVerdict ofContainer(int status) {
    return status >= 200 && status < 400 ? ANSWERS : refusal(status);
  }

  private static ProbeVerdict refusal(int status) {
    return new ProbeVerdict(
        status == 502 || status == 503 ? Kind.MESH_LIKE : Kind.UNHEALTHY,
        "answered " + status);
  }

  public boolean healthy() {
    return kind == Kind.HEALTHY;
  }
}
