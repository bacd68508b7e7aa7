package dev.activator.observability;

import dev.activator.observability.RequestPhases.PodStart;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.RevisionId;
import dev.activator.revision.StartPhase;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A recorder of cold starts, which remembers the last hundred requests: of each start the first
 * one for each outcome.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class ColdStartRecorder implements RequestObserver {
  private static final int MAX_KEPT = 100;
  private static final String PHASE = "phase";
  /** Of further ones the labels are {@code _OTHER}: a histogram has some twenty series. */
  static final int MAX_LABELLED_REVISIONS = 100;

  /** By what the histogram of cold starts is labelled. */
  public enum LabelledBy {
    NONE,
    REVISION
  }

  /**
   * A request that came while no pod of its revision answered.
   *
   * @param start its phases pod and probe split, in nanoseconds; empty if that is not known any more
   */
  public record ColdStart(RevisionId revision, Instant when, RequestPhases phases,
      Map<StartPhase, Long> start, RequestOutcome outcome, int status) {

    public ColdStart {
      start = Collections.unmodifiableMap(new TreeMap<>(start));
    }

    private ColdStart split(Map<StartPhase, Long> split) {
      return new ColdStart(revision, when, phases, split, outcome, status);
    }
  }

  /**
   * @param arrivedNanos of the request
   * @param settled whether nothing more will be known
   */
  private record Entry(ColdStart start, long number, long arrivedNanos, boolean settled) {
    boolean isSame(Entry other) {
      return number == other.number && start.outcome() == other.start.outcome()
          && start.revision().equals(other.start.revision());
    }

    boolean isOf(RevisionId revision, long ofNumber) {
      return number == ofNumber && start.revision().equals(revision);
    }
  }

  private final LongSupplier nanoTime;
  private final Meters meters;
  private final Clock clock;
  private final Map<RevisionId, ColdStartTracker> revisions = new ConcurrentHashMap<>();
  /** The newest last. */
  private final List<Entry> last = new ArrayList<>(MAX_KEPT);
  private volatile Consumer<RevisionId> onStart = _ -> {
  };
  private volatile ColdStartTimingSource sources = ColdStartTimingSource.NONE;
  private final LabelledBy labelledBy;
  /** Revisions with labels of their own. */
  private final Set<RevisionId> labelled = ConcurrentHashMap.newKeySet();

  public ColdStartRecorder(LongSupplier nanoTime, Meters meters, Clock clock,
      LabelledBy labelledBy) {
    this.labelledBy = labelledBy;
    this.nanoTime = nanoTime;
    this.meters = meters;
    this.clock = clock;
  }

  /** Called with each start that is remembered as answered. */
  public void onStart(Consumer<RevisionId> listener) {
    onStart = listener;
  }

  public void sources(ColdStartTimingSource others) {
    sources = others;
  }

  public void listed(PrivateEndpoints pods) {
    var all = pods.http1().all().plus(pods.h2c().all());
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
    if (now.pods().isEmpty()) {
      settle(now.revision(), history, true);
    }
    long nanos = nanoTime.getAsLong();
    var known = history.isStarting() && !now.pods().isEmpty()
        ? known(now.revision(), now.pods().all(), nanos)
        : Map.<StartPhase, Long>of();
    for (long since : history.published(now.pods(), nanos, known)) {
      meters.measured(MetricDefinition.REACTION, Labels.EMPTY, Duration.ofNanos(nanos - since));
    }
    settle(now.revision(), history, false);
  }

  /** When phases ended, as far as it is known without the status of pods. */
  private Map<StartPhase, Long> known(RevisionId id, Collection<Destination> pods, long now) {
    var ends = new EnumMap<StartPhase, Long>(StartPhase.class);
    var others = sources;
    var scaled = others.scaledFromZero(id);
    if (scaled != null) {
      ends.put(StartPhase.SCALE, now - scaled.toNanos());
    }
    pods.stream().flatMap(pod -> Stream.ofNullable(others.accepts(id, pod)))
        .max(Comparator.naturalOrder())
        .ifPresent(accepts -> ends.put(StartPhase.LISTEN, now - accepts.toNanos()));
    return ends;
  }

  /** The pods of a revision with waiting requests have changed, or are read from now on. */
  public void progress(RevisionStartProgress now) {
    var history = revisions.get(now.revision());
    if (history != null) {
      history.progress(now, clock.instant(), nanoTime.getAsLong());
      settle(now.revision(), history, false);
    }
  }

  /** They are not read any more. */
  public void progressEnded(RevisionId id) {
    var history = revisions.get(id);
    if (history != null) {
      history.progressEnded();
      settle(id, history, false);
    }
  }

  private void settle(RevisionId id, ColdStartTracker history, boolean isOver) {
    long number = history.settle(isOver);
    if (number > 0) {
      split(id, history, number);
    }
  }

  private synchronized void split(RevisionId id, ColdStartTracker history, long number) {
    for (int i = 0; i < last.size(); i++) {
      var entry = last.get(i);
      if (entry.isOf(id, number) && !entry.settled) {
        last.set(i, split(entry, history));
      }
    }
  }

  /** With what is known now; measured once nothing more will be. */
  private Entry split(Entry entry, ColdStartTracker history) {
    var start = entry.start;
    var known = known(start.revision(), history.listed(), nanoTime.getAsLong());
    history.settle(false);
    boolean settled = history.isSettled(entry.number);
    var split = history.split(entry.number, entry.arrivedNanos, known);
    if (split == null) {
      return new Entry(start, entry.number, entry.arrivedNanos, settled);
    }
    var phases = split.between(0, start.phases().pod() + start.phases().probe());
    if (settled && start.outcome() == RequestOutcome.ANSWERED) {
      phases.forEach((phase, nanos) -> meters.measured(MetricDefinition.START,
          Labels.of(PHASE, phase.toString()), Duration.ofNanos(nanos)));
    }
    return new Entry(start.split(phases), entry.number, entry.arrivedNanos, settled);
  }

  public void podsGone(RevisionId id) {
    listed(PrivateEndpoints.none(id));
  }

  public void gone(RevisionId id) {
    revisions.remove(id);
    if (labelled.remove(id)) {
      meters.forget(MetricDefinition.COLD_START,
          labels -> id.namespace().equals(labels.get(HttpLabels.NAMESPACE))
              && id.name().equals(labels.get(HttpLabels.REVISION)));
    }
  }

  private ColdStartTracker of(RevisionId id) {
    return revisions.computeIfAbsent(id, _ -> new ColdStartTracker(nanoTime.getAsLong()));
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
        var revision = request.revision();
        if (outcome == RequestOutcome.REVISION_GONE && revision != null) {
          // It may have been queued after the revision was deleted.
          gone(revision.id());
        }
      }
      case ARRIVED, FORWARDING, UNDELIVERED -> {
        // Not known yet what it waits for.
      }
    }
  }

  /** One that had a pod before, or waits for its turn, waits for no start. */
  private void queued(RequestTimeline request) {
    var revision = request.revision();
    if (revision != null && request.retries() == 0) {
      request.awaited = of(revision.id()).await(nanoTime.getAsLong());
    }
  }

  /** @param navigation that was answered with a page, which has waited until now */
  public void pageEnded(RequestTimeline navigation, RequestOutcome outcome) {
    var revision = navigation.revision();
    var awaited = navigation.awaited;
    if (revision != null && awaited != null) {
      long now = nanoTime.getAsLong();
      record(revision.id(), awaited.until(now),
          awaited.until(now).until(navigation.arrivedNanos(), now), outcome, navigation.status(),
          navigation.arrivedNanos());
    }
  }

  private void started(RequestTimeline request) {
    if (request.awaited != null) {
      request.start = request.awaited.until(nanoTime.getAsLong());
    }
  }

  private void record(RequestTimeline request, RequestOutcome outcome, int status) {
    var revision = request.revision();
    var start = request.start;
    if (start != null && revision != null) {
      record(revision.id(), start, request.phases(), outcome, status, request.arrivedNanos());
    }
  }

  private void record(RevisionId revision, PodStart start, RequestPhases phases,
      RequestOutcome outcome,
      int status, long arrivedNanos) {
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
        labels(id).add(PHASE, phase).add("outcome", outcome.toString()),
        Duration.ofNanos(nanos));
  }

  private Labels labels(RevisionId id) {
    if (labelledBy == LabelledBy.NONE) {
      return Labels.EMPTY;
    }
    // A deleted revision has no history, and its series are forgotten.
    boolean own = revisions.containsKey(id) && (labelled.contains(id)
        || (labelled.size() < MAX_LABELLED_REVISIONS && labelled.add(id)));
    return Labels.of(HttpLabels.NAMESPACE, own ? id.namespace() : HttpLabels.OTHER,
        HttpLabels.REVISION,
        own ? id.name() : HttpLabels.OTHER);
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
    var history = revisions.get(entry.start.revision());
    last.addLast(history == null ? entry : split(entry, history));
    return true;
  }

  /** The start of a revision of which no pod answers; null if one does, or it has no pods and no requests. */
  public @Nullable OngoingColdStart view(RevisionId id) {
    var history = revisions.get(id);
    if (history == null) {
      return null;
    }
    long now = nanoTime.getAsLong();
    return history.view(now, known(id, history.listed(), now));
  }

  /** How long pods of a revision that has none that answers have been listed; else null. */
  public @Nullable Duration listedFor(RevisionId id) {
    var history = revisions.get(id);
    long nanos = history == null ? Long.MAX_VALUE : history.listedSince();
    return nanos == Long.MAX_VALUE
        ? null
        : Duration.ofNanos(Math.max(0, nanoTime.getAsLong() - nanos));
  }

  public synchronized List<ColdStart> latest() {
    return last.reversed().stream().map(Entry::start).toList();
  }

  /** A start that a request waits for. */
  record AwaitedStart(ColdStartTracker history, long number, long unlistedNanos) {
    private PodStart until(long now) {
      return history.since(this, now);
    }

    /** Of its phases, on the loops' clock; without those that have not ended or are not known. */
    Map<StartPhase, Long> ends() {
      var split = history.split(number, 0, Map.of());
      return split == null ? Map.of() : split.ends();
    }
  }
}
