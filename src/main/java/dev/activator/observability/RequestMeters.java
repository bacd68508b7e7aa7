package dev.activator.observability;

import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.observability.PerThreadHistogram.PerThreadCounts;
import dev.activator.observability.Meters.Reading;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The meters of requests. The series of a request's revision are looked up once, when the request
 * arrives. They are dropped when the revision is deleted.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class RequestMeters implements RequestObserver {
  private final Meters registry;
  private final LiveRevisions revisions;
  private final Slot<RevisionMeters> slot;
  private final RevisionMeters none = new RevisionMeters(null);
  private final Map<RequestOutcome, LongAdder> rejections = new EnumMap<>(RequestOutcome.class);
  private final LongAdder retries = new LongAdder();
  private final LongAdder redirected = new LongAdder();
  /**
   * The number of active requests by method and scheme. If metrics are exported, all requests are
   * counted.
   */
  private final PerThreadCounts active = new PerThreadCounts(HttpLabels.KINDS);
  /** Whether there were requests of a kind. Its series stays after they have ended. */
  private final boolean[] known = new boolean[HttpLabels.KINDS];
  private volatile boolean scraped;

  public RequestMeters(Meters meters, LiveRevisions revisions) {
    this.registry = meters;
    this.revisions = revisions;
    this.slot = revisions.declare("request meters", now -> new RevisionMeters(now.spec()));
    for (var outcome : RequestOutcome.values()) {
      if (!outcome.served()) {
        var count = new LongAdder();
        rejections.put(outcome, count);
        if (outcome == RequestOutcome.WAITING_PAGE) {
          meters.number(MetricDefinition.WAITING_PAGES, Labels.EMPTY, count::sum);
        } else if (outcome == RequestOutcome.FALLBACK) {
          meters.number(MetricDefinition.FALLBACKS, Labels.of("kind", "answer"), count::sum);
        } else if (outcome == RequestOutcome.NOT_WOKEN) {
          meters.number(MetricDefinition.NOT_WOKEN, Labels.EMPTY, count::sum);
        } else {
          meters.number(MetricDefinition.REJECTIONS, Labels.of("reason", outcome.toString()),
              count::sum);
        }
      }
    }
    meters.number(MetricDefinition.FALLBACKS, Labels.of("kind", "service"), redirected::sum);
    meters.number(MetricDefinition.RETRIES, Labels.EMPTY, retries::sum);
    meters.add(this::addTo);
  }

  /** Counts requests if these settings enable metrics. Call once, before the first request. */
  public void start(MetricsConfig settings, RequestObservers observers) {
    if (settings.protocol() != ExportProtocol.NONE) {
      observers.add(this);
    }
    scraped = settings.protocol() == ExportProtocol.PROMETHEUS;
  }

  /** Whether Prometheus may scrape metrics; false before the start. */
  public boolean areScraped() {
    return scraped;
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    if (step == Step.ARRIVED) {
      request.meters = of(request.routed());
      request.thread = registry.thread();
      request.time();
      active(request, 1);
    }
    var meters = request.meters;
    if (meters != null) {
      count(step, request, meters);
    }
  }

  private RevisionMeters of(@Nullable LiveRevision revision) {
    if (revision == null) {
      return none;
    }
    var known = revision.slot(slot);
    // The series of a deleted revision are not read any more.
    return known == null ? new RevisionMeters(revision.spec()) : known;
  }

  private void count(Step step, RequestTimeline request, RevisionMeters meters) {
    switch (step) {
      case QUEUED -> meters.queued(request, 1);
      case GRANTED -> {
        meters.active(request, 1);
        if (request.waited()) {
          meters.queued(request, -1);
        }
      }
      case UNDELIVERED -> {
        retries.increment();
        meters.active(request, -1);
        failed(request, meters, request.now());
      }
      case ENDED -> ended(request, meters);
      case ARRIVED, FORWARDING, RESPONDING -> {
        // The request is counted when its outcome is known.
      }
    }
  }

  private void ended(RequestTimeline request, RevisionMeters meters) {
    var outcome = request.outcome();
    var rejected = outcome == null ? null : rejections.get(outcome);
    if (rejected != null) {
      rejected.increment();
    }
    if (request.hasFallenBack()) {
      redirected.increment();
    }
    if (request.isQueued()) {
      meters.queued(request, -1);
    } else if (request.isRunning()) {
      meters.active(request, -1);
      if (request.responded()) {
        meters.answered(request);
      } else {
        failed(request, meters, request.endedNanos());
      }
    }
    meters.ended(request);
    active(request, -1);
  }

  private void active(RequestTimeline request, int more) {
    int kind = HttpLabels.kind(request);
    PerThreadCounts.add(active.own(request.thread), kind, more);
    if (!known[kind]) {
      known[kind] = true;
    }
  }

  private static void failed(RequestTimeline request, RevisionMeters meters, long nowNanos) {
    String failure = request.failure();
    meters.failed(request, failure == null ? String.valueOf(request.outcome()) : failure, nowNanos);
  }

  public void reported(RevisionId id, double averageConcurrency) {
    var meters = revisions.slot(id, slot);
    if (meters != null) {
      meters.reported = averageConcurrency;
    }
  }

  private void addTo(Reading reading) {
    revisions.all(slot).forEach(each -> each.addTo(reading));
    none.addTo(reading);
    addActiveTo(reading);
  }

  private void addActiveTo(Reading reading) {
    var now = active.sums(0, HttpLabels.KINDS);
    for (int kind = 0; kind < now.length; kind++) {
      if (now[kind] != 0 || known[kind]) {
        reading.add(MetricDefinition.SERVER_ACTIVE, HttpLabels.ofKind(kind), now[kind]);
      }
    }
  }
}
