package dev.activator.backend;

import dev.activator.backend.policy.TokenBucket;
import dev.activator.backend.policy.Urgency;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Which probes of addresses that failed may be sent: so many a second. What may be starting goes
 * before what has failed for long, which gets each fifth turn all the same.
 *
 * <p>
 * <b>Threads.</b> One.
 *
 * @param <T> what waits
 */
final class Repeats<T> {
  private static final int SHARE_OF_LASTING = 5;

  private final FairQueue<T> starting = new FairQueue<>();
  private final FairQueue<T> lasting = new FairQueue<>();
  private TokenBucket bucket;
  private int startingInARow;

  Repeats(TokenBucket bucket) {
    this.bucket = bucket;
  }

  void add(RevisionId revision, Urgency urgency, T one) {
    (urgency == Urgency.LASTING ? lasting : starting).add(revision, one);
  }

  boolean isEmpty() {
    return starting.isEmpty() && lasting.isEmpty();
  }

  /** How long until the next may be sent; zero if it may at once. */
  Duration untilNext(long nowNanos) {
    return bucket.untilNext(nowNanos);
  }

  /** The next to be sent; null if none waits. */
  @Nullable T next(long nowNanos) {
    boolean lastingIsNext = startingInARow >= SHARE_OF_LASTING - 1 && !lasting.isEmpty();
    boolean fromLasting = starting.isEmpty() || lastingIsNext;
    startingInARow = fromLasting ? 0 : startingInARow + 1;
    var next = (fromLasting ? lasting : starting).take(_ -> true);
    if (next == null) {
      return null;
    }
    bucket = bucket.less(nowNanos);
    return next.one();
  }

  /** One that was taken was not sent. */
  void unused() {
    bucket = bucket.more();
  }

  void clear() {
    starting.clear();
    lasting.clear();
  }
}
