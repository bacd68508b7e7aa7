package dev.activator.standalone.autoscaler.policy;

import dev.activator.loop.policy.Backoff;
import dev.activator.revision.ScaleApiResult.Refused;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Decides when a refused read, write or confirmation of one workload's scale is retried. The pauses
 * are short while pods are needed. If pods become needed during a longer pause, it ends within a
 * second.
 *
 * <p><b>Units.</b> Nanoseconds of the autoscaler's clock.
 */
public final class ScaleRetries {
  static final Duration MAX_WHEN_NEEDED = Duration.ofSeconds(1);
  private static final int CONFLICTS_AT_ONCE = 5;
  private static final Duration AFTER_CONFLICTS = Duration.ofSeconds(2);

  private final RandomGenerator random;
  private final Failures reads;
  private final Failures writes;
  private final Backoff confirmations;
  private long due;
  /** The end of the server's Retry-After. */
  private long serverDue;
  private long confirmationDue;
  private boolean needed;
  private boolean writeRefused;

  /** The refusals of reads, or of writes, since the last success. */
  private static final class Failures {
    private final Backoff unavailable;
    private final Backoff refused;
    private final Backoff unavailableWhenNeeded;
    private final Backoff refusedWhenNeeded;
    private int conflicts;

    private Failures(RandomGenerator random) {
      unavailable = backoff(1_000, 30_000, random);
      // A retry cannot succeed before a user changes something.
      refused = backoff(5_000, 300_000, random);
      unavailableWhenNeeded = new Backoff(Duration.ofMillis(100),
          MAX_WHEN_NEEDED.multipliedBy(4).dividedBy(5), 0.25, random);
      refusedWhenNeeded = backoff(1_000, 30_000, random);
    }

    private static Backoff backoff(int first, int max, RandomGenerator random) {
      return new Backoff(Duration.ofMillis(first), Duration.ofMillis(max), 0.2, random);
    }

    private Duration next(Refused refused, boolean needed) {
      return switch (refused.reason()) {
        case CONFLICT -> conflict();
        case UNAVAILABLE -> needed ? unavailableWhenNeeded.next() : unavailable.next();
        // A workload that is being replaced is also not found for a moment.
        case NOT_FOUND -> needed ? unavailableWhenNeeded.next() : this.refused.next();
        case NOT_SCALABLE, FORBIDDEN, INVALID, FAILED -> needed
            ? refusedWhenNeeded.next()
            : this.refused.next();
      };
    }

    private Duration conflict() {
      conflicts = Math.min(conflicts + 1, CONFLICTS_AT_ONCE + 1);
      return conflicts > CONFLICTS_AT_ONCE ? AFTER_CONFLICTS : Duration.ZERO;
    }

    private void reset() {
      unavailable.reset();
      refused.reset();
      unavailableWhenNeeded.reset();
      refusedWhenNeeded.reset();
      conflicts = 0;
    }
  }

  public ScaleRetries(RandomGenerator random) {
    this.random = random;
    reads = new Failures(random);
    writes = new Failures(random);
    confirmations = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30), 0.2, random);
    reset();
  }

  /**
   * Forgets all failures, because a write succeeded, no write is needed, or it should be tried at
   * once.
   */
  public void reset() {
    read();
    writes.reset();
    writeRefused = false;
    due = Long.MIN_VALUE;
    serverDue = Long.MIN_VALUE;
    confirmed();
  }

  public void read() {
    reads.reset();
  }

  /** @param needed whether there are fewer ready pods than there should be */
  public void refusedRead(long now, Refused refused, boolean needed) {
    refused(now, reads, refused, needed);
  }

  /** @param needed whether there are fewer ready pods than there should be */
  public void refusedWrite(long now, Refused refused, boolean needed) {
    writeRefused = true;
    refused(now, writes, refused, needed);
  }

  private void refused(long now, Failures failures, Refused refused, boolean nowNeeded) {
    needed = nowNeeded;
    due = now + failures.next(refused, needed).toNanos();
    serverDue = refused.retryAfter().isZero()
        ? Long.MIN_VALUE
        : now + Backoff.retryAfter(refused.retryAfter(), random).toNanos();
  }

  /** Whether the last write was refused, and none has succeeded since. */
  public boolean isWriteRefused() {
    return writeRefused;
  }

  /**
   * The pause before the next read or write, in nanoseconds from now.
   *
   * @param nowNeeded whether there are fewer ready pods than there should be
   */
  public long pause(long now, boolean nowNeeded) {
    if (nowNeeded && !needed) {
      due = Math.min(due, now + MAX_WHEN_NEEDED.toNanos());
    }
    needed = nowNeeded;
    long end = Math.max(due, serverDue);
    return end > now ? end - now : 0;
  }

  /**
   * Records that a write of fewer replicas could not be confirmed. Other writes do not wait for
   * that.
   */
  public void notConfirmed(long now) {
    confirmationDue = now + confirmations.next().toNanos();
  }

  public void confirmed() {
    confirmations.reset();
    confirmationDue = Long.MIN_VALUE;
  }

  /** The pause before a write of fewer replicas, in nanoseconds from now. */
  public long confirmationPause(long now) {
    return confirmationDue > now ? confirmationDue - now : 0;
  }
}
