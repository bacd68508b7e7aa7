package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.throttle.policy.WaitLimits;
import org.jspecify.annotations.Nullable;

/** The result of admitting a request: a permit, an entry in the queue, or neither. */
public sealed interface ThrottleDecision {
  /**
   * <b>Threads.</b> Any may release a permit; only the request's loop may retry.
   *
   * <p><b>Errors.</b> A permit must be released exactly once, by {@code release} or {@link #retry}.
   * A second release is not always detected.
   */
  non-sealed interface Permit extends ThrottleDecision {
    Destination destination();

    /** Whether the destination is a pod; otherwise it is a ClusterIP. */
    boolean isPod();

    /** How the destination is reached. */
    PodTransport transport();

    void release(Ending ending);

    /** Whether the destination no longer takes requests, because it is unlisted or unhealthy. */
    default boolean isWithdrawn() {
      return false;
    }

    /**
     * Call if the destination has not processed the request. Ejects the destination briefly, and
     * queues the request before all others that never had a permit. Always releases this permit.
     *
     * @param connected whether there was a connection; without one the request needs no retry
     *     budget, because it cost the destination nothing
     * @return null if the request has failed, because the retry budget is spent and no other
     *     destination has room
     */
    @Nullable QueueEntry retry(QueuedCaller caller, boolean connected);
  }

  /** No pod has room, or other requests are queued, and this one may not wait. */
  record NoRoom() implements ThrottleDecision {}

  enum Ending {
    /** The caller has the whole response; widens the slow-start window. */
    ANSWERED,
    /** The caller left or timed out before the response was complete. */
    ABANDONED,
    /** The request never ran, or failed for a reason other than load. */
    UNCOUNTED,
    /** The destination refused the request or broke it off; narrows the slow-start window. */
    BROKEN
  }

  /** <b>Threads.</b> The caller's loop only. */
  non-sealed interface QueueEntry extends ThrottleDecision {
    /**
     * Leaves the queue. A permit that is granted concurrently goes to the next request. Has no
     * effect if the caller was already called.
     */
    void giveUp();

    default WaitLimits limits() {
      return WaitLimits.NONE;
    }

    /** For how long the revision has had pods, in nanoseconds; {@link WaitLimits#NO_PODS}. */
    default long podsNanos() {
      return WaitLimits.NO_PODS;
    }

    default int retryAfterSeconds() {
      return 1;
    }

    /** Counts more bytes that the request, including its body, holds while it is queued. */
    default void addHeldBytes(int moreBytes) {}

    default long heldBytes() {
      return 0;
    }
  }

  /**
   * The caller of a queued request. Unless it gives up, either {@link #granted} or
   * {@link #rejected} is called.
   */
  interface QueuedCaller {
    /** The loop on which both calls are made. */
    Loop loop();

    /**
     * How long from now the request is worth waiting for; {@link Long#MAX_VALUE} for no limit.
     * Enforced by the caller.
     */
    default long maxWaitNanos() {
      return Long.MAX_VALUE;
    }

    /** Whether the request is queued if no pod has room. */
    default boolean mayWait() {
      return true;
    }

    /** The request, from which its {@link PodChoice} is made; null if it is not from a caller. */
    default @Nullable RequestTimeline timeline() {
      return null;
    }

    /**
     * The pods that this request may run on. Called on its loop.
     *
     * @param ofRevision what the maker of its revision chose; null if the balancer chooses
     */
    default @Nullable PodChoice choice(@Nullable PodChoice ofRevision) {
      return ofRevision;
    }

    /** The address that the request comes from; empty if there is none. Called on any thread. */
    default String peer() {
      return "";
    }

    /** The caller must release the permit. */
    void granted(Permit permit);

    void rejected(Rejection reason);
  }

  sealed interface Rejection {
    record QueueFull(RevisionId revision, int retryAfterSeconds) implements Rejection {}

    /**
     * The revision is at zero, and even its fastest known start would exceed the request's
     * deadline.
     */
    record DeadlineTooNear(RevisionId revision, int retryAfterSeconds) implements Rejection {}

    record RevisionGone(RevisionId revision) implements Rejection {}

    /** The pods no longer accept connections, and no other pod is starting. */
    record GivenUp(RevisionId revision) implements Rejection {}

    /** The pod that the request must run on is gone. */
    record PodGone(RevisionId revision) implements Rejection {}

    /** No pod was free before the activator shut down. */
    record ShuttingDown(RevisionId revision) implements Rejection {}

    record CannotStart(RevisionId revision, RevisionStartFailure failure) implements Rejection {}
  }
}
