package dev.activator.ext.wakewith;

import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestObservers;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Counts starts ahead of requests by what came of them. It observes requests only while it expects
 * one.
 *
 * <p><b>Threads.</b> Confined to {@code loop}; any for {@link #saw} and the counts.
 */
final class StartOutcomes implements RequestObserver {
  private static final double NANOS_A_SECOND = 1e9;

  private final Loop loop;
  private final Throttler throttler;
  private final RequestObservers observers;
  private final LiveRevisions revisions;
  /** The start whose first request is expected; null if none is. */
  private final Slot<AtomicReference<@Nullable Start>> slot;
  private int expectedCount;
  private final AtomicLong used = new AtomicLong();
  private final AtomicLong late = new AtomicLong();
  private final AtomicLong unused = new AtomicLong();
  private final AtomicLong savedNanos = new AtomicLong();

  private record Start(long nanos, Loop.Timer timeout) {}

  StartOutcomes(Loop loop, Throttler throttler, LiveRevisions revisions,
      RequestObservers observers) {
    this.revisions = revisions;
    this.slot = revisions.slot("expected request", _ -> new AtomicReference<>(),
        start -> loop.execute(() -> forget(start)));
    this.loop = loop;
    this.throttler = throttler;
    this.observers = observers;
  }

  /** @param within the time in which a request must follow for the start to count as used */
  void onStarted(RevisionId id, Duration within) {
    var start = revisions.slot(id, slot);
    if (start == null || start.get() != null) {
      return;
    }
    if (expectedCount++ == 0) {
      observers.add(this);
    }
    start.set(new Start(loop.nanoTime(), loop.schedule(within, () -> {
      unused.incrementAndGet();
      forget(start);
    })));
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    boolean waits = step == Step.QUEUED;
    var revision = request.live();
    var start = revision == null ? null : revision.peek(slot);
    if ((waits || step == Step.GRANTED) && revision != null && start != null
        && start.get() != null) {
      loop.execute(() -> reached(revision.id(), start, waits));
    }
  }

  private void reached(RevisionId id, AtomicReference<@Nullable Start> expected, boolean waits) {
    var start = expected.get();
    if (start != null) {
      long passed = loop.nanoTime() - start.nanos;
      var view = throttler.start(id);
      long usual = view == null ? 0 : view.usual().toNanos();
      (waits ? late : used).incrementAndGet();
      savedNanos.addAndGet(usual == 0 ? passed : Math.min(passed, usual));
      forget(expected);
    }
  }

  private void forget(AtomicReference<@Nullable Start> expected) {
    var start = expected.getAndSet(null);
    if (start != null) {
      start.timeout.cancel();
      if (--expectedCount == 0) {
        observers.remove(this);
      }
    }
  }

  /** The number of starts that were over when the first request came. */
  long used() {
    return used.get();
  }

  /** The number of starts that were not over when the first request came. */
  long late() {
    return late.get();
  }

  /** The number of starts for which no request came in time. */
  long unused() {
    return unused.get();
  }

  /** The waiting time that requests were saved, in seconds. */
  double savedSeconds() {
    return savedNanos.get() / NANOS_A_SECOND;
  }
}
