package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The answer to a request for capacity: a permit, a place in the queue, a rejection, or nothing. */
public sealed interface ThrottleDecision {
  /**
   * <b>Threads.</b> Any may release; only the request's loop may retry.
   *
   * <p><b>Errors.</b> Must be released exactly once, by {@code release} or {@link #retry}; a second
   * release is not always detected.
   */
  non-sealed interface Permit extends ThrottleDecision {
    Destination destination();

    void release(Ending ending);

    /** Whether its destination takes no requests any more: it is no longer listed, or not healthy. */
    default boolean isWithdrawn() {
      return false;
    }

    /**
     * The destination has not processed the request: ejects the destination briefly and queues the
     * request before all that never had a permit. Releases this permit in any case.
     *
     * @param connected whether there was a connection; a request without one needs no retry budget,
     *     because it cost the destination nothing
     * @return null if the retry budget is spent and no other destination has room: the request has
     *     failed
     */
    @Nullable QueueEntry retry(QueuedCaller caller, boolean connected);
  }

  /** No pod has room, or others wait, and the caller does not wait. */
  record NoRoom() implements ThrottleDecision {}

  enum Ending {
    /** The caller has the whole response; widens the slow-start window. */
    ANSWERED,
    /** The caller left or timed out before the response was complete. */
    ABANDONED,
    /** It never ran, or failed for a reason other than load. */
    UNCOUNTED,
    /** The destination refused the request or broke off; narrows the slow-start window. */
    BROKEN
  }

  /** <b>Threads.</b> The caller's loop only. */
  non-sealed interface QueueEntry extends ThrottleDecision {
    /**
     * Leaves the queue. A permit that is granted concurrently goes to the next request. Ignored
     * once the caller was called.
     */
    void giveUp();

    /** The time limit from arrival; zero for none. */
    Duration timeout();

    int retryAfterSeconds();

    /** Counts more bytes that the request holds while it is queued, its body included. */
    void addHeldBytes(int moreBytes);

    long heldBytes();
  }

  /** The caller of a queued request. It gets one of the two calls, unless it gives up. */
  interface QueuedCaller {
    /** The loop on which both calls are made. */
    Loop loop();

    /**
     * How long from now the request is worth waiting for; {@link Long#MAX_VALUE} for no limit.
     * Enforced by the caller.
     */
    long maxWaitNanos();

    /** Whether it is queued if no pod has room. */
    default boolean mayWait() {
      return true;
    }

    /** The address that the request comes from; empty if there is none. Called on any thread. */
    default String from() {
      return "";
    }

    /** The caller must release the permit. */
    void granted(Permit permit);

    void rejected(Rejection reason);
  }

  sealed interface Rejection {
    record QueueFull(RevisionId revision, int retryAfterSeconds) implements Rejection {}

    /** The revision is at zero, and even its fastest known start exceeds the request's deadline. */
    record DeadlineTooNear(RevisionId revision, int retryAfterSeconds) implements Rejection {}

    record RevisionGone(RevisionId revision) implements Rejection {}

    /** Pods accept no connections any more, and no other pod is starting. */
    record Unreachable(RevisionId revision) implements Rejection {}

    /** No pod was free before the activator ended. */
    record ShuttingDown(RevisionId revision) implements Rejection {}

    record CannotStart(RevisionId revision, RevisionStartFailure failure) implements Rejection {}
  }
}
