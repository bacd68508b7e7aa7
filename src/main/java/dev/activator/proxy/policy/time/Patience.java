package dev.activator.proxy.policy.time;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a request waits for a pod, from its arrival.
 *
 * @param queueNanos as the revision allows; {@link CallerTimeout#NONE} for no limit
 * @param callerNanos as the caller allows; likewise
 */
public record Patience(long queueNanos, long callerNanos) {
  /** The one of a revision, whose zero is no limit, and of a caller. */
  public static Patience of(Duration queueTimeout, long callerNanos) {
    return new Patience(queueTimeout.isZero() ? CallerTimeout.NONE : queueTimeout.toNanos(),
        callerNanos);
  }

  /** Whether it comes to an end at all. */
  public boolean ends() {
    return Math.min(queueNanos, callerNanos) != CallerTimeout.NONE;
  }

  /** What is left of it when this time has passed; 0 or less once it is over. */
  public long nanosLeft(long passedNanos) {
    return Math.min(queueNanos, callerNanos) - passedNanos;
  }

  /** Which limit is over when this time has passed; null if none is. */
  public @Nullable Budget over(long passedNanos) {
    if (passedNanos >= callerNanos) {
      return Budget.CALLER;
    }
    return passedNanos >= queueNanos ? Budget.QUEUE : null;
  }
}
