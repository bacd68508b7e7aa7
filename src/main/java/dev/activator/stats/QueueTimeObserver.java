package dev.activator.stats;

import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Counts how long requests waited in the queue since the last report to the autoscaler. The time in
 * which no pod was ready is not counted, because more pods would not have made it shorter. Requests
 * that were not queued cost nothing.
 *
 * <p><b>Threads.</b> Any.
 */
final class QueueTimeObserver implements RequestObserver {
  private final LiveRevisions revisions;
  private final Slot<AtomicIntegerArray> slot;

  QueueTimeObserver(LiveRevisions revisions) {
    this.revisions = revisions;
    this.slot = revisions.declare("times in the queue",
        _ -> new AtomicIntegerArray(QueueTimeHistogram.BUCKETS));
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    if (!request.waited()) {
      return;
    }
    switch (step) {
      // A request that was undelivered has already been counted.
      case GRANTED -> {
        if (request.retries() == 0) {
          count(request);
        }
      }
      case ENDED -> {
        if (request.isQueued() && request.retries() == 0 && !isAnsweredMeanwhile(request)) {
          count(request);
        }
      }
      case ARRIVED, QUEUED, FORWARDING, UNDELIVERED, RESPONDING -> {
        // The request still waits, or has already been counted.
      }
    }
  }

  /** Whether the request was answered before its wait was over. */
  private static boolean isAnsweredMeanwhile(RequestTimeline request) {
    return request.outcome() == RequestOutcome.WAITING_PAGE
        || request.outcome() == RequestOutcome.FALLBACK;
  }

  private void count(RequestTimeline request) {
    var revision = request.routed();
    var counts = revision == null ? null : revision.slot(slot);
    if (counts == null || !request.mayWait() || request.hasFallenBack()) {
      return;
    }
    var waited = Duration.ofNanos(Math.max(0, request.phases().queue()));
    counts.incrementAndGet(QueueTimeHistogram.bucket(waited));
  }

  /** Returns and resets the times by revision, with those of all its ports. */
  Map<RevisionId, QueueTimeHistogram> take() {
    var sums = new HashMap<RevisionId, int[]>();
    revisions.all().forEach(revision -> {
      var counts = revision.peek(slot);
      if (counts != null) {
        revision.clear(slot);
        var sum = sums.computeIfAbsent(revision.id().withoutPort(),
            _ -> new int[QueueTimeHistogram.BUCKETS]);
        Arrays.setAll(sum, bucket -> sum[bucket] + counts.get(bucket));
      }
    });
    var taken = new HashMap<RevisionId, QueueTimeHistogram>();
    sums.forEach((id, sum) -> taken.put(id, QueueTimeHistogram.of(sum)));
    return taken;
  }
}
