package dev.activator.upstream.policy;

/**
 * Whether the other end of a TCP connection is alive, according to the kernel.
 *
 * <p><b>Source.</b> {@code tcp_keepalive_timer} in Linux. {@code TCP_USER_TIMEOUT} is not used: it
 * also ends connections of pods that are alive and do not read.
 */
public enum TcpConnectionHealth {
  /** The kernel's state cannot be read. */
  UNKNOWN,
  /** All sent data is acknowledged, or something was received recently. */
  ALIVE,
  /** Neither retransmissions nor keep-alive probes were acknowledged, and nothing was received. */
  SILENT,
  CLOSED;

  /** The number of consecutive silent checks after which the pod counts as gone. */
  public static final int CHECKS_UNTIL_GONE = 3;

  /**
   * @param repeats retransmissions and probes since the last acknowledgement
   * @param silentMillis since something was received
   */
  public static TcpConnectionHealth of(int repeats, long silentMillis, long intervalMillis) {
    // A little less than the interval, because checks may run early.
    return repeats > 0 && silentMillis >= intervalMillis * 4 / 5 ? SILENT : ALIVE;
  }
}
