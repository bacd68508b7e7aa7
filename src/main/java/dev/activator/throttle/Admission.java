package dev.activator.throttle;

import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartFailure;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The answer to a request that asks to run: a permit at once, or an entry in a queue. */
public sealed interface Admission {
  /**
   * The right to run one request on one destination.
   *
   * <p>
   * <b>Threads.</b> Any thread may release it; only the request's own loop may retry.
   *
   * <p>
   * <b>Errors.</b> It must be released exactly once, by {@code release} or {@link #retry}; a second
   * release is a bug of the caller and is not always noticed.
   */
  non-sealed interface Permit extends Admission {
    /** Where the request runs. */
    Destination destination();

    /** The request is over, and ended like this; the head of the queue may run. */
    void release(Ending ending);

    /** The request was answered. */
    default void release() {
      release(Ending.ANSWERED);
    }

    /**
     * The destination could not be reached and no byte of the request was sent: the destination is
     * ejected for a moment, and the request is queued before those that have not had a permit. This
     * permit is released in any case.
     *
     * @return the entry; null if the retry budget is spent and no other destination has room: the
     *     request has failed
     */
    @Nullable QueueEntry retry(QueuedCaller caller);
  }

  /** How a request with a permit ended. */
  enum Ending {
    /** The caller has the whole response: slow start allows its destination one more request. */
    ANSWERED,
    /** The caller left, or its time was over, before the response was complete. */
    ABANDONED,
    /** It never ran, or failed for a reason that has nothing to do with load. */
    UNCOUNTED,
    /** The destination refused the request or broke off: slow start allows it fewer. */
    BROKEN
  }

  /**
   * A request in its revision's queue.
   *
   * <p>
   * <b>Threads.</b> Only the caller's own loop may call.
   */
  non-sealed interface QueueEntry extends Admission {
    /**
     * Leaves the queue. The caller is not called any more; a permit that was granted concurrently goes
     * to the next in the queue. Ignored if the caller was called before.
     */
    void giveUp();

    /** How long a request of this revision may be queued, from its arrival; zero for no limit. */
    Duration timeout();

    /** The {@code Retry-After} of a response that refuses the request now. */
    int retryAfterSeconds();

    /** Adds to the bytes that queued requests of this revision hold, bodies included. */
    void addHeldBytes(int moreBytes);

    /** How many bytes queued requests of this revision hold. */
    long heldBytes();
  }

  /** A request that asks for a permit. Gets one of the two calls, unless it gives up. */
  interface QueuedCaller {
    /** The loop on which both calls are made. */
    Loop loop();

    /**
     * How long from now the request is worth waiting for; {@link Long#MAX_VALUE} for no limit. Asked
     * when there is no permit. It is not enforced here: the caller gives up itself.
     */
    long maxWaitNanos();

    /** The request runs; the caller must release the permit. */
    void granted(Permit permit);

    /** The request will not run. */
    void rejected(Rejection reason);
  }

  /** Why a request will not run. */
  sealed interface Rejection {
    /**
     * The queue is full.
     *
     * @param retryAfterSeconds when there may be room; at least 1
     */
    record QueueFull(RevisionId revision, int retryAfterSeconds) implements Rejection {}

    /**
     * The revision is at zero, and even its fastest start so far exceeds the request's deadline.
     *
     * @param retryAfterSeconds when it may have started; at least 1
     */
    record DeadlineTooNear(RevisionId revision, int retryAfterSeconds) implements Rejection {}

    /** The revision was deleted while the request was queued. */
    record RevisionGone(RevisionId revision) implements Rejection {}

    /** The revision's pods accept no connections any more, and no other pod is starting. */
    record Unreachable(RevisionId revision) implements Rejection {}

    /** The revision's containers failed to start while the request was queued. */
    record CannotStart(RevisionId revision, StartFailure failure) implements Rejection {}
  }
}
