package dev.activator.observability.request;

import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.Sums;
import dev.activator.observability.meter.Tags;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Counts the requests of one event loop. What a request is counted in is found when it arrives, by
 * one look into a map; with that, nothing is made and nobody else's cache line is written.
 *
 * <p>
 * <b>Threads.</b> The loop's own records; any reads.
 */
public final class LoopMeters implements RequestObserver {
  private static final int RETRIES = Outcome.values().length;

  private final Map<RevisionId, RevisionMeters> revisions = new ConcurrentHashMap<>();
  private final RevisionMeters none = new RevisionMeters(null);
  /** How many ended in each way, and after those how many were tried again. */
  private final AtomicLongArray counts = new AtomicLongArray(RETRIES + 1);

  @Override
  public void saw(Step step, RequestRecord request) {
    if (step == Step.ARRIVED) {
      request.meters = of(request.revision());
      request.time();
    }
    var meters = request.meters;
    if (meters != null) {
      count(step, request, meters);
    }
  }

  private RevisionMeters of(@Nullable Revision revision) {
    if (revision == null) {
      return none;
    }
    var known = revisions.get(revision.id());
    return known != null && known.isOf(revision) ? known : add(revision);
  }

  private RevisionMeters add(Revision revision) {
    var fresh = new RevisionMeters(revision);
    revisions.put(revision.id(), fresh);
    return fresh;
  }

  private void count(Step step, RequestRecord request, RevisionMeters meters) {
    switch (step) {
      case QUEUED -> meters.queued(1);
      case GRANTED -> {
        meters.active(1);
        if (request.waited()) {
          meters.queued(-1);
        }
      }
      case UNDELIVERED -> {
        count(RETRIES);
        meters.active(-1);
        failed(request, meters, request.now());
      }
      case ENDED -> ended(request, meters);
      case ARRIVED, FORWARDING, RESPONDING -> {
        // Nothing is counted that may still turn out otherwise.
      }
    }
  }

  private void ended(RequestRecord request, RevisionMeters meters) {
    var outcome = request.outcome();
    if (outcome != null && !outcome.served()) {
      count(outcome.ordinal());
    }
    if (request.isQueued()) {
      meters.queued(-1);
    } else if (request.isRunning()) {
      meters.active(-1);
      if (request.responded()) {
        meters.pods().answered(request);
      } else {
        failed(request, meters, request.endedNanos());
      }
    }
    meters.server().record(request);
  }

  private static void failed(RequestRecord request, RevisionMeters meters, long nowNanos) {
    String failure = request.failure();
    meters.pods().failed(request,
        failure == null ? String.valueOf(request.outcome()) : failure, nowNanos);
  }

  private void count(int cell) {
    counts.setOpaque(cell, counts.getPlain(cell) + 1);
  }

  /** The revision is deleted; what its requests still do is counted nowhere. */
  public void gone(RevisionId revision) {
    revisions.remove(revision);
  }

  /** Adds all there is, but nothing of revisions that are gone, which is forgotten. */
  public void addTo(Sums sums, Revisions existing) {
    revisions.keySet().removeIf(id -> existing.find(id) == null);
    revisions.values().forEach(each -> each.addTo(sums));
    none.addTo(sums);
    for (var outcome : Outcome.values()) {
      if (!outcome.served()) {
        sums.add(Metric.REJECTIONS, Tags.of("reason", outcome.toString()),
            counts.getOpaque(outcome.ordinal()));
      }
    }
    sums.add(Metric.RETRIES, Tags.NONE, counts.getOpaque(RETRIES));
  }
}
