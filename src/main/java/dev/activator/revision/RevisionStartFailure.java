package dev.activator.revision;

/**
 * Why a revision gets no pods: from its condition {@code ContainerHealthy} or {@code ResourcesAvailable}, or from what a
 * ScaledService lacks.
 *
 * @param reason one word, such as {@code ExitCode1}
 * @param message may be empty
 * @param since the transition time, which distinguishes two failures with the same reason
 * @param lasting whether no pod starts until the cause is mended, so that new requests are rejected, too
 * @param forCallers what callers may read of the message; may be empty
 */
public record RevisionStartFailure(String reason, String message, String since, boolean lasting,
    String forCallers) {
  /** One that the next start may not have. */
  public RevisionStartFailure(String reason, String message, String since) {
    this(reason, message, since, false, "");
  }

  /** Whether its pods run, but none was ready in time. */
  public boolean isOverdue() {
    return reason.equals("ProgressDeadlineExceeded");
  }

  /** One that lasts, in Kubernetes' words, which may name what callers must not know. */
  public static RevisionStartFailure lasting(String reason, String message) {
    return new RevisionStartFailure(reason, message, "", true, "");
  }

  /** One that lasts, and that callers may read. */
  public static RevisionStartFailure shown(String reason, String message) {
    return new RevisionStartFailure(reason, message, "", true, message);
  }
}
