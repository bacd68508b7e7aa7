package dev.activator.throttle;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Monitors the queue of a revision. Publishes when a request has to wait, and then once a second
 * while requests are queued. While no request can run, also publishes that once a second, and rejects
 * the queued requests if the revision's status or its pods show that no pod will start.
 *
 * <p><b>Threads.</b> The revision's loop; any for {@link #failure}.
 */
final class QueueMonitor {
  private static final Logger log = LoggerFactory.getLogger(QueueMonitor.class);

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final RevisionId id;
  private final RevisionQueue queue;
  private final Throttler.Topics topics;
  private final ResettableTimer timer;
  private @Nullable RevisionStartFailure statusFailure;
  private volatile @Nullable RevisionStartFailure podFailure;
  private volatile boolean podsRead;
  private @Nullable RevisionStartFailure loggedFailure;

  QueueMonitor(Loop loop, Revision revision, RevisionQueue queue, Throttler.Topics topics) {
    this.id = revision.id();
    this.queue = queue;
    this.topics = topics;
    this.timer = new ResettableTimer(loop, this::tick);
    this.statusFailure = revision.startFailure();
  }

  void requestWaits() {
    if (!timer.isSet()) {
      requestWaitsElsewhere();
    }
  }

  /** Publishes also if it did less than a second ago, for another loop. */
  void requestWaitsElsewhere() {
    timer.within(PERIOD);
    topics.requestWaits().publish(new Throttler.RequestWaits(id, queue.waitingOn()));
  }

  private void tick() {
    if (!queue.isQueued()) {
      return;
    }
    requestWaits();
    if (!queue.isStarved()) {
      return;
    }
    topics.starved().publish(id);
    var failure = podFailure == null ? lastingFailure() : podFailure;
    if (failure != null) {
      rejectIfStarved(failure);
    }
  }

  /** The lasting failure because of which no pod will start; null if a pod may start. */
  @Nullable RevisionStartFailure lastingFailure() {
    return statusFailure != null && statusFailure.lasting() ? statusFailure : null;
  }

  /**
   * Call with each new status. Rejects queued requests only if the failure is new, because an old
   * one may be repeated. A missing node is no reason: Knative reports it at once, although a node may
   * still be added.
   */
  void status(Revision now) {
    var failure = now.startFailure();
    if (failure != null && !failure.equals(statusFailure)) {
      statusFailure = failure;
      if (!failure.isWithoutNode()) {
        rejectIfStarved(failure);
      }
    } else if (failure == null && lastingFailure() != null) {
      statusFailure = null;
    }
  }

  /** @param now why no pod will start; null when pods may start again */
  void pods(@Nullable RevisionStartFailure now) {
    podFailure = now;
    if (now != null) {
      rejectIfStarved(now);
    }
  }

  private void rejectIfStarved(RevisionStartFailure failure) {
    // While one pod works, the queue drains, so the failure of another pod is no reason to reject
    // requests.
    if (queue.isStarved()) {
      // The message is logged once; callers get only the reason.
      if (!failure.equals(loggedFailure) && !failure.message().isEmpty()) {
        loggedFailure = failure;
        log.info("{}: cannot start: {}", id, failure.message().replaceAll("\\p{Cntrl}+", " "));
      }
      queue.cannotStart(failure);
    }
  }

  /** @param read whether an extension watches the pods of the revision now */
  void podsRead(boolean read) {
    podsRead = read;
  }

  @Nullable RevisionStartFailure failure(Revision now) {
    var failure = podFailure == null ? now.startFailure() : podFailure;
    // Pods that are read show whether a node may still take them.
    return failure != null && failure != podFailure && failure.isWithoutNode() && podsRead
        ? null
        : failure;
  }
}
