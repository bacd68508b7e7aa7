package dev.activator.ext.coldstarts;

import dev.activator.ext.coldstarts.ColdStartRecorder.TrackedStart;
import dev.activator.observability.ColdStarts.OngoingColdStart;
import dev.activator.observability.RequestPhases.PodStart;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the pods of one revision and the phases of its last start from zero.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Units.</b> Nanoseconds of the loops' clock.
 */
final class ColdStartTracker {
  private final RevisionId revision;
  private final Map<Destination, Long> listed = new HashMap<>(4);
  private DestinationSet published = DestinationSet.NONE;
  private long starts;
  private long publishedNanos;
  /** The value of {@link #unlistedNanos} at the end of the last start. */
  private long unlistedWhenPublished;
  /** The total time without a listed pod, up to {@link #unlistedSince}. */
  private long unlistedNanos;
  private long unlistedSince;
  /** The ends of the last start's phases, except those of pods; empty while no pod answers. */
  private Map<StartPhase, Long> ends = Map.of();
  /** The ends of the phases of pods, according to their last status. */
  private Map<StartPhase, Long> podEnds = Map.of();
  /** The last status of the pods; null while it is not read. */
  private @Nullable RevisionStartProgress progress;
  /** The number of the last start about which nothing more will be learned. */
  private long settled;

  ColdStartTracker(RevisionId revision, long now) {
    this.revision = revision;
    this.unlistedSince = now;
  }

  RevisionId revision() {
    return revision;
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

  /**
   * Records the published pods. Returns for each new one since when it has been listed.
   *
   * @param known the ends of phases that are known without the status of pods
   */
  synchronized Collection<Long> published(DestinationSet pods, long now,
      Map<StartPhase, Long> known) {
    var since = pods.minus(published).all().stream()
        .map(pod -> listed.getOrDefault(pod, now)).toList();
    if (published.isEmpty() && !pods.isEmpty()) {
      starts++;
      publishedNanos = now;
      unlistedWhenPublished = unlisted(now);
      var all = new EnumMap<StartPhase, Long>(StartPhase.class);
      all.putAll(known);
      all.put(StartPhase.LIST,
          now - since.stream().mapToLong(listing -> now - listing).max().orElse(0));
      all.put(StartPhase.ANSWER, now);
      ends = all;
    } else if (pods.isEmpty()) {
      ends = Map.of();
      forgetPods();
    }
    published = pods;
    return since;
  }

  /** Whether no pod answers probes. */
  synchronized boolean isStarting() {
    return published.isEmpty();
  }

  synchronized Collection<Destination> listed() {
    return DestinationSet.of(listed.keySet()).all();
  }

  synchronized void progress(RevisionStartProgress now, Instant wall, long nanos) {
    progress = now;
    var all = new EnumMap<StartPhase, Long>(StartPhase.class);
    now.ends().forEach((phase, end) -> all.put(phase, ColdStartBreakdown.nanos(end, wall, nanos)));
    podEnds = all;
  }

  synchronized void progressEnded() {
    progress = null;
    if (published.isEmpty()) {
      forgetPods();
    }
  }

  private void forgetPods() {
    if (progress == null) {
      podEnds = Map.of();
    }
  }

  /**
   * Returns the number of the last start if nothing more will be learned about it from now on;
   * otherwise 0.
   *
   * @param isOver whether the pods of the start are gone
   */
  synchronized long settle(boolean isOver) {
    if (published.isEmpty() || isSettled(starts)
        || !isOver && progress != null && !podEnds.containsKey(StartPhase.CONTAINER)) {
      return 0;
    }
    settled = starts;
    return settled;
  }

  synchronized boolean isSettled(long number) {
    return number <= settled;
  }

  /**
   * The phases of a start; null if another start followed, or if the start is over.
   *
   * @param known as for {@link #published}; used if the start is in progress
   */
  synchronized @Nullable ColdStartBreakdown split(long number, long origin,
      Map<StartPhase, Long> known) {
    if (number != (published.isEmpty() ? starts + 1 : starts)) {
      return null;
    }
    var all = new EnumMap<StartPhase, Long>(StartPhase.class);
    all.putAll(ends);
    all.putAll(podEnds);
    if (published.isEmpty()) {
      all.putAll(known);
      long since = listedSince();
      if (since != Long.MAX_VALUE) {
        all.put(StartPhase.LIST, since);
      }
    }
    all.replaceAll((_, end) -> end - origin);
    return new ColdStartBreakdown(all, progress != null);
  }

  /** The start in progress; null while pods answer. */
  synchronized @Nullable OngoingColdStart view(long now, Map<StartPhase, Long> known) {
    var split = published.isEmpty() ? split(starts + 1, now, known) : null;
    if (split == null) {
      return null;
    }
    var pod = progress;
    return pod == null
        ? split.inProgress("", "", "")
        : split.inProgress(pod.pod(), pod.reason(), pod.message());
  }

  synchronized long listedSince() {
    return published.isEmpty()
        ? listed.values().stream().reduce(Long.MAX_VALUE, Math::min)
        : Long.MAX_VALUE;
  }

  /** The start that a request which is queued now waits for; null while pods answer. */
  synchronized @Nullable TrackedStart await(long now) {
    return published.isEmpty() ? new TrackedStart(this, starts + 1, unlisted(now)) : null;
  }

  /**
   * The start for which a request waited: the one that has ended since then, or else the one in
   * progress.
   */
  synchronized PodStart since(TrackedStart awaited, long now) {
    return starts >= awaited.number()
        ? new PodStart(awaited.number(), unlistedWhenPublished - awaited.unlistedNanos(),
            publishedNanos)
        : new PodStart(awaited.number(), unlisted(now) - awaited.unlistedNanos(), Long.MAX_VALUE);
  }
}
