package dev.activator.lending;

import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * A message between activators about permits. Numbers are totals, not differences: a message that
 * comes twice changes nothing, and the last of several with the same key is enough.
 *
 * <p>{@link View} and {@link Yield} open an account between a borrower and a lender: what the
 * borrower holds of the lender's pods. The other messages about permits count from there. They name
 * the account, so messages of an earlier account have no effect.
 */
public sealed interface PeerMessage {
  /** A message about one revision. A {@link Beat} is about a pair of peers. */
  sealed interface OfRevision extends PeerMessage {
    RevisionId revision();
  }

  /**
   * The sender's view of which activators share the revision. The receiver answers with
   * {@link Yield} once it has the same view.
   *
   * @param epoch higher with each change of the sender's view; starts anywhere in a new process
   * @param view the same number for the same view; 0 if pods are divided by Knative's rule, because
   *     not all activators are known to lend, or −1, because another activator's view is 0
   */
  record View(RevisionId revision, long epoch, long view) implements OfRevision {}

  /**
   * The answer to {@link View}: the sender has the same view, no longer owns the pods that the
   * receiver owns in it, and still holds these permits of them as the receiver's borrower. It
   * begins a new account.
   *
   * @param epoch of the {@link View} that is answered
   * @param account chosen by the sender, higher with each; 0, which opens none, if it does not have
   *     the revision, and will send a {@link View} before it uses pods
   * @param held permits by pod, each at least 1; mostly empty
   */
  record Yield(RevisionId revision, long epoch, long account, Map<Destination, Integer> held)
      implements OfRevision {
    public Yield {
      held = Map.copyOf(held);
    }
  }

  /**
   * How many requests wait at the sender, which has no permit for them. Stands until the next one.
   *
   * @param account of the sender as the borrower
   * @param queued 0 if none waits
   * @param oldest how long the oldest has been waiting
   * @param seen permits in {@link Grant}s of this account so far, all pods together: later ones are
   *     not yet subtracted from {@code queued}
   */
  record Want(RevisionId revision, long account, int queued, Duration oldest, long seen)
      implements OfRevision {}

  /**
   * Lends permits.
   *
   * @param account of the receiver as the borrower
   * @param granted permits of the pod in this account so far
   */
  record Grant(RevisionId revision, long account, Destination pod, long granted)
      implements OfRevision {}

  /**
   * Gives permits back that the sender no longer uses.
   *
   * @param account of the sender as the borrower
   * @param returned permits of the pod in this account so far; at most what it yielded and was
   *     granted
   */
  record Return(RevisionId revision, long account, Destination pod, long returned)
      implements OfRevision {}

  /**
   * Others wait: the receiver gives idle permits back at once, and used ones as their requests end.
   *
   * @param account of the receiver as the borrower
   * @param recalled what {@link Return} is to reach for this pod; a lower number than before cancels
   *     the rest
   */
  record Recall(RevisionId revision, long account, Destination pod, long recalled)
      implements OfRevision {}

  /**
   * Pods of the receiver that the sender can reach, but has no permit of, while requests wait at
   * the sender. It names those that it has just found, and after a second all. The receiver may
   * lend their permits even if it cannot reach the pods itself.
   *
   * @param account of the sender as the borrower
   */
  record Reach(RevisionId revision, long account, Set<Destination> pods) implements OfRevision {
    /** At most this many pods are named. */
    static final int MAX_PODS = 256;

    public Reach {
      pods = Set.copyOf(pods);
    }
  }

  /**
   * Sent to each connected peer every two seconds. A borrower may use what it borrowed for a while
   * after it sent a beat that the lender answered.
   *
   * @param number of this beat; higher with each, starting at 1
   * @param answered number of the last beat from the receiver; 0 if there was none
   */
  record Beat(long number, long answered) implements PeerMessage {}
}
