package dev.activator.autoscaler.policy;

import dev.activator.revision.ScaleAnswer.Reason;
import java.time.Duration;

/** When a scale is read again after it could not be read or written. */
public final class WriteRetries {
  private static final int CONFLICTS_AT_ONCE = 5;
  private static final Duration AFTER_CONFLICTS = Duration.ofSeconds(2);
  /** A retry cannot help before a user changes something. */
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(30);
  private static final Duration FIRST_WHEN_WAKING = Duration.ofMillis(100);
  private static final Duration LAST_WHEN_WAKING = Duration.ofSeconds(2);
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LAST = Duration.ofSeconds(30);

  private int conflicts;
  private int failures;
  private long due;

  /** It was written, or there is a reason to try at once. */
  public void reset() {
    conflicts = 0;
    failures = 0;
    due = Long.MIN_VALUE;
  }

  /** @param waking whether requests wait for the first pod */
  public void refused(long now, Reason reason, boolean waking) {
    due = now + switch (reason) {
      case CONFLICT -> conflicts++ < CONFLICTS_AT_ONCE ? 0 : AFTER_CONFLICTS.toNanos();
      case NOT_FOUND, NOT_SCALABLE, FORBIDDEN, INVALID -> AFTER_REFUSAL.toNanos();
      case UNAVAILABLE -> waking
          ? doubled(FIRST_WHEN_WAKING, LAST_WHEN_WAKING)
          : doubled(FIRST, LAST);
    };
  }

  private long doubled(Duration first, Duration last) {
    return Math.min(first.toNanos() << Math.min(failures++, 10), last.toNanos());
  }

  /** Nanoseconds to wait from now. */
  public long pause(long now) {
    return due > now ? due - now : 0;
  }
}
