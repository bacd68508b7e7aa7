package dev.activator.throttle;

import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls {@code onWaiting} when a request has to wait, and then once a second while requests are
 * queued. While none can run, calls {@code onStarved} once a second, and rejects the requests when
 * the revision's status or its pods say that no pod will start.
 *
 * <p><b>Threads.</b> The revision's loop.
 */
final class QueueMonitor {
  private static final Logger log = LoggerFactory.getLogger(QueueMonitor.class);

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final RevisionId id;
  private final BooleanSupplier queued;
  private final BooleanSupplier starved;
  private final Runnable onWaiting;
  private final Runnable onStarved;
  private final Consumer<RevisionStartFailure> reject;
  private final ResettableTimer timer;
  private @Nullable RevisionStartFailure statusFailure;
  private volatile @Nullable RevisionStartFailure podFailure;
  private @Nullable RevisionStartFailure loggedFailure;

  /** @param starved whether requests are queued and nothing can run */
  QueueMonitor(Loop loop, Revision revision, BooleanSupplier queued, BooleanSupplier starved,
      Runnable onWaiting, Runnable onStarved, Consumer<RevisionStartFailure> reject) {
    this.id = revision.id();
    this.queued = queued;
    this.starved = starved;
    this.onWaiting = onWaiting;
    this.onStarved = onStarved;
    this.reject = reject;
    this.timer = new ResettableTimer(loop, this::tick);
    this.statusFailure = revision.startFailure();
  }

  void requestWaits() {
    if (!timer.isSet()) {
      timer.within(PERIOD);
      onWaiting.run();
    }
  }

  private void tick() {
    if (!queued.getAsBoolean()) {
      return;
    }
    requestWaits();
    if (!starved.getAsBoolean()) {
      return;
    }
    onStarved.run();
    var failure = podFailure == null ? lasting() : podFailure;
    if (failure != null) {
      rejectIfStarved(failure);
    }
  }

  /** Why no request starts a pod; null if one may. */
  @Nullable RevisionStartFailure lasting() {
    return statusFailure != null && statusFailure.lasting() ? statusFailure : null;
  }

  /** Counts each failure once, because it may be an old one. */
  void status(Revision now) {
    var failure = now.startFailure();
    if (failure != null && !failure.equals(statusFailure)) {
      statusFailure = failure;
      rejectIfStarved(failure);
    } else if (failure == null && lasting() != null) {
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
    // While one pod works, the queue drains, so another pod's failure is no reason to reject.
    if (starved.getAsBoolean()) {
      // Logged once; callers that retry get only the reason.
      if (!failure.equals(loggedFailure) && !failure.message().isEmpty()) {
        loggedFailure = failure;
        log.info("{}: cannot start: {}", id, failure.message().replaceAll("\\p{Cntrl}+", " "));
      }
      reject.accept(failure);
    }
  }

  /** <b>Threads.</b> Any. */
  @Nullable RevisionStartFailure failure(Revision now) {
    var failure = podFailure;
    return failure == null ? now.startFailure() : failure;
  }
}
