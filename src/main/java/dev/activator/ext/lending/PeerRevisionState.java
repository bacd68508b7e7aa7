package dev.activator.ext.lending;

import dev.activator.ext.lending.PeerMessage.Bound;
import dev.activator.ext.lending.PeerMessage.View;
import dev.activator.ext.lending.policy.PodSharding;
import dev.activator.revision.Destination;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of another activator for one revision, as this activator knows it. <b>Threads.</b>
 * Confined to the revision's loop.
 */
final class PeerRevisionState {
  private static final int SILENT_TICKS = 4;

  final PeerActivator activator;
  final long sinceNanos;
  boolean connected;
  /** When the link was lost, unless it is connected. */
  long lostNanos;
  /** The last view that the peer sent on this connection. */
  @Nullable View view;
  /**
   * Whether the peer has answered the view of the current epoch, even if the link was lost after
   * that.
   */
  boolean agreed;
  /**
   * Whether the peer's last view was that it divides pods by Knative's rule because it knows of an
   * activator that does not lend.
   */
  boolean slices;
  /**
   * The owners in this activator's last answer to the peer. The peer may rely on them until it
   * begins another epoch.
   */
  private PodSharding answered = PodSharding.NONE;
  private @Nullable Long answeredEpoch;
  /**
   * Ticks are counted instead of time, because messages that came while this process was suspended
   * are not read yet.
   */
  private int silentTicks;
  private long lastBeatNanos;
  private int leftTicks;
  /** Whether the peer has been away for so long that it can no longer use any pod. */
  boolean expired;

  /** The account in which the peer is the borrower; 0 if none is open. */
  long lendingAccount;
  int wanted;
  long wantedSinceNanos;
  private long granted;
  private long seen;
  private Map<Destination, Bound> bound = Map.of();

  /** The account in which this activator is the borrower; 0 if none is open. */
  long borrowingAccount;
  private long received;
  int lastQueued;
  long lastWantNanos;

  PeerRevisionState(PeerActivator activator, long nowNanos) {
    this.activator = activator;
    this.sinceNanos = nowNanos;
  }

  /** Counts a tick. Returns for how many ticks there was no beat. */
  int countSilence() {
    if (activator.lastBeatNanos() != lastBeatNanos) {
      lastBeatNanos = activator.lastBeatNanos();
      silentTicks = 0;
    }
    return ++silentTicks;
  }

  /** The result of the last {@link #countSilence}. */
  int silentTicks() {
    return silentTicks;
  }

  /** Whether two beats are missing, so that the link is about to be lost. */
  boolean isSilent() {
    return connected && silentTicks >= SILENT_TICKS && activator.lastBeatNanos() == lastBeatNanos;
  }

  /**
   * Counts a tick. Returns for how many ticks the peer has been neither connected nor an owner.
   *
   * @param hasLeft whether it is neither of them now
   */
  int countLeft(boolean hasLeft) {
    leftTicks = hasLeft ? leftTicks + 1 : 0;
    return leftTicks;
  }

  /** The result of the last {@link #countLeft}. */
  int leftTicks() {
    return leftTicks;
  }

  /**
   * Records that the peer was answered before this activator had the revision, so it may rely on
   * this activator using no pod.
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

  /**
   * @param by the owners in the answer; {@link PodSharding#NONE} if the peer does not rely on it
   */
  void answered(PodSharding by) {
    answered = by;
  }

  /** Whether the last answer allows the peer to acquire the pod. */
  boolean mayAcquire(PodLoans pod, PodSharding now) {
    return address().equals(answered.equals(now) ? pod.owner : answered.owner(pod.pod));
  }

  void openLending(long account) {
    lendingAccount = account;
    wanted = 0;
    granted = 0;
    seen = 0;
    bound = Map.of();
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

  /**
   * The number of requests that wait at the peer, without those for which permits are on their way.
   */
  int unserved() {
    return (int) Math.max(0, wanted - (granted - seen));
  }

  /** The same for requests that may run on this pod only. */
  int unservedOn(PodLoans pod) {
    var waiting = bound.get(pod.pod);
    if (waiting == null) {
      return 0;
    }
    var loan = pod.lent.get(this);
    long grantedOn = loan == null || loan.account != lendingAccount ? 0 : loan.granted();
    return (int) Math.max(0, waiting.queued() - (grantedOn - waiting.granted()));
  }

  /** The number of requests that wait for one pod each. */
  int bound() {
    int sum = 0;
    for (var waiting : bound.values()) {
      sum += waiting.queued();
    }
    return sum;
  }

  /** @param now when the message came */
  void wants(PeerMessage.Want want, long now) {
    wanted = want.queued();
    wantedSinceNanos = now - want.oldest().toNanos();
    seen = want.seen();
    bound = want.bound();
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
    return activator.id().address();
  }
}
