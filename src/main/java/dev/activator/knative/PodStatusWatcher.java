package dev.activator.knative;

import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.knative.policy.StartingPodSet.GracePeriods;
import dev.activator.knative.policy.StartingPodSet;
import dev.activator.knative.policy.PodStartStatus;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.loop.Loop;
import dev.activator.revision.ContainerFailure;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the pods of revisions with waiting requests. It reports the progress of their start, that
 * none of them can start, and that one may start again. A watch ends {@link #LEASE} after the last
 * call of {@link #requestsWaitFor}.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PodStatusWatcher {
  private static final Logger log = LoggerFactory.getLogger(PodStatusWatcher.class);
  static final Duration LEASE = Duration.ofSeconds(10);
  /** The limit of watched revisions, since each has its own watch. */
  static final int MAX_REVISIONS = 50;
  /** The pause between access checks of a namespace whose pods may not be listed. */
  static final Duration PAUSE_AFTER_REFUSAL = Duration.ofMinutes(10);
  /** The same pause, if the API did not answer. */
  static final Duration PAUSE_AFTER_NO_ANSWER = Duration.ofSeconds(30);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  public interface PodSource {
    /** Whether the pods of a namespace may be listed. Fails if that cannot be determined. */
    CompletableFuture<ListWatchAccess> mayList(String namespace);

    /**
     * The label selector of the revision's pods. It may change while they are watched.
     */
    String selector(RevisionId revision);

    /** Starts a watch, which calls the listener on the loop. Run the result to end it. */
    Runnable follow(String namespace, String selector,
        DecodedObjectHandler.ChangeListener<PodStartStatus> listener);
  }

  /** Receives the reports, on the loop. */
  public interface Listener {
    void failure(ContainerFailure now);

    /** The watch has begun, or the pods have changed. */
    void progress(RevisionStartProgress now);

    /** The watch has ended. */
    void progressEnded(RevisionId revision);
  }

  private final Loop loop;
  private final PodSource pods;
  private final GracePeriods grace;
  private final Listener out;
  private final LiveRevisions revisions;
  private final Slot<Place> slot;
  private int watches;
  private final Map<String, Long> pausedUntilNanos = new HashMap<>();
  private boolean refusalLogged;
  private boolean closed;

  /** The watch of a revision's pods, if there is one. */
  private static final class Place {
    private @Nullable Watched watch;
  }

  public PodStatusWatcher(LiveRevisions revisions, Loop loop, PodSource pods, GracePeriods grace,
      Listener out) {
    this.revisions = revisions;
    this.slot = revisions.slot("watch of pods", _ -> new Place(),
        place -> loop.execute(() -> end(place)));
    this.loop = loop;
    this.pods = pods;
    this.grace = grace;
    this.out = out;
  }

  public void requestsWaitFor(RevisionId revision) {
    loop.execute(() -> {
      var place = revisions.slot(revision, slot);
      if (place == null) {
        return;
      }
      if (place.watch != null && place.watch.isOfOtherPods()) {
        place.watch.end();
      }
      if (place.watch != null) {
        place.watch.prolong();
      } else if (!closed && watches < MAX_REVISIONS && !isPaused(revision.namespace())) {
        place.watch = new Watched(revision, place);
      }
    });
  }

  private static void end(Place place) {
    if (place.watch != null) {
      place.watch.end();
    }
  }

  /** Ends all watches. Returns when they have ended, but after five seconds at the latest. */
  public void close() {
    CompletableFuture.runAsync(() -> {
      closed = true;
      revisions.all(slot).forEach(PodStatusWatcher::end);
    }, loop).completeOnTimeout(null, CLOSE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)
        .handle((_, _) -> null).join();
  }

  private boolean isPaused(String namespace) {
    var until = pausedUntilNanos.get(namespace);
    return until != null && until - loop.nanoTime() > 0;
  }

  private void pause(String namespace, Duration pause) {
    pausedUntilNanos.values().removeIf(until -> until - loop.nanoTime() <= 0);
    pausedUntilNanos.put(namespace, loop.nanoTime() + pause.toNanos());
  }

  private void refused(String namespace) {
    pause(namespace, PAUSE_AFTER_REFUSAL);
    if (!refusalLogged) {
      refusalLogged = true;
      log.info(
          "The Kubernetes API does not allow the activator to list pods -n {} (403). Only the status"
              + " of a Revision shows why its pods do not start. For more details, allow list and"
              + " watch of pods (chart value rbac.pods)",
          namespace);
    }
  }

  private final class Watched {
    private final RevisionId revision;
    private final Place place;
    private final long begunNanos = loop.nanoTime();
    private final String selector;
    private StartingPodSet failures = StartingPodSet.EMPTY;
    private @Nullable RevisionStartFailure reported;
    private Loop.Timer end;
    private Loop.@Nullable Timer next;
    private @Nullable Runnable endOfWatch;
    private boolean ended;

    Watched(RevisionId revision, Place place) {
      this.revision = revision;
      this.place = place;
      watches++;
      this.selector = pods.selector(revision);
      this.end = loop.schedule(LEASE, this::end);
      pods.mayList(revision.namespace())
          .whenComplete((answer, failure) -> loop.execute(() -> answered(answer)));
    }

    private void answered(@Nullable ListWatchAccess answer) {
      if (ended) {
        return;
      }
      switch (answer) {
        case ALLOWED -> {
          out.progress(RevisionStartProgress.none(revision));
          endOfWatch = pods.follow(revision.namespace(), selector, this::changed);
        }
        case FORBIDDEN -> {
          refused(revision.namespace());
          end();
        }
        case null, default -> {
          pause(revision.namespace(), PAUSE_AFTER_NO_ANSWER);
          end();
        }
      }
    }

    private void changed(@Nullable PodStartStatus before, @Nullable PodStartStatus now) {
      if (ended) {
        return;
      }
      if (now != null) {
        failures = failures.with(now, time());
      } else if (before != null) {
        failures = failures.without(before.name());
      }
      out.progress(progress());
      evaluate();
    }

    private RevisionStartProgress progress() {
      var furthest = failures.furthest();
      if (furthest == null) {
        return RevisionStartProgress.none(revision);
      }
      var failure = furthest.failure();
      return new RevisionStartProgress(revision, furthest.name(), furthest.ends(),
          failure == null ? "" : failure.reason(), failure == null ? "" : failure.message());
    }

    private void evaluate() {
      if (next != null) {
        next.cancel();
        next = null;
      }
      var left = failures.left(time(), grace);
      if (left != null && left.isPositive()) {
        next = loop.schedule(left, this::evaluate);
      }
      var now = failures.failure(time(), grace);
      if (!Objects.equals(now, reported)) {
        reported = now;
        out.failure(new ContainerFailure(revision, now));
      }
    }

    private Duration time() {
      return Duration.ofNanos(loop.nanoTime() - begunNanos);
    }

    boolean isOfOtherPods() {
      return !selector.equals(pods.selector(revision));
    }

    void prolong() {
      end.cancel();
      end = loop.schedule(LEASE, this::end);
    }

    void end() {
      ended = true;
      end.cancel();
      place.watch = null;
      watches--;
      failures = StartingPodSet.EMPTY;
      evaluate();
      if (endOfWatch != null) {
        endOfWatch.run();
        out.progressEnded(revision);
      }
    }
  }
}
