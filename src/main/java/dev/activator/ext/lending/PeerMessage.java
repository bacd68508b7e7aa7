package dev.activator.ext.lending;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.KeyNotices;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * A message between activators about permits. Counts are totals, not differences, so messages are
 * idempotent, and the last one of several with the same key is enough.
 *
 * <p>{@link View} and {@link Yield} open an account between a borrower and a lender. An account
 * begins with the permits of the lender's pods that the borrower uses, and the other messages
 * count from there. They name the account, so messages of an earlier account have no effect.
 */
public sealed interface PeerMessage {
  /** A message about one revision. Only a {@link Beat} is not about a revision. */
  sealed interface OfRevision extends PeerMessage {
    RevisionId revision();
  }

  /**
   * The sender's view of which activators share the revision. The receiver answers with
   * {@link Yield} when it has the same view.
   *
   * @param epoch increases with each change of the sender's view; the first value in a process is
   *     arbitrary
   * @param view the same number for the same view; 0 if pods are divided by Knative's rule because
   *     not all activators are known to lend; −1 if they are divided so because another activator's
   *     view is 0
   */
  record View(RevisionId revision, long epoch, long view) implements OfRevision {}

  /**
   * The answer to {@link View}. The sender has the same view, no longer owns the pods that the
   * receiver owns in this view, and still uses these permits of them as a borrower. It begins a
   * new account.
   *
   * @param epoch of the {@link View} that is answered
   * @param account chosen by the sender, increasing; 0 opens no account: the sender does not have
   *     the revision, and will send a {@link View} before it uses pods
   * @param inUse permits by pod, each at least 1; usually empty
   */
  record Yield(RevisionId revision, long epoch, long account, Map<Destination, Integer> inUse)
      implements OfRevision {
    public Yield {
      inUse = Map.copyOf(inUse);
    }
  }

  /**
   * The number of requests that wait at the sender without a permit. Valid until the next such
   * message.
   *
   * @param account in which the sender is the borrower
   * @param queued 0 if none waits
   * @param oldest how long the oldest request has been waiting
   * @param seen the permits of all pods in the {@link Grant}s of this account so far; later grants
   *     are not yet subtracted from {@code queued}
   * @param bound requests that may run on one pod only, by pod; {@code queued} does not count them
   */
  record Want(RevisionId revision, long account, int queued, Duration oldest, long seen,
      Map<Destination, Bound> bound) implements OfRevision {
    public Want {
      bound = Map.copyOf(bound);
    }
  }

  /**
   * Requests that may run on one pod only.
   *
   * @param granted the permits of the pod that were granted in this account so far; later grants are
   *     not yet subtracted from {@code queued}
   */
  record Bound(int queued, long granted) {}

  /**
   * Lends permits.
   *
   * @param account in which the receiver is the borrower
   * @param granted the permits of the pod that were granted in this account so far
   */
  record Grant(RevisionId revision, long account, Destination pod, long granted)
      implements OfRevision {}

  /**
   * Returns permits that the sender no longer uses.
   *
   * @param account in which the sender is the borrower
   * @param returned the permits of the pod that were returned in this account so far; at most as
   *     many as it had at first and was granted
   */
  record Return(RevisionId revision, long account, Destination pod, long returned)
      implements OfRevision {}

  /**
   * Recalls permits for requests that wait elsewhere. The receiver returns idle permits at once,
   * and used ones as their requests end.
   *
   * @param account in which the receiver is the borrower
   * @param recalled the total that {@link Return} shall reach for this pod; a lower number than
   *     before cancels the rest of the recall
   */
  record Recall(RevisionId revision, long account, Destination pod, long recalled)
      implements OfRevision {}

  /**
   * Names pods of the receiver that the sender can reach but has no permits of, while requests wait
   * at the sender: first the pods that it has just found, and after a second all of them. The
   * receiver may lend permits of these pods even if it cannot reach them itself.
   *
   * @param account in which the sender is the borrower
   */
  record Reach(RevisionId revision, long account, Set<Destination> pods) implements OfRevision {
    /** The maximum number of pods in a message. */
    static final int MAX_PODS = 256;

    public Reach {
      pods = Set.copyOf(pods);
    }
  }

  /** Which pod has issued a key of a revision's requests. */
  record Issued(KeyNotices.Notice notice) implements PeerMessage {}

  /**
   * A heartbeat, sent to each connected peer every two seconds. A borrower may use borrowed permits
   * for a while after it sent a beat that the lender answered.
   *
   * @param number of this beat; starts at 1 and increases
   * @param answered the number of the receiver's last beat; 0 if there was none
   */
  record Beat(long number, long answered) implements PeerMessage {}
}
