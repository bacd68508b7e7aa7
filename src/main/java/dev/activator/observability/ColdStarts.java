package dev.activator.observability;

import dev.activator.observability.Metric.Names;
import dev.activator.observability.Phases.PodStart;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A recorder of cold starts, which remembers the last hundred requests: of each start the first
 * one for each outcome.
 *
 * <p><b>Threads.</b> Any may call.
 */
public final class ColdStarts implements RequestObserver {
  private static final int MAX_KEPT = 100;
  /** Of further ones the labels are {@code _OTHER}: a histogram has some twenty series. */
  static final int MAX_LABELLED_REVISIONS = 100;

  /** By what the histogram of cold starts is labelled. */
  public enum LabelledBy {
    NONE,
    REVISION
  }

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
  private volatile Consumer<RevisionId> onStart = _ -> {
  };
  private final LabelledBy labelledBy;
  /** Revisions with labels of their own. */
  private final Set<RevisionId> labelled = ConcurrentHashMap.newKeySet();

  public ColdStarts(LongSupplier nanoTime, Meters meters, Clock clock, LabelledBy labelledBy) {
    this.labelledBy = labelledBy;
    this.nanoTime = nanoTime;
    this.meters = meters;
    this.clock = clock;
  }

  /** Called with each start that is remembered as answered. */
  public void onStart(Consumer<RevisionId> listener) {
    onStart = listener;
  }

  public void listed(PodListing pods) {
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
    if (labelled.remove(id)) {
      meters.forget(Metric.COLD_START, labels -> id.namespace().equals(labels.get(Names.NAMESPACE))
          && id.name().equals(labels.get(Names.REVISION)));
    }
  }

  private History of(RevisionId id) {
    return revisions.computeIfAbsent(id, _ -> new History(nanoTime.getAsLong()));
  }

  @Override
  public void saw(Step step, RequestRecord request) {
    if (!request.waited()) {
      return;
    }
    switch (step) {
      case QUEUED -> queued(request);
      case GRANTED -> started(request);
      case RESPONDING -> record(request, Outcome.ANSWERED, request.responseStatus());
      case ENDED -> {
        var outcome = request.outcome();
        if (!request.responded() && outcome != null && outcome != Outcome.WAITING_PAGE
            && outcome != Outcome.FALLBACK) {
          if (request.isQueued()) {
            started(request);
          }
          record(request, outcome, request.status());
        }
        var revision = request.revision();
        if (outcome == Outcome.REVISION_GONE && revision != null) {
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
  private void queued(RequestRecord request) {
    var revision = request.revision();
    if (revision != null && request.retries() == 0) {
      request.awaited = of(revision.id()).await(nanoTime.getAsLong());
    }
  }

  /** @param navigation that was answered with a page, which has waited until now */
  public void pageEnded(RequestRecord navigation, Outcome outcome) {
    var revision = navigation.revision();
    var awaited = navigation.awaited;
    if (revision != null && awaited != null) {
      long now = nanoTime.getAsLong();
      record(revision.id(), awaited.until(now),
          awaited.until(now).until(navigation.arrivedNanos(), now), outcome, navigation.status());
    }
  }

  private void started(RequestRecord request) {
    if (request.awaited != null) {
      request.start = request.awaited.until(nanoTime.getAsLong());
    }
  }

  private void record(RequestRecord request, Outcome outcome, int status) {
    var revision = request.revision();
    var start = request.start;
    if (start != null && revision != null) {
      record(revision.id(), start, request.phases(), outcome, status);
    }
  }

  private void record(RevisionId revision, PodStart start, Phases phases, Outcome outcome,
      int status) {
    for (var phase : Phases.Phase.values()) {
      measure(revision, phase.toString(), outcome, phases.of(phase));
    }
    measure(revision, "total", outcome, phases.totalNanos());
    var when = clock.instant().minusNanos(phases.totalNanos());
    remember(new Entry(new ColdStart(revision, when, phases, outcome, status),
        start.number()));
  }

  private void measure(RevisionId id, String phase, Outcome outcome, long nanos) {
    meters.measured(Metric.COLD_START,
        labels(id).add("phase", phase).add("outcome", outcome.toString()),
        Duration.ofNanos(nanos));
  }

  private Labels labels(RevisionId id) {
    if (labelledBy == LabelledBy.NONE) {
      return Labels.EMPTY;
    }
    // A deleted revision has no history, and its series are forgotten.
    boolean own = revisions.containsKey(id) && (labelled.contains(id)
        || (labelled.size() < MAX_LABELLED_REVISIONS && labelled.add(id)));
    return Labels.of(Names.NAMESPACE, own ? id.namespace() : HttpLabels.OTHER, Names.REVISION,
        own ? id.name() : HttpLabels.OTHER);
  }

  private void remember(Entry entry) {
    if (add(entry) && entry.start.outcome() == Outcome.ANSWERED) {
      onStart.accept(entry.start.revision());
    }
  }

  private synchronized boolean add(Entry entry) {
    if (last.stream().anyMatch(entry::isSame)) {
      return false;
    }
    if (last.size() == MAX_KEPT) {
      last.removeLast();
    }
    last.addFirst(entry);
    return true;
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
    return last.stream().map(Entry::start).toList();
  }

  /** A start that a request waits for. */
  record AwaitedStart(History history, long number, long unlistedNanos) {
    private PodStart until(long now) {
      return history.since(this, now);
    }
  }

  /** Of one revision's pods. */
  static final class History {
    private final Map<Destination, Long> listed = new HashMap<>(4);
    private DestinationSet published = DestinationSet.NONE;
    private long starts;
    private long publishedNanos;
    /** Until the last start. */
    private long unlistedWhenPublished;
    /** All time without a listed pod, up to {@link #unlistedSince}. */
    private long unlistedNanos;
    private long unlistedSince;

    private History(long now) {
      this.unlistedSince = now;
    }

    synchronized void listed(DestinationSet pods, long now) {
      unlistedNanos = unlisted(now);
      unlistedSince = now;
      listed.keySet().removeIf(pod -> !pods.contains(pod));
      pods.all().forEach(pod -> listed.putIfAbsent(pod, now));
    }

    private long unlisted(long now) {
      return listed.isEmpty() ? unlistedNanos + Math.max(0, now - unlistedSince) : unlistedNanos;
    }

    synchronized Collection<Long> published(DestinationSet pods, long now) {
      var since = pods.minus(published).all().stream()
          .map(pod -> listed.getOrDefault(pod, now)).toList();
      if (published.isEmpty() && !pods.isEmpty()) {
        starts++;
        publishedNanos = now;
        unlistedWhenPublished = unlisted(now);
      }
      published = pods;
      return since;
    }

    synchronized long listedSince() {
      return published.isEmpty()
          ? listed.values().stream().reduce(Long.MAX_VALUE, Math::min)
          : Long.MAX_VALUE;
    }

    /** Null while pods answer. */
    synchronized @Nullable AwaitedStart await(long now) {
      return published.isEmpty() ? new AwaitedStart(this, starts + 1, unlisted(now)) : null;
    }

    /** The last start if there was one since then, else the one in progress. */
    synchronized PodStart since(AwaitedStart awaited, long now) {
      return starts >= awaited.number
          ? new PodStart(awaited.number, unlistedWhenPublished - awaited.unlistedNanos,
              publishedNanos)
          : new PodStart(awaited.number, unlisted(now) - awaited.unlistedNanos, Long.MAX_VALUE);
    }
  }
}
