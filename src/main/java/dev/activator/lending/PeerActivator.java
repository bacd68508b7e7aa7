package dev.activator.lending;

import dev.activator.lending.PeerMessage.Beat;
import java.time.Duration;
import java.util.TreeMap;

/**
 * Another activator, with the beats that it sent and answered.
 *
 * <p><b>Threads.</b> Any.
 */
final class PeerActivator {
  /** How long a borrower may use permits after it sent a beat that was answered. */
  static final Duration LEASE = Duration.ofSeconds(10);
  private static final int MAX_UNANSWERED = 16;

  private final PeerId id;
  /** When the unanswered beats were sent, by number. */
  private final TreeMap<Long, Long> sentNanos = new TreeMap<>();
  private long sent;
  private long received;
  /**
   * Ticks are counted instead of time, because a process that stood still has received nothing in
   * that time.
   */
  private int awayTicks;
  private volatile boolean connected;
  private volatile boolean beaten;
  private volatile long lastBeatNanos;
  private volatile LoanLease lease;

  PeerActivator(PeerId id, long nowNanos) {
    this.id = id;
    this.lastBeatNanos = nowNanos;
    this.lease = new LoanLease(nowNanos);
  }

  PeerId id() {
    return id;
  }

  synchronized Beat nextBeat(long nowNanos) {
    sent++;
    sentNanos.put(sent, nowNanos);
    if (sentNanos.size() > MAX_UNANSWERED) {
      sentNanos.pollFirstEntry();
    }
    return new Beat(sent, received);
  }

  /** Returns whether the beat is the first of this connection, which is answered at once. */
  synchronized boolean received(Beat beat, long nowNanos) {
    beaten = true;
    boolean first = received == 0;
    received = beat.number();
    lastBeatNanos = nowNanos;
    var sentAt = sentNanos.get(beat.answered());
    if (sentAt != null) {
      sentNanos.headMap(beat.answered(), true).clear();
      long until = sentAt + LEASE.toNanos();
      if (!lease.extend(nowNanos, until)) {
        // A new one, because what was borrowed under the last lease may not be used any more.
        lease = new LoanLease(until);
      }
    }
    return first;
  }

  synchronized void connected(long nowNanos) {
    connected = true;
    received = 0;
    awayTicks = 0;
    sentNanos.clear();
    lastBeatNanos = nowNanos;
  }

  void disconnected() {
    connected = false;
  }

  /** Whether it ever sent a beat, so that it lends. */
  boolean hasBeaten() {
    return beaten;
  }

  boolean isConnected() {
    return connected;
  }

  LoanLease lease() {
    return lease;
  }

  long lastBeatNanos() {
    return lastBeatNanos;
  }

  /**
   * For how many ticks it has neither been connected nor an activator, this one included.
   *
   * @param hasLeft whether the cluster names it no more
   */
  synchronized int awayTicks(boolean hasLeft) {
    awayTicks = hasLeft ? awayTicks + 1 : 0;
    return awayTicks;
  }
}
