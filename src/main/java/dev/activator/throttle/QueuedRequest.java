package dev.activator.throttle;

import dev.activator.throttle.PodBoundRequests.WaitsFor;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.policy.AdaptiveLifo;
import dev.activator.throttle.policy.WaitLimits;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A request in the queue. The revision's loop grants or rejects it, and the caller is called on the
 * caller's loop. If the request has given up by then, its permit is released there.
 *
 * <p><b>Threads.</b> Any may call {@link #grant} or {@link #reject}, once; {@code done} belongs to
 * the caller's loop.
 */
final class QueuedRequest implements QueueEntry {
  private final QueuedCaller caller;
  private final RevisionQueue queue;
  private final long sinceNanos;
  private final @Nullable PodChoice choice;
  private final @Nullable RetryBudget retries;
  /** The pods that it waits for; null if it may run on any. Only on the revision's loop. */
  @Nullable WaitsFor waitsFor;
  /** The pods on which it may run; null if it may run on any. Only on the revision's loop. */
  @Nullable Set<Destination> allowed;
  private boolean done;

  /**
   * @param sinceNanos when it arrived, by the clock of the revision's loop
   * @param choice null if the balancer chooses its pod
   * @param retries null if it is no retry
   */
  QueuedRequest(QueuedCaller caller, RevisionQueue queue, long sinceNanos,
      @Nullable PodChoice choice, @Nullable RetryBudget retries) {
    this.caller = caller;
    this.queue = queue;
    this.sinceNanos = sinceNanos;
    this.choice = choice;
    this.retries = retries;
  }

  long sinceNanos() {
    return sinceNanos;
  }

  boolean isOlderThan(QueuedRequest other) {
    return sinceNanos - other.sinceNanos < 0;
  }

  /** Whether it was returned and the other was not, or else whether the order puts it first. */
  boolean runsBefore(QueuedRequest other, AdaptiveLifo order) {
    if (isRetry() != other.isRetry()) {
      return isRetry();
    }
    return order.overtakes(sinceNanos) || order.overtakes(other.sinceNanos)
        ? other.isOlderThan(this)
        : isOlderThan(other);
  }

  /** The caller's loop. */
  Loop loop() {
    return caller.loop();
  }

  String from() {
    return caller.peer();
  }

  @Nullable PodChoice choice() {
    return choice;
  }

  boolean mayRunOn(Destination pod) {
    return allowed == null || allowed.contains(pod);
  }

  boolean isRetry() {
    return retries != null;
  }

  void grant(Permit permit, long nowNanos) {
    boolean counts = isRetry()
        || waitsFor == null && nowNanos - sinceNanos >= AdaptiveLifo.STANDING_NANOS;
    var granted = counts
        ? new CountedPermit(permit, nowNanos)
        : permit;
    caller.loop().execute(() -> {
      if (done) {
        permit.release(ThrottleDecision.Ending.UNCOUNTED);
      } else {
        done = true;
        caller.granted(granted);
      }
    });
  }

  void reject(ThrottleDecision.Rejection reason) {
    caller.loop().execute(() -> {
      if (!done) {
        end();
        caller.rejected(reason);
      }
    });
  }

  @Override
  public void giveUp() {
    if (!done) {
      end();
      queue.leave(this);
    }
  }

  private void end() {
    done = true;
    releaseRetry();
  }

  private void releaseRetry() {
    if (retries != null) {
      retries.release();
    }
  }

  @Override
  public WaitLimits limits() {
    return queue.waits();
  }

  @Override
  public long podsNanos() {
    return queue.podsNanos();
  }

  @Override
  public int retryAfterSeconds() {
    return queue.retryAfterSeconds();
  }

  @Override
  public void addHeldBytes(int moreBytes) {
    queue.heldBytes().addAndGet(moreBytes);
  }

  @Override
  public long heldBytes() {
    return queue.heldBytes().get();
  }

  /** A permit that reports its end to the retry budget, or to the order of the queue. */
  private final class CountedPermit implements Permit {
    private final Permit permit;
    private final long grantedNanos;

    CountedPermit(Permit permit, long grantedNanos) {
      this.permit = permit;
      this.grantedNanos = grantedNanos;
    }

    @Override
    public Destination destination() {
      return permit.destination();
    }

    @Override
    public boolean isPod() {
      return permit.isPod();
    }

    @Override
    public PodTransport transport() {
      return permit.transport();
    }

    @Override
    public void release(ThrottleDecision.Ending ending) {
      if (!isRetry()) {
        queue.onRequestEnd(ending, grantedNanos - sinceNanos, queue.nanoTime() - grantedNanos);
      }
      releaseRetry();
      permit.release(ending);
    }

    @Override
    public boolean isWithdrawn() {
      return permit.isWithdrawn();
    }

    @Override
    public @Nullable QueueEntry retry(QueuedCaller caller, boolean connected) {
      releaseRetry();
      return permit.retry(caller, connected);
    }
  }

  /**
   * Limits retries while no other pod has room. Otherwise failing pods would get more requests than
   * working ones.
   *
   * <p><b>Threads.</b> Any.
   *
   * <p><b>Source.</b> Envoy's retry budgets also allow 20 % of the active requests, and at least
   * three.
   */
  static final class RetryBudget {
    private static final int PERCENT = 20;
    /** A pod often has up to ten requests, which fail together. */
    private static final int MIN_RETRIES = 10;

    private final AtomicInteger retries = new AtomicInteger();

    boolean tryAcquire(int active) {
      int max = Math.max(MIN_RETRIES, (int) ((long) active * PERCENT / 100));
      int now = retries.get();
      while (now < max) {
        if (retries.compareAndSet(now, now + 1)) {
          return true;
        }
        now = retries.get();
      }
      return false;
    }

    /** Counts a retry without checking the limit. */
    void acquire() {
      retries.getAndIncrement();
    }

    void release() {
      if (retries.getAndDecrement() <= 0) {
        throw new IllegalStateException("more retries have ended than began");
      }
    }
  }
}
