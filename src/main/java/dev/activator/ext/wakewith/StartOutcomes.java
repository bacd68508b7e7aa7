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
  private final Slot<Expected> slot;
  private int expectedCount;
  private final AtomicLong used = new AtomicLong();
  private final AtomicLong late = new AtomicLong();
  private final AtomicLong unused = new AtomicLong();
  private final AtomicLong savedNanos = new AtomicLong();

  private record Start(long nanos, Loop.Timer timeout) {}

  /** The start of a revision whose first request is expected. */
  private static final class Expected {
    private volatile @Nullable Start start;
  }

  StartOutcomes(Loop loop, Throttler throttler, LiveRevisions revisions,
      RequestObservers observers) {
    this.revisions = revisions;
    this.slot = revisions.declare("expected request", _ -> new Expected(),
        expected -> loop.execute(() -> forget(expected)));
    this.loop = loop;
    this.throttler = throttler;
    this.observers = observers;
  }

  /** @param within the time in which a request must follow for the start to count as used */
  void onStarted(RevisionId id, Duration within) {
    var expected = revisions.slot(id, slot);
    if (expected == null || expected.start != null) {
      return;
    }
    if (expectedCount++ == 0) {
      observers.add(this);
    }
    expected.start = new Start(loop.nanoTime(), loop.schedule(within, () -> {
      unused.incrementAndGet();
      forget(expected);
    }));
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    boolean waits = step == Step.QUEUED;
    var revision = request.routed();
    var expected = revision == null ? null : revision.peek(slot);
    if ((waits || step == Step.GRANTED) && revision != null && expected != null
        && expected.start != null) {
      loop.execute(() -> reached(revision.id(), expected, waits));
    }
  }

  private void reached(RevisionId id, Expected expected, boolean waits) {
    var start = expected.start;
    if (start != null) {
      long passed = loop.nanoTime() - start.nanos;
      var view = throttler.start(id);
      long usual = view == null ? 0 : view.usual().toNanos();
      (waits ? late : used).incrementAndGet();
      savedNanos.addAndGet(usual == 0 ? passed : Math.min(passed, usual));
      forget(expected);
    }
  }

  private void forget(Expected expected) {
    var start = expected.start;
    if (start != null) {
      expected.start = null;
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
