package dev.activator.lending;

import dev.activator.lending.PeerMessage.View;
import dev.activator.lending.policy.PodSharding;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What this activator knows of one revision at another activator. Confined to the revision's loop. */
final class PeerRevisionState {
  final PeerActivator peer;
  final long sinceNanos;
  boolean connected;
  /** The last view that it sent on this connection. */
  @Nullable View view;
  /** Whether it answered the view of the current epoch, even if the link was lost since. */
  boolean agreed;
  /** Whether it divides pods by Knative's rule because of what it knows itself, as it said last. */
  boolean slices;
  /**
   * The owners by which this activator answered it last. It may rely on that until it begins
   * another epoch.
   */
  private PodSharding answered = PodSharding.NONE;
  private @Nullable Long answeredEpoch;
  /**
   * Ticks are counted instead of time, because what came while this process stood still is not read
   * yet.
   */
  private int silentTicks;
  private long lastBeatNanos;
  private int leftTicks;
  /** Whether it has been away for so long that it cannot use any pod. */
  boolean expired;

  /** The account in which it is the borrower; 0 if none is open. */
  long lendingAccount;
  int wanted;
  long wantedSinceNanos;
  private long granted;
  private long seen;

  /** The account in which this activator is the borrower; 0 if none is open. */
  long borrowingAccount;
  private long received;
  int lastQueued;
  long lastWantNanos;

  PeerRevisionState(PeerActivator peer, long nowNanos) {
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

  /**
   * Remembers that it was answered before this activator had the revision, so it may rely on no pod
   * being used here.
   */
  void wasAnsweredWithoutTheRevision() {
    answered = new PodSharding(List.of(address()), true, List.of());
  }

  void began(long epoch) {
    if (answeredEpoch != null && answeredEpoch != epoch) {
      answered = PodSharding.NONE;
    }
    answeredEpoch = epoch;
  }

  /** @param by the owners in the answer; {@link PodSharding#NONE} if it relies on nothing */
  void answered(PodSharding by) {
    answered = by;
  }

  /** Whether the last answer allows it to acquire the pod. */
  boolean mayAcquire(PodLoans pod, PodSharding now) {
    return address().equals(answered.equals(now) ? pod.owner : answered.owner(pod.pod));
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
