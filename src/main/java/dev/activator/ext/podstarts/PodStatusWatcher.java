package dev.activator.ext.podstarts;

import dev.activator.discovery.PodStarts;
import dev.activator.ext.podstarts.AccessPauses.Resource;
import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.ext.podstarts.policy.NodeEvent;
import dev.activator.ext.podstarts.policy.NodeEvent.Outlook;
import dev.activator.ext.podstarts.policy.NodeOutlook;
import dev.activator.ext.podstarts.policy.NodeTimes;
import dev.activator.ext.podstarts.policy.StartingPodSet.GracePeriods;
import dev.activator.ext.podstarts.policy.StartingPodSet;
import dev.activator.ext.podstarts.policy.PodStartStatus;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.Slot;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches the pods of revisions with waiting requests, and the Events of those that wait for their node.
 * It reports the progress of their start, that none of them can start, and that one may start again.
 * A watch ends {@link #LEASE} after the last call of {@link #onRequestWaits}.
 *
 * <p><b>Threads.</b> Any.
 */
public final class PodStatusWatcher {
  static final Duration LEASE = Duration.ofSeconds(10);
  /** The limit of watched revisions, since each has its own watch. */
  static final int MAX_REVISIONS = 50;
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

    /** Whether Events of a namespace may be listed and watched. Fails if that cannot be determined. */
    CompletableFuture<ListWatchAccess> mayWatchEvents(String namespace);

    /** Starts a watch of the Events about one pod. */
    Runnable followEvents(String namespace, String pod,
        DecodedObjectHandler.ChangeListener<NodeEvent> listener);
  }

  private final Loop loop;
  private final PodSource pods;
  private final Supplier<GracePeriods> grace;
  private final InstantSource clock;
  private final PodStarts out;
  private final LiveRevisions revisions;
  private final Slot<Place> slot;
  private int watches;
  private NodeTimes nodeTimes = NodeTimes.UNKNOWN;
  private final AccessPauses pauses;
  /** The namespaces whose Events may not be watched. */
  private final Set<String> withoutEvents = new HashSet<>();
  private boolean closed;

  /** The watch of a revision's pods, if there is one. */
  private static final class Place {
    private @Nullable Watched watch;
  }

  /**
   * @param grace is read at each decision
   * @param clock compared with the times of Events
   */
  public PodStatusWatcher(LiveRevisions revisions, Loop loop, PodSource pods,
      Supplier<GracePeriods> grace, InstantSource clock, PodStarts out) {
    this.revisions = revisions;
    this.slot = revisions.declare("watch of pods", _ -> new Place(),
        place -> loop.execute(() -> end(place)));
    this.loop = loop;
    this.pauses = new AccessPauses(loop);
    this.pods = pods;
    this.grace = grace;
    this.clock = clock;
    this.out = out;
  }

  public void onRequestWaits(RevisionId revision) {
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
      } else if (!closed && watches < MAX_REVISIONS
          && !pauses.isPaused(Resource.PODS, revision.namespace())) {
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

  private final class Watched {
    private final RevisionId revision;
    private final Place place;
    private final long begunNanos = loop.nanoTime();
    private final String selector;
    private StartingPodSet failures = StartingPodSet.EMPTY;
    private final NodeEventWatch nodes;
    private boolean mayWatchEvents;
    /** Whether the API checks that now. */
    private boolean checking;
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
      this.nodes = new NodeEventWatch(pods, revision.namespace(), this::reevaluate);
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
        case null, default -> {
          pauses.pause(Resource.PODS, revision.namespace(), answer);
          end();
        }
      }
    }

    private void changed(@Nullable PodStartStatus before, @Nullable PodStartStatus now) {
      if (ended) {
        return;
      }
      if (now != null) {
        learn(before, now);
        failures = failures.with(now, time());
      } else if (before != null) {
        failures = failures.without(before.name());
      }
      followNodes();
      reevaluate();
    }

    /** Learns how long a pod has waited for its node, from the pod that has just got it. */
    private void learn(@Nullable PodStartStatus before, PodStartStatus now) {
      var created = now.ends().get(StartPhase.CREATE);
      var scheduled = now.ends().get(StartPhase.SCHEDULE);
      if (before != null && before.isUnscheduled() && failures.nodes().outlook() == Outlook.COMING
          && created != null && scheduled != null) {
        nodeTimes = nodeTimes.with(Duration.between(created, scheduled));
      }
    }

    private void followNodes() {
      var awaiting = failures.awaitingNode(time(), grace.get());
      if (mayWatchEvents) {
        nodes.follow(awaiting);
      } else if (!checking && !awaiting.isEmpty()
          && !pauses.isPaused(Resource.EVENTS, revision.namespace())) {
        checking = true;
        pods.mayWatchEvents(revision.namespace())
            .whenComplete((answer, _) -> loop.execute(() -> eventsAnswered(answer)));
      }
    }

    private void eventsAnswered(@Nullable ListWatchAccess answer) {
      checking = false;
      if (answer == ListWatchAccess.ALLOWED) {
        withoutEvents.remove(revision.namespace());
      } else {
        pauses.pause(Resource.EVENTS, revision.namespace(), answer);
        if (answer == ListWatchAccess.FORBIDDEN) {
          withoutEvents.add(revision.namespace());
        }
      }
      if (!ended) {
        mayWatchEvents = answer == ListWatchAccess.ALLOWED;
        refreshNodes();
      }
    }

    /** Call at any time, as what an Event says ends with time. */
    private void refreshNodes() {
      followNodes();
      if (!failures.nodes().equals(outlook())) {
        reevaluate();
      }
    }

    private void reevaluate() {
      failures = failures.with(outlook(), time());
      out.progress(progress());
      evaluate();
    }

    private NodeOutlook outlook() {
      if (mayWatchEvents) {
        return nodes.outlook(clock.instant());
      }
      return withoutEvents.contains(revision.namespace())
          ? NodeOutlook.forbidden(revision.namespace())
          : NodeOutlook.UNKNOWN;
    }

    private RevisionStartProgress progress() {
      var furthest = failures.furthest();
      if (furthest == null) {
        return RevisionStartProgress.none(revision);
      }
      var failure = failures.reason(furthest);
      return new RevisionStartProgress(revision, furthest.name(), furthest.ends(),
          failure == null ? "" : failure.reason(), failure == null ? "" : failure.message(),
          furthest.isUnscheduled() && failures.nodes().outlook() == Outlook.COMING
              ? nodeTimes.usual()
              : Duration.ZERO);
    }

    private void evaluate() {
      if (next != null) {
        next.cancel();
        next = null;
      }
      var left = failures.left(time(), grace.get());
      if (left != null && left.isPositive()) {
        next = loop.schedule(left, this::evaluate);
      }
      var now = failures.failure(time(), grace.get());
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
      refreshNodes();
    }

    void end() {
      ended = true;
      end.cancel();
      place.watch = null;
      watches--;
      nodes.close();
      failures = StartingPodSet.EMPTY;
      evaluate();
      if (endOfWatch != null) {
        endOfWatch.run();
        out.progressEnded(revision);
      }
    }
  }
}
