package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.throttle.PermitSharing.PermitLease;
import dev.activator.ext.lending.PeerMessage.Beat;
import java.time.Duration;
import java.util.TreeMap;

/**
 * Another activator. Tracks its connection, its beats, and the lease of what is borrowed from it.
 *
 * <p><b>Threads.</b> Any.
 */
final class PeerActivator {
  /**
   * The borrower's lease: how long it may use permits after it sent a beat that the lender
   * answered.
   */
  static final Duration LEASE = Duration.ofSeconds(10);
  private static final int MAX_UNANSWERED = 16;

  private final PeerId id;
  /** The times when unanswered beats were sent, by their numbers. */
  private final TreeMap<Long, Long> sentNanos = new TreeMap<>();
  private long sent;
  private long received;
  /**
   * Ticks are counted instead of time, because a process that was suspended has received no
   * messages in that time.
   */
  private int awayTicks;
  private volatile boolean connected;
  private volatile boolean sentBeat;
  private volatile long lastBeatNanos;
  private volatile PermitLease lease;

  PeerActivator(PeerId id, long nowNanos) {
    this.id = id;
    this.lastBeatNanos = nowNanos;
    this.lease = new PermitLease(nowNanos);
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

  /** Returns whether the beat is the first one of this connection. That one is answered at once. */
  synchronized boolean received(Beat beat, long nowNanos) {
    sentBeat = true;
    boolean first = received == 0;
    received = beat.number();
    lastBeatNanos = nowNanos;
    var sentAt = sentNanos.get(beat.answered());
    if (sentAt != null) {
      sentNanos.headMap(beat.answered(), true).clear();
      long until = sentAt + LEASE.toNanos();
      if (!lease.extend(nowNanos, until)) {
        // Replaced, because permits that were borrowed under the expired lease may no longer be
        // used.
        lease = new PermitLease(until);
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

  /** Whether it has ever sent a beat, which shows that it lends. */
  boolean hasSentBeat() {
    return sentBeat;
  }

  boolean isConnected() {
    return connected;
  }

  PermitLease lease() {
    return lease;
  }

  long lastBeatNanos() {
    return lastBeatNanos;
  }

  /**
   * Counts a tick. Returns for how many ticks it has been neither connected nor listed as an
   * activator.
   *
   * @param hasLeft whether the cluster no longer lists it
   */
  synchronized int awayTicks(boolean hasLeft) {
    awayTicks = hasLeft ? awayTicks + 1 : 0;
    return awayTicks;
  }
}
