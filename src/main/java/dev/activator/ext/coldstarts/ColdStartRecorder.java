package dev.activator.ext.coldstarts;

import dev.activator.observability.ColdStarts;
import dev.activator.observability.HttpLabels;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.ColdStarts.OngoingColdStart;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases;
import dev.activator.observability.RequestPhases.PodStart;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Records cold starts. It remembers the last hundred requests of cold starts: for each start, the
 * first request with each outcome.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class ColdStartRecorder implements RequestObserver, ColdStarts {
  private static final int MAX_KEPT = 100;
  private static final String PHASE = "phase";
  /**
   * The maximum number of revisions with labels of their own, because each histogram has some
   * twenty series. Further revisions share the label {@code _OTHER}.
   */
  static final int MAX_LABELLED_REVISIONS = 100;

  /** Which labels the histogram of cold starts has. */
  public enum LabelledBy {
    NONE,
    REVISION
  }

  /**
   * @param arrivedNanos when the request arrived
   * @param settled whether nothing more will be learned about the start
   */
  private record Entry(ColdStart start, long number, long arrivedNanos, boolean settled) {
    boolean isSame(Entry other) {
      return number == other.number && start.outcome() == other.start.outcome()
          && start.revision().equals(other.start.revision());
    }

    boolean isOf(RevisionId revision, long ofNumber) {
      return number == ofNumber && start.revision().equals(revision);
    }

    Entry split(Map<StartPhase, Long> split, boolean isSettled) {
      return new Entry(new ColdStart(start.revision(), start.when(), start.phases(), split,
          start.outcome(), start.status()), number, arrivedNanos, isSettled);
    }
  }

  private final LongSupplier nanoTime;
  private final Meters meters;
  private final Clock clock;
  private final LiveRevisions revisions;
  private final Slot<ColdStartTracker> slot;
  /** The recorded requests, the newest last. */
  private final List<Entry> last = new ArrayList<>(MAX_KEPT);
  private volatile Consumer<RevisionId> onStart = _ -> {
  };
  private volatile Function<RevisionId, @Nullable Duration> scaledFromZero = _ -> null;
  private volatile BiFunction<RevisionId, Destination, @Nullable Duration> accepts = (_, _) -> null;
  private final LabelledBy labelledBy;
  /** The revisions that have labels of their own. */
  private final Set<RevisionId> labelled = ConcurrentHashMap.newKeySet();

  public ColdStartRecorder(LiveRevisions revisions, LongSupplier nanoTime, Meters meters,
      Clock clock, LabelledBy labelledBy) {
    this.revisions = revisions;
    this.slot = revisions.declare("cold starts",
        now -> new ColdStartTracker(now.id(), nanoTime.getAsLong()), this::ended);
    this.labelledBy = labelledBy;
    this.nanoTime = nanoTime;
    this.meters = meters;
    this.clock = clock;
  }

  @Override
  public void onStart(Consumer<RevisionId> listener) {
    onStart = listener;
  }

  /**
   * Sets the sources of two durations, which are called on any thread.
   *
   * @param scaled how long ago this process scaled the revision from zero; null if it did not
   * @param accepting for how long a pod has accepted connections; null if it does not
   */
  public void timings(Function<RevisionId, @Nullable Duration> scaled,
      BiFunction<RevisionId, Destination, @Nullable Duration> accepting) {
    scaledFromZero = scaled;
    accepts = accepting;
  }

  public void listed(PrivateEndpoints pods) {
    var all = pods.http1().all().plus(pods.h2c().all());
    var tracker = all.isEmpty() ? find(pods.revision()) : revisions.slot(pods.revision(), slot);
    if (tracker != null) {
      tracker.listed(all, nanoTime.getAsLong());
    }
  }

  public void published(HealthyDestinations now) {
    var tracker = now.pods().isEmpty()
        ? find(now.revision())
        : revisions.slot(now.revision(), slot);
    if (tracker == null) {
      return;
    }
    if (now.pods().isEmpty()) {
      settle(now.revision(), tracker, true);
    }
    long nanos = nanoTime.getAsLong();
    var known = tracker.isStarting() && !now.pods().isEmpty()
        ? known(now.revision(), now.pods().all(), nanos)
        : Map.<StartPhase, Long>of();
    var listings = tracker.published(now.pods(), nanos, known);
    later(revisions.find(now.revision()), () -> {
      for (long since : listings) {
        meters.measured(MetricDefinition.REACTION, Labels.EMPTY, Duration.ofNanos(nanos - since));
      }
      settle(now.revision(), tracker, false);
    });
  }

  /** Runs a task that no caller waits for, after those that one may wait for. */
  private static void later(@Nullable LiveRevision revision, Runnable task) {
    if (revision != null) {
      revision.loop().execute(task);
    }
  }

  /** The ends of the phases that are known without the status of pods. */
  private Map<StartPhase, Long> known(RevisionId id, Collection<Destination> pods, long now) {
    var ends = new EnumMap<StartPhase, Long>(StartPhase.class);
    var scaled = scaledFromZero.apply(id);
    if (scaled != null) {
      ends.put(StartPhase.SCALE, now - scaled.toNanos());
    }
    pods.stream().flatMap(pod -> Stream.ofNullable(accepts.apply(id, pod)))
        .max(Comparator.naturalOrder())
        .ifPresent(since -> ends.put(StartPhase.LISTEN, now - since.toNanos()));
    return ends;
  }

  /**
   * Call with the status of pods of a revision with waiting requests: when it is first read, and
   * when it changes.
   */
  public void progress(RevisionStartProgress now) {
    var tracker = find(now.revision());
    if (tracker != null) {
      tracker.progress(now, clock.instant(), nanoTime.getAsLong());
      settle(now.revision(), tracker, false);
    }
  }

  /** Call when the status of the revision's pods is no longer read. */
  public void progressEnded(RevisionId id) {
    var tracker = find(id);
    if (tracker != null) {
      tracker.progressEnded();
      settle(id, tracker, false);
    }
  }

  private void settle(RevisionId id, ColdStartTracker tracker, boolean isOver) {
    long number = tracker.settle(isOver);
    if (number > 0) {
      split(id, tracker, number);
    }
  }

  private synchronized void split(RevisionId id, ColdStartTracker tracker, long number) {
    for (int i = 0; i < last.size(); i++) {
      var entry = last.get(i);
      if (entry.isOf(id, number) && !entry.settled) {
        last.set(i, split(entry, tracker));
      }
    }
  }

  /** Adds the phases that are known now. Measures them when nothing more will be learned. */
  private Entry split(Entry entry, ColdStartTracker tracker) {
    var start = entry.start;
    var known = known(start.revision(), tracker.listed(), nanoTime.getAsLong());
    tracker.settle(false);
    boolean settled = tracker.isSettled(entry.number);
    var split = tracker.split(entry.number, entry.arrivedNanos, known);
    if (split == null) {
      return new Entry(start, entry.number, entry.arrivedNanos, settled);
    }
    var phases = split.between(0, start.phases().pod() + start.phases().probe());
    if (settled && start.outcome() == RequestOutcome.ANSWERED) {
      phases.forEach((phase, nanos) -> meters.measured(MetricDefinition.START,
          Labels.of(PHASE, phase.toString()), Duration.ofNanos(nanos)));
    }
    return entry.split(phases, settled);
  }

  public void podsGone(RevisionId id) {
    listed(PrivateEndpoints.none(id));
  }

  private void ended(ColdStartTracker tracker) {
    var id = tracker.revision();
    if (labelled.remove(id)) {
      meters.forget(MetricDefinition.COLD_START,
          labels -> id.namespace().equals(labels.get(HttpLabels.NAMESPACE))
              && id.name().equals(labels.get(HttpLabels.REVISION)));
    }
  }

  private @Nullable ColdStartTracker find(RevisionId id) {
    return revisions.peek(id, slot);
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    if (!request.waited()) {
      return;
    }
    switch (step) {
      case QUEUED -> queued(request);
      case GRANTED -> started(request);
      case RESPONDING -> record(request, RequestOutcome.ANSWERED, request.responseStatus());
      case ENDED -> {
        var outcome = request.outcome();
        if (!request.responded() && outcome != null && outcome != RequestOutcome.WAITING_PAGE
            && outcome != RequestOutcome.FALLBACK) {
          if (request.isQueued()) {
            started(request);
          }
          record(request, outcome, request.status());
        }
      }
      case ARRIVED, FORWARDING, UNDELIVERED -> {
        // It is not known yet what the request waits for.
      }
    }
  }

  /** A request that had a pod before, or waits only for its turn, does not wait for a start. */
  private void queued(RequestTimeline request) {
    var revision = request.routed();
    var tracker = revision == null ? null : revision.slot(slot);
    if (tracker != null && request.retries() == 0) {
      var awaited = tracker.await(nanoTime.getAsLong());
      if (awaited != null) {
        RequestTimeline.AWAITED.set(request, awaited);
      }
    }
  }

  @Override
  public Consumer<RequestOutcome> answeredEarly(RequestTimeline request, int status) {
    var revision = request.revision();
    var awaited = RequestTimeline.AWAITED.of(request);
    long arrivedNanos = request.arrivedNanos();
    return outcome -> {
      if (revision != null && awaited != null) {
        long now = nanoTime.getAsLong();
        record(revision.id(), awaited.until(now), awaited.until(now).until(arrivedNanos, now),
            outcome, status, arrivedNanos);
      }
    };
  }

  /** After a fallback, the request no longer waits for its revision's start. */
  private void started(RequestTimeline request) {
    var awaited = RequestTimeline.AWAITED.of(request);
    if (awaited != null && !request.hasFallenBack()) {
      RequestTimeline.START.set(request, awaited.until(nanoTime.getAsLong()));
    }
  }

  private void record(RequestTimeline request, RequestOutcome outcome, int status) {
    var revision = request.revision();
    var start = RequestTimeline.START.of(request);
    if (start != null && revision != null) {
      var phases = request.phases();
      long arrivedNanos = request.arrivedNanos();
      later(request.serving(),
          () -> record(revision.id(), start, phases, outcome, status, arrivedNanos));
    }
  }

  private void record(RevisionId revision, PodStart start, RequestPhases phases,
      RequestOutcome outcome, int status, long arrivedNanos) {
    for (var phase : RequestPhases.Phase.values()) {
      measure(revision, phase.toString(), outcome, phases.of(phase));
    }
    measure(revision, "total", outcome, phases.totalNanos());
    var when = clock.instant().minusNanos(phases.totalNanos());
    remember(new Entry(new ColdStart(revision, when, phases, Map.of(), outcome, status),
        start.number(), arrivedNanos, false));
  }

  private void measure(RevisionId id, String phase, RequestOutcome outcome, long nanos) {
    meters.measured(MetricDefinition.COLD_START,
        labels(id).add(PHASE, phase).add("outcome", outcome.toString()), Duration.ofNanos(nanos));
  }

  private Labels labels(RevisionId id) {
    if (labelledBy == LabelledBy.NONE) {
      return Labels.EMPTY;
    }
    // A deleted revision has no tracker, and its series have been dropped.
    boolean own = find(id) != null && (labelled.contains(id)
        || (labelled.size() < MAX_LABELLED_REVISIONS && labelled.add(id)));
    return Labels.of(HttpLabels.NAMESPACE, own ? id.namespace() : HttpLabels.OTHER,
        HttpLabels.REVISION, own ? id.name() : HttpLabels.OTHER);
  }

  private void remember(Entry entry) {
    if (add(entry) && entry.start.outcome() == RequestOutcome.ANSWERED) {
      onStart.accept(entry.start.revision());
    }
  }

  private synchronized boolean add(Entry entry) {
    for (var other : last) {
      if (entry.isSame(other)) {
        return false;
      }
    }
    if (last.size() == MAX_KEPT) {
      last.removeFirst();
    }
    var tracker = find(entry.start.revision());
    last.addLast(tracker == null ? entry : split(entry, tracker));
    return true;
  }

  @Override
  public @Nullable OngoingColdStart view(RevisionId id) {
    var tracker = find(id);
    if (tracker == null) {
      return null;
    }
    long now = nanoTime.getAsLong();
    return tracker.view(now, known(id, tracker.listed(), now));
  }

  @Override
  public @Nullable Duration listedFor(RevisionId id) {
    var tracker = find(id);
    long nanos = tracker == null ? Long.MAX_VALUE : tracker.listedSince();
    return nanos == Long.MAX_VALUE
        ? null
        : Duration.ofNanos(Math.max(0, nanoTime.getAsLong() - nanos));
  }

  @Override
  public synchronized List<ColdStart> latest() {
    return last.reversed().stream().map(Entry::start).toList();
  }

  record TrackedStart(ColdStartTracker tracker, long number, long unlistedNanos)
      implements AwaitedStart {
    @Override
    public PodStart until(long now) {
      return tracker.since(this, now);
    }

    @Override
    public Map<StartPhase, Long> ends() {
      var split = tracker.split(number, 0, Map.of());
      return split == null ? Map.of() : split.ends();
    }
  }
}
