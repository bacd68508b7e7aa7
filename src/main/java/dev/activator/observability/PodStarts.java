package dev.activator.observability;

import dev.activator.observability.meter.Metric;
import dev.activator.observability.meter.Tags;
import dev.activator.observability.request.PodStart;
import dev.activator.revision.Destination;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodListing;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Remembers when pods were listed and published, for requests that waited to know for what.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 */
public final class PodStarts {
  private final Map<RevisionId, History> revisions = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;
  private final Meters meters;

  /** What is known of one revision. */
  private static final class History {
    private final Map<Destination, Long> listed = new HashMap<>(4);
    private Set<Destination> published = Set.of();
    private volatile @Nullable PodStart last;
    private long starts;

    synchronized void listed(Collection<Destination> pods, long now) {
      listed.keySet().retainAll(Set.copyOf(pods));
      pods.forEach(pod -> listed.putIfAbsent(pod, now));
    }

    /** When each was listed that newly gets requests. */
    synchronized Collection<Long> published(Set<Destination> pods, long now) {
      var fresh = new HashSet<>(pods);
      fresh.removeAll(published);
      var since = fresh.stream().map(pod -> listed.getOrDefault(pod, now)).toList();
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

  /** @param nanoTime the loops' clock */
  public PodStarts(LongSupplier nanoTime, Meters meters) {
    this.nanoTime = nanoTime;
    this.meters = meters;
  }

  /** Kubernetes lists these pods now. */
  public void listed(PodListing pods) {
    var all = Stream.of(pods.http1(), pods.h2c()).flatMap(port -> port.all().all().stream())
        .distinct().toList();
    var history = all.isEmpty() ? revisions.get(pods.revision()) : of(pods.revision());
    if (history != null) {
      history.listed(all, nanoTime.getAsLong());
    }
  }

  /** Requests can go to these now. */
  public void published(HealthyDestinations now) {
    // What a deleted revision's watcher takes back is heard after the deletion: nothing is kept.
    var history = now.pods().isEmpty() ? revisions.get(now.revision()) : of(now.revision());
    if (history == null) {
      return;
    }
    long nanos = nanoTime.getAsLong();
    for (long since : history.published(Set.copyOf(now.pods().all()), nanos)) {
      meters.measured(Metric.REACTION, Tags.NONE, Duration.ofNanos(nanos - since));
    }
  }

  /** The revision's Endpoints are deleted. */
  public void podsGone(RevisionId id) {
    listed(PodListing.none(id));
  }

  /** The revision is deleted. */
  public void gone(RevisionId id) {
    revisions.remove(id);
  }

  private History of(RevisionId id) {
    return revisions.computeIfAbsent(id, _ -> new History());
  }

  /** The start that is under way or was last; null if the revision has pods since before then. */
  @Nullable PodStart since(RevisionId id, long nanos) {
    var history = revisions.get(id);
    var last = history == null ? null : history.last;
    if (last == null) {
      long number = history == null ? 1 : history.number();
      return new PodStart(number, Long.MAX_VALUE, Long.MAX_VALUE);
    }
    return last.publishedNanos() - nanos >= 0 ? last : null;
  }
}
