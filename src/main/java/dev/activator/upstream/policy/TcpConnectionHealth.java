package dev.activator.upstream.policy;

/**
 * Whether the other end of a TCP connection is alive, as the kernel knows it.
 *
 * <p><b>Source.</b> {@code tcp_keepalive_timer} in Linux. {@code TCP_USER_TIMEOUT} is not used: it
 * also ends connections of pods that are alive and do not read.
 */
public enum TcpConnectionHealth {
  /** The kernel's state cannot be read. */
  UNKNOWN,
  /** Everything sent was acknowledged. */
  ALIVE,
  /** Neither repeated data nor probes were acknowledged, and nothing came. */
  SILENT,
  CLOSED;

  /** How many silent checks in a row mean that the pod is gone. */
  public static final int CHECKS_UNTIL_GONE = 3;

  /**
   * @param repeats retransmissions and probes since the last acknowledgement
   * @param silentMillis since anything came
   */
  public static TcpConnectionHealth of(int repeats, long silentMillis, long intervalMillis) {
    // Less than the interval, as checks may come early.
    return repeats > 0 && silentMillis >= intervalMillis * 4 / 5 ? SILENT : ALIVE;
  }
}
