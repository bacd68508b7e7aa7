package dev.activator.lending;

import dev.activator.lending.PeerMessage.View;
import org.jspecify.annotations.Nullable;

/** What this activator knows of one revision at another activator. Confined to the revision's loop. */
final class Partner {
  final PeerActivator peer;
  final long sinceNanos;
  boolean connected;
  /** Of this connection. */
  @Nullable View view;
  /** Whether it answered the view of the current epoch, also if the link is lost since. */
  boolean agreed;
  /** Counted, because what came while this process stood still is not known yet. */
  private int silentTicks;
  private long lastBeatNanos;
  private int leftTicks;
  /** Whether it has been away for so long that it cannot have anything. */
  boolean expired;

  /** Its account as the borrower; 0 if none is open. */
  long lendingAccount;
  int wanted;
  long wantedSinceNanos;
  private long granted;
  private long seen;

  /** The account of this activator, as its borrower; 0 if none is open. */
  long borrowingAccount;
  private long received;
  int lastQueued;
  long lastWantNanos;

  Partner(PeerActivator peer, long nowNanos) {
    this.peer = peer;
    this.sinceNanos = nowNanos;
  }

  /** For how many ticks there was no beat, this one included. */
  int silentTicks() {
    if (peer.lastBeatNanos() != lastBeatNanos) {
      lastBeatNanos = peer.lastBeatNanos();
      silentTicks = 0;
    }
    return ++silentTicks;
  }

  /**
   * For how many ticks it has neither been connected nor a member, this one included.
   *
   * @param hasLeft whether it is neither now
   */
  int leftTicks(boolean hasLeft) {
    leftTicks = hasLeft ? leftTicks + 1 : 0;
    return leftTicks;
  }

  void openLending(long account) {
    lendingAccount = account;
    wanted = 0;
    granted = 0;
    seen = 0;
  }

  void openBorrowing(long account) {
    borrowingAccount = account;
    received = 0;
    lastQueued = 0;
  }

  void closeAccounts() {
    openLending(0);
    openBorrowing(0);
  }

  /** Requests that wait there, without those for which permits are on their way. */
  int unserved() {
    return (int) Math.max(0, wanted - (granted - seen));
  }

  void wants(int queued, long sinceNanos, long grantsSeen) {
    wanted = queued;
    wantedSinceNanos = sinceNanos;
    seen = grantsSeen;
  }

  void granted() {
    granted++;
  }

  void received(int permits) {
    received += permits;
  }

  long received() {
    return received;
  }

  String address() {
    return peer.id().address();
  }
}
