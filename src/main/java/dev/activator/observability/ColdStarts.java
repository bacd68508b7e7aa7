package dev.activator.observability;

import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.Tags;
import dev.activator.observability.request.Outcome;
import dev.activator.observability.request.Phases;
import dev.activator.observability.request.RequestObserver;
import dev.activator.observability.request.RequestRecord;
import dev.activator.revision.RevisionId;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Measures what requests wait for while a revision starts, and remembers the last hundred starts:
 * of the requests that one start made wait, the first that was answered, and the first of each other
 * outcome.
 *
 * <p>
 * <b>Threads.</b> Requests are told of on their loops; any may ask.
 */
public final class ColdStarts implements RequestObserver {
  private static final int MOST = 100;

  private record Entry(ColdStart start, long number) {
    boolean isSame(RevisionId revision, long of, Outcome outcome) {
      return number == of && start.outcome() == outcome && start.revision().equals(revision);
    }
  }

  private final PodStarts starts;
  private final Meters meters;
  private final Clock clock;
  private final Deque<Entry> last = new ArrayDeque<>();

  public ColdStarts(PodStarts starts, Meters meters, Clock clock) {
    this.starts = starts;
    this.meters = meters;
    this.clock = clock;
  }

  @Override
  public void saw(Step step, RequestRecord request) {
    if (!request.waited()) {
      return;
    }
    switch (step) {
      case GRANTED -> find(request);
      case RESPONDING -> record(request, Outcome.ANSWERED, request.responseStatus());
      case ENDED -> {
        var outcome = request.outcome();
        if (!request.responded() && outcome != null) {
          find(request);
          record(request, outcome, request.status());
        }
      }
      case ARRIVED, QUEUED, FORWARDING, UNDELIVERED -> {
        // It is not known yet what it waits for.
      }
    }
  }

  private void find(RequestRecord request) {
    var revision = request.revision();
    if (revision != null && request.start == null) {
      request.start = starts.since(revision.id(), request.arrivedNanos());
    }
  }

  private void record(RequestRecord request, Outcome outcome, int status) {
    var revision = request.revision();
    var start = request.start;
    if (start == null || revision == null) {
      return;
    }
    var phases = request.phases();
    measure(phases, outcome);
    var when = clock.instant().minusNanos(phases.totalNanos());
    remember(new Entry(new ColdStart(revision.id(), when, phases, outcome, status),
        start.number()));
  }

  private void measure(Phases phases, Outcome outcome) {
    for (var phase : Phases.Phase.values()) {
      measure(phase.toString(), outcome, phases.of(phase));
    }
    measure("total", outcome, phases.totalNanos());
  }

  private void measure(String phase, Outcome outcome, long nanos) {
    meters.measured(Metric.COLD_START,
        Tags.of("phase", phase).and("outcome", outcome.toString()), Duration.ofNanos(nanos));
  }

  private synchronized void remember(Entry entry) {
    var start = entry.start;
    if (last.stream().anyMatch(
        other -> other.isSame(start.revision(), entry.number, start.outcome()))) {
      return;
    }
    if (last.size() == MOST) {
      last.removeLast();
    }
    last.addFirst(entry);
  }

  /** The last hundred, the latest first. */
  public synchronized List<ColdStart> latest() {
    return last.stream().map(Entry::start).toList();
  }
}
