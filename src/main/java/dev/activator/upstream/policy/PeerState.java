package dev.activator.upstream.policy;

/**
 * The state of a connection, as the kernel knows it.
 *
 * <p>
 * <b>Source.</b> {@code tcp_keepalive_timer} in Linux, which tells silence the same way. The option
 * {@code TCP_USER_TIMEOUT} is not used: it also ends connections of pods that are alive and do not
 * read.
 */
public enum PeerState {
  /** The kernel cannot be asked. */
  UNKNOWN,
  /** It has acknowledged what it was sent, or not been sent anything. */
  ALIVE,
  /** It has acknowledged neither data that was sent repeatedly nor probes, and sends nothing. */
  SILENT,
  /** It has ended the connection. */
  CLOSED;

  /** How many checks in a row find no sign of a pod that is gone. */
  public static final int CHECKS_UNTIL_GONE = 3;

  /**
   * The state of an open connection.
   *
   * @param repeats how often data, or a probe, was sent in vain since the last acknowledgement
   * @param silentMillis since anything came from the other end
   * @param intervalMillis between two checks
   */
  public static PeerState of(int repeats, long silentMillis, long intervalMillis) {
    // A bit less than the interval, so that a check which comes a bit early counts.
    return repeats > 0 && silentMillis >= intervalMillis * 4 / 5 ? SILENT : ALIVE;
  }
}
