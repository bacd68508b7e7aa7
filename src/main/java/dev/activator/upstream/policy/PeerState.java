package dev.activator.upstream.policy;

/**
 * What the kernel knows of a connection.
 *
 * <p><b>Source.</b> {@code tcp_keepalive_timer} in Linux. {@code TCP_USER_TIMEOUT} is not used: it also ends
 * connections of pods that are alive and do not read.
 */
public enum PeerState {
  /** The kernel cannot be asked. */
  UNKNOWN,
  /** Everything sent was acknowledged. */
  ALIVE,
  /** Neither repeated data nor probes were acknowledged, and nothing came. */
  SILENT, CLOSED;

  /** Silent checks in a row after which the pod is gone. */
  public static final int CHECKS_UNTIL_GONE = 3;

  /**
   * @param repeats retransmissions and probes since the last acknowledgement
   * @param silentMillis since anything came
   * @param intervalMillis between two checks
   */
  public static PeerState of(int repeats, long silentMillis, long intervalMillis) {
    // A bit less than the interval, as a check may come early.
    return repeats > 0 && silentMillis >= intervalMillis * 4 / 5 ? SILENT : ALIVE;
  }
}
