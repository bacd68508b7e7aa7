package dev.activator.ext.wakewith;

import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestObservers;
import dev.activator.observability.RequestTimeline;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

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
  /** The starts whose first request is expected. Any thread may look one up. */
  private final Map<RevisionId, Start> expected = new ConcurrentHashMap<>();
  private final AtomicLong used = new AtomicLong();
  private final AtomicLong late = new AtomicLong();
  private final AtomicLong unused = new AtomicLong();
  private final AtomicLong savedNanos = new AtomicLong();

  private record Start(long nanos, Loop.Timer timeout) {}

  StartOutcomes(Loop loop, Throttler throttler, RequestObservers observers) {
    this.loop = loop;
    this.throttler = throttler;
    this.observers = observers;
  }

  /** @param within the time in which a request must follow for the start to count as used */
  void onStarted(RevisionId id, Duration within) {
    if (expected.isEmpty()) {
      observers.add(this);
    }
    expected.computeIfAbsent(id, _ -> new Start(loop.nanoTime(), loop.schedule(within, () -> {
      unused.incrementAndGet();
      forget(id);
    })));
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    boolean waits = step == Step.QUEUED;
    var revision = request.revision();
    if ((waits || step == Step.GRANTED) && revision != null
        && expected.containsKey(revision.id())) {
      loop.execute(() -> reached(revision.id(), waits));
    }
  }

  private void reached(RevisionId id, boolean waits) {
    var start = expected.get(id);
    if (start != null) {
      long passed = loop.nanoTime() - start.nanos;
      var view = throttler.start(id);
      long usual = view == null ? 0 : view.usual().toNanos();
      (waits ? late : used).incrementAndGet();
      savedNanos.addAndGet(usual == 0 ? passed : Math.min(passed, usual));
      forget(id);
    }
  }

  /** Forgets the start of a revision that was deleted. <b>Threads.</b> Any. */
  void onRevisionEnd(RevisionId id) {
    loop.execute(() -> forget(id));
  }

  private void forget(RevisionId id) {
    var start = expected.remove(id);
    if (start != null) {
      start.timeout.cancel();
      if (expected.isEmpty()) {
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
