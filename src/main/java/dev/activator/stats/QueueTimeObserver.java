package dev.activator.stats;

import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Counts how long requests waited in the queue since the last report to the autoscaler. The time in
 * which no pod was ready is not counted, because more pods would not have made it shorter. Requests
 * that were not queued cost nothing.
 *
 * <p><b>Threads.</b> Any.
 */
final class QueueTimeObserver implements RequestObserver {
  private final Map<RevisionId, AtomicIntegerArray> counts = new ConcurrentHashMap<>();

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
    var revision = request.revision();
    if (revision == null || !request.mayWait() || request.hasFallenBack()) {
      return;
    }
    var waited = Duration.ofNanos(Math.max(0, request.phases().queue()));
    counts.computeIfAbsent(revision.id().withoutPort(),
        _ -> new AtomicIntegerArray(QueueTimeHistogram.BUCKETS))
        .incrementAndGet(QueueTimeHistogram.bucket(waited));
  }

  /** Returns and resets the times by revision, with those of all its ports. */
  Map<RevisionId, QueueTimeHistogram> take() {
    var taken = new HashMap<RevisionId, QueueTimeHistogram>();
    for (var id : counts.keySet()) {
      var found = counts.remove(id);
      if (found != null) {
        var numbers = new int[QueueTimeHistogram.BUCKETS];
        for (int bucket = 0; bucket < numbers.length; bucket++) {
          numbers[bucket] = found.get(bucket);
        }
        taken.put(id, QueueTimeHistogram.of(numbers));
      }
    }
    return taken;
  }
}
