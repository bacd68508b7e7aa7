package dev.activator.ext.affinity;

import dev.activator.ext.affinity.policy.AffinityRule;
import dev.activator.loop.Loop;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestTimeline;
import dev.activator.proxy.exchange.Seams.CountPolicy;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.throttle.KeyNotices;
import dev.activator.throttle.Throttler;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The affinity of all revisions that have one. It follows their annotations and their requests.
 *
 * <p><b>Threads.</b> Any; {@link #onRevision} from one thread at a time.
 */
final class Affinities implements RequestObserver, CountPolicy {
  private static final Logger log = LoggerFactory.getLogger(Affinities.class);

  private final Throttler throttler;
  private final KeyNotices notices;
  private final AffinityCookie cookie;
  private final AffinityCounts counts;
  private final LiveRevisions revisions;
  private final Slot<AtomicReference<Known>> slot;

  /** @param affinity null if the annotations define none */
  private record Known(Map<String, String> annotations, @Nullable RevisionAffinity affinity) {
    private static final Known NONE = new Known(Map.of(), null);
  }

  Affinities(LiveRevisions revisions, Throttler throttler, AffinityCookie cookie,
      KeyNotices notices, AffinityCounts counts) {
    this.notices = notices;
    this.throttler = throttler;
    this.cookie = cookie;
    this.counts = counts;
    this.revisions = revisions;
    this.slot = revisions.declare("affinity", _ -> new AtomicReference<>(Known.NONE));
  }

  /** Call when a revision was created or changed. A change forgets which pods have issued keys. */
  void onRevision(LiveRevision now) {
    var its = AffinityRule.in(now.spec().annotations());
    if (its.isEmpty() && now.peek(slot) == null) {
      return;
    }
    var known = now.slot(slot);
    if (known != null && !known.get().annotations.equals(its)) {
      var rule = AffinityRule.parse(its, problem -> log.warn("{}: {}", now.id(), problem));
      var affinity = rule == null
          ? null
          : new RevisionAffinity(now.id(), rule, cookie, notices, counts);
      known.set(new Known(its, affinity));
      throttler.choose(now, affinity);
    }
  }

  /** Call once: listens to other activators, and registers the meters. */
  void register(Meters meters) {
    notices.listen(this::onNotice);
    counts.register(meters);
    meters.number(MetricDefinition.AFFINITY_KEYS, Labels.EMPTY, this::keys);
    meters.number(MetricDefinition.AFFINITY_KEYS_IN_FLIGHT, Labels.EMPTY, this::keysInFlight);
  }

  void onNotice(KeyNotices.Notice notice) {
    var known = revisions.peek(notice.revision(), slot);
    var affinity = known == null ? null : known.get().affinity;
    if (affinity != null) {
      affinity.onNotice(notice);
    }
  }

  /** Writes to the pods of a workload how many keys they have issued. */
  CompletableFuture<Void> prepareScaleDown(RevisionId workload, DeletionCostWriter costs) {
    var its = all().filter(one -> one.revision().withoutPort().equals(workload)).toList();
    return its.isEmpty()
        ? CompletableFuture.completedFuture(null)
        : costs.write(workload, () -> {
          var keys = new HashMap<String, Integer>();
          its.forEach(one -> one.issuers().forEach(pod -> keys.merge(pod.host(), 1, Integer::sum)));
          return keys;
        });
  }

  /** The number of keys of which the pod that issued them is known. */
  long keys() {
    return all().mapToLong(RevisionAffinity::keys).sum();
  }

  /** The number of keys that have requests, of revisions whose pods serve one key at a time. */
  long keysInFlight() {
    return all().mapToLong(RevisionAffinity::keysInFlight).sum();
  }

  private Stream<RevisionAffinity> all() {
    return revisions.all(slot).map(known -> known.get().affinity).filter(Objects::nonNull);
  }

  @Override
  public RevisionCount of(RequestTimeline request, LiveRevision revision, RevisionCount each,
      Loop loop) {
    var known = revision.peek(slot);
    var affinity = known == null ? null : known.get().affinity;
    return affinity == null
        ? each
        : affinity.count(request, !throttler.destinations(revision).isEmpty(), each, loop);
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    switch (step) {
      case GRANTED -> RevisionAffinity.onGranted(request);
      case RESPONDING -> RevisionAffinity.onResponding(request);
      default -> {
        // Other steps show nothing about keys.
      }
    }
  }
}
