package dev.activator.stats;

import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Tells the autoscaler how many requests each revision has here: once a period, and at once when an
 * idle revision gets its first.
 *
 * <p>
 * <b>Threads.</b> Each loop counts its own requests, without a lock; each period their counts are
 * collected and merged on {@code loop}. A loop that is late delays the report, which then covers a
 * longer time; it never loses a request.
 *
 * <p>
 * <b>Source.</b> {@code concurrency_reporter.go} of Knative Serving, which keeps one lock a
 * revision.
 */
public final class ConcurrencyReporter {
  private final Loop loop;
  private final Duration period;
  private final StatSink sink;
  private final List<LoopCounter> counters = new CopyOnWriteArrayList<>();
  private final ConcurrentMap<RevisionId, Integer> holders = new ConcurrentHashMap<>();
  private Loop.@Nullable Timer next;
  private @Nullable Round underWay;

  /** What the loops have said so far, and how many have not. */
  private static final class Round {
    private final Map<RevisionId, LoopCounter.Part> parts = new TreeMap<>();
    private int missing;

    private Round(int missing) {
      this.missing = missing;
    }
  }

  /** @param period the autoscaler expects one second */
  public ConcurrencyReporter(Loop loop, Duration period, StatSink sink) {
    this.loop = loop;
    this.period = period;
    this.sink = sink;
  }

  /** A counter for the requests of this loop, for that loop alone to call; one a loop is enough. */
  public RequestCounter onLoop(Loop requests) {
    var counter = new LoopCounter(requests, holders, sink);
    counters.add(counter);
    return counter;
  }

  /** Reports from now on, first after one period. */
  public void start() {
    loop.execute(this::scheduleNext);
  }

  /** Reports no more. */
  public void stop() {
    loop.execute(() -> {
      if (next != null) {
        next.cancel();
      }
      underWay = null;
    });
  }

  private void scheduleNext() {
    next = loop.schedule(period, this::tick);
  }

  private void tick() {
    scheduleNext();
    if (underWay != null || counters.isEmpty()) {
      return;
    }
    var asked = List.copyOf(counters);
    var round = new Round(asked.size());
    underWay = round;
    for (var counter : asked) {
      counter.loop().execute(() -> {
        var parts = counter.report();
        loop.execute(() -> collect(round, parts));
      });
    }
  }

  private void collect(Round round, List<LoopCounter.Part> parts) {
    parts.forEach(part -> round.parts.merge(part.revision(), part, LoopCounter.Part::plus));
    round.missing--;
    if (round.missing > 0 || round != underWay) {
      return;
    }
    underWay = null;
    if (!round.parts.isEmpty()) {
      sink.report(round.parts.values().stream().map(LoopCounter.Part::stat).toList());
    }
  }
}
