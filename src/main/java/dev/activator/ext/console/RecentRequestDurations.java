package dev.activator.ext.console;

import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Remembers how long the last requests of each revision took, so that percentiles of few requests
 * are exact. It is one of the observers only while the console is open.
 *
 * <p><b>Threads.</b> Any may call. A value that is being written may be missing.
 */
public final class RecentRequestDurations implements RequestObserver {
  static final int KEPT = 64;
  private static final long MINUTE_NANOS = 60_000_000_000L;

  private final LongSupplier nanoTime;
  private final LiveRevisions revisions;
  private final Slot<Ring> slot;

  public RecentRequestDurations(LongSupplier nanoTime, LiveRevisions revisions) {
    this.nanoTime = nanoTime;
    this.revisions = revisions;
    this.slot = revisions.slot("recent durations", _ -> new Ring());
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    var revision = request.live();
    if (step != Step.ENDED || revision == null) {
      return;
    }
    var ring = revision.slot(slot);
    if (ring != null) {
      ring.add(request.endedNanos(), request.endedNanos() - request.arrivedNanos());
    }
  }

  /**
   * The durations of the last minute in nanoseconds, the shortest first; null if there were more
   * than are stored.
   */
  public long @Nullable [] of(RevisionId id) {
    var ring = revisions.peek(id, slot);
    return ring == null ? new long[0] : ring.since(nanoTime.getAsLong() - MINUTE_NANOS);
  }

  /** Call when this is no longer an observer. */
  public void clear() {
    revisions.clear(slot);
  }

  private static final class Ring {
    private final AtomicInteger next = new AtomicInteger();
    private final long[] ended = new long[KEPT];
    private final long[] took = new long[KEPT];

    void add(long atNanos, long nanos) {
      int at = Math.floorMod(next.getAndIncrement(), KEPT);
      took[at] = nanos;
      ended[at] = atNanos;
    }

    long @Nullable [] since(long nanos) {
      int all = next.get();
      if (all < 0 || all > KEPT && ended[Math.floorMod(all, KEPT)] - nanos > 0) {
        return null;
      }
      return IntStream.range(0, Math.min(all, KEPT)).filter(i -> ended[i] - nanos > 0)
          .mapToLong(i -> took[i]).sorted().toArray();
    }
  }
}
