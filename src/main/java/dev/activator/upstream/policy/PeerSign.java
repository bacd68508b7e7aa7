package dev.activator.upstream.policy;

import java.time.Duration;

/**
 * What the kernel knows of a connection's other end.
 *
 * <p>
 * <b>Source.</b> {@code tcp_keepalive_timer} in Linux, which tells silence the same way. The option
 * {@code TCP_USER_TIMEOUT} is not used: it also ends connections of pods that are alive and do not
 * read.
 */
public enum PeerSign {
  /** The kernel cannot be asked. */
  UNKNOWN,
  /** It has acknowledged what it was sent, or not been sent anything. */
  ALIVE,
  /** It has acknowledged neither data that was sent repeatedly nor probes, and sends nothing. */
  SILENT,
  /** It has ended the connection. */
  CLOSED;

  /** So many checks in a row without a sign mean that it is gone. */
  public static final int GONE = 3;

  /**
   * The sign of an open connection.
   *
   * @param repeats how often data, or a probe, was sent in vain since the last acknowledgement
   * @param silence since anything came from the other end
   * @param interval between two checks
   */
  public static PeerSign of(int repeats, Duration silence, Duration interval) {
    // A bit less than the interval, so that a check which comes a bit early counts.
    boolean silent = silence.compareTo(interval.multipliedBy(4).dividedBy(5)) >= 0;
    return repeats > 0 && silent ? SILENT : ALIVE;
  }
}
