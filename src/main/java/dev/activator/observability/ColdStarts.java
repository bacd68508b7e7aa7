package dev.activator.observability;

import dev.activator.observability.Phases.PodStart;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodListing;
import dev.activator.revision.RevisionId;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Measures cold starts and remembers the last hundred requests: of each start the first one for
 * each outcome.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 */
public final class ColdStarts implements RequestObserver {
  private static final int MOST = 100;

  /** A request that came while no pod of its revision answered. */
  public record ColdStart(RevisionId revision, Instant when, Phases phases, Outcome outcome,
      int status) {}

  private record Entry(ColdStart start, long number) {
    boolean isSame(Entry other) {
      return number == other.number && start.outcome() == other.start.outcome()
          && start.revision().equals(other.start.revision());
    }
  }

  private final LongSupplier nanoTime;
  private final Meters meters;
  private final Clock clock;
  private final Map<RevisionId, History> revisions = new ConcurrentHashMap<>();
  private final Deque<Entry> last = new ArrayDeque<>();

  public ColdStarts(LongSupplier nanoTime, Meters meters, Clock clock) {
    this.nanoTime = nanoTime;
    this.meters = meters;
    this.clock = clock;
  }

  public void listed(PodListing pods) {
    var all = Stream.of(pods.http1(), pods.h2c()).flatMap(port -> port.all().all().stream())
        .distinct().toList();
    var history = all.isEmpty() ? revisions.get(pods.revision()) : of(pods.revision());
    if (history != null) {
      history.listed(all, nanoTime.getAsLong());
    }
  }

  public void published(HealthyDestinations now) {
    // A deleted revision's watcher publishes an empty set: nothing is kept for it.
    var history = now.pods().isEmpty() ? revisions.get(now.revision()) : of(now.revision());
    if (history == null) {
      return;
    }
    long nanos = nanoTime.getAsLong();
    for (long since : history.published(now.pods(), nanos)) {
      meters.measured(Metric.REACTION, Labels.EMPTY, Duration.ofNanos(nanos - since));
    }
  }

  public void podsGone(RevisionId id) {
    listed(PodListing.none(id));
  }

  public void gone(RevisionId id) {
    revisions.remove(id);
  }

  private History of(RevisionId id) {
    return revisions.computeIfAbsent(id, _ -> new History());
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
        // Not known yet what it waits for.
      }
    }
  }

  private void find(RequestRecord request) {
    var revision = request.revision();
    if (revision != null && request.start == null) {
      request.start = since(revision.id(), request.arrivedNanos());
    }
  }

  /** The current or last start; null if the revision has had pods since before then. */
  private @Nullable PodStart since(RevisionId id, long nanos) {
    var history = revisions.get(id);
    var start = history == null ? null : history.last;
    if (start == null) {
      long number = history == null ? 1 : history.number();
      return new PodStart(number, Long.MAX_VALUE, Long.MAX_VALUE);
    }
    return start.publishedNanos() - nanos >= 0 ? start : null;
  }

  private void record(RequestRecord request, Outcome outcome, int status) {
    var revision = request.revision();
    var start = request.start;
    if (start == null || revision == null) {
      return;
    }
    var phases = request.phases();
    for (var phase : Phases.Phase.values()) {
      measure(phase.toString(), outcome, phases.of(phase));
    }
    measure("total", outcome, phases.totalNanos());
    var when = clock.instant().minusNanos(phases.totalNanos());
    remember(new Entry(new ColdStart(revision.id(), when, phases, outcome, status),
        start.number()));
  }

  private void measure(String phase, Outcome outcome, long nanos) {
    meters.measured(Metric.COLD_START, Labels.of("phase", phase, "outcome", outcome.toString()),
        Duration.ofNanos(nanos));
  }

  private synchronized void remember(Entry entry) {
    if (last.stream().anyMatch(entry::isSame)) {
      return;
    }
    if (last.size() == MOST) {
      last.removeLast();
    }
    last.addFirst(entry);
  }

  public synchronized List<ColdStart> latest() {
    return last.stream().map(Entry::start).toList();
  }

  private static final class History {
    /** When each pod was listed that was not published since. */
    private Map<Destination, Long> listed = Map.of();
    private Destinations published = Destinations.NONE;
    private volatile @Nullable PodStart last;
    private long starts;

    synchronized void listed(Collection<Destination> pods, long now) {
      var waiting = new HashMap<Destination, Long>(4);
      pods.stream().filter(pod -> !published.contains(pod))
          .forEach(pod -> waiting.put(pod, listed.getOrDefault(pod, now)));
      listed = Map.copyOf(waiting);
    }

    synchronized Collection<Long> published(Destinations pods, long now) {
      var since = listed.entrySet().stream().filter(pod -> pods.contains(pod.getKey()))
          .map(Map.Entry::getValue).toList();
      listed = listed.entrySet().stream().filter(pod -> !pods.contains(pod.getKey()))
          .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
      if (published.isEmpty() && !pods.isEmpty()) {
        starts++;
        last = new PodStart(starts, since.stream().reduce(now, Math::min), now);
      } else if (pods.isEmpty()) {
        last = null;
      }
      published = pods;
      return since;
    }

    synchronized long number() {
      return last == null ? starts + 1 : starts;
    }
  }
}
