package dev.activator.stats;

import dev.activator.loop.Topic;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reports each revision's concurrency to the autoscaler: once a period, at once when an idle
 * revision gets a request, and for all present requests when the link opens.
 *
 * <p><b>Threads.</b> Each loop counts its own requests without a lock. {@code loop} merges the
 * counts, and those of all ports of a ScaledService. It must also be the loop of the link, so that
 * no older report can follow that of {@link #connected}. If a loop is late, the report is late,
 * too, and covers a longer time.
 *
 * <p><b>Source.</b> {@code concurrency_reporter.go} of Knative Serving.
 */
public final class ConcurrencyReporter implements AutoscalerLink.Listener {
  /**
   * A counter of the requests of one loop.
   *
   * <p><b>Threads.</b> Confined to one loop. It counts the requests of that loop, including queued
   * ones.
   */
  public interface RequestCounter {
    void arrived(RevisionId revision);

    /** Call once for each arrival, however the request ends. */
    void left(RevisionId revision);
  }

  private final Loop loop;
  private final Duration period;
  private final StatSink sink;
  private final Topic<List<RevisionStat>> reports = new Topic<>("reports");
  private final ResettableTimer timer;
  private final List<LoopCounter> counters = new CopyOnWriteArrayList<>();
  /** The number of windows of each revision, on all loops and of all ports. */
  private final ConcurrentMap<RevisionId, Integer> windowCounts = new ConcurrentHashMap<>();
  private final QueueTimeObserver queueTimes = new QueueTimeObserver();
  private @Nullable Round underWay;

  private static final class Round {
    private final Map<RevisionId, RequestStats.Totals> totals = new TreeMap<>();
    private final Consumer<Round> onComplete;
    private int missing;

    private Round(int missing, Consumer<Round> onComplete) {
      this.missing = missing;
      this.onComplete = onComplete;
    }
  }

  /** @param period the autoscaler expects one second */
  public ConcurrencyReporter(Loop loop, Duration period, StatSink sink) {
    this.loop = loop;
    this.period = period;
    this.sink = sink;
    this.timer = new ResettableTimer(loop, this::collect);
  }

  /** Publishes what is reported, on the reporter's loop or on those of requests. */
  public Topic<List<RevisionStat>> reports() {
    return reports;
  }

  /** Creates the counter of a loop. Call once per loop. */
  public RequestCounter onLoop(Loop requests) {
    var counter = new LoopCounter(requests);
    counters.add(counter);
    return counter;
  }

  /** Measures times in the queue, because our own autoscaler may scale by them. */
  public RequestObserver queueTimes() {
    return queueTimes;
  }

  public void start() {
    loop.execute(() -> timer.within(period));
  }

  public void stop() {
    loop.execute(() -> {
      timer.cancel();
      underWay = null;
    });
  }

  /** Drops all windows, because their time is past, and reports the present requests. */
  @Override
  public void connected() {
    if (timer.isSet()) {
      timer.cancel();
      timer.within(period);
      collect(this::reportInFlight);
    }
  }

  private void collect() {
    timer.within(period);
    if (underWay == null) {
      collect(this::report);
    }
  }

  private void collect(Consumer<Round> onComplete) {
    var present = List.copyOf(counters);
    if (present.isEmpty()) {
      return;
    }
    var round = new Round(present.size(), onComplete);
    underWay = round;
    for (var counter : present) {
      counter.requests.execute(() -> counter.reportTo(round));
    }
  }

  private void collected(Round round, Map<RevisionId, RequestStats.Totals> totals) {
    totals.forEach((id, more) -> round.totals.merge(id, more, RequestStats.Totals::plus));
    round.missing--;
    if (round.missing > 0 || round != underWay) {
      return;
    }
    underWay = null;
    round.onComplete.accept(round);
  }

  private void report(Round round) {
    var waited = queueTimes.take();
    var stats = round.totals.entrySet().stream()
        .map(each -> RevisionStat.of(each.getKey(), each.getValue())
            .with(waited.getOrDefault(each.getKey(), QueueTimeHistogram.NONE)))
        .toList();
    sink.report(stats);
    reports.publish(stats);
  }

  private void reportInFlight(Round round) {
    var stats = round.totals.entrySet().stream().filter(each -> each.getValue().inFlight() > 0)
        .map(each -> RevisionStat.atOnce(each.getKey(), each.getValue().inFlight())).toList();
    if (!stats.isEmpty()) {
      sink.atOnce(stats);
      reports.publish(stats);
    }
  }

  /**
   * Counts the requests of one loop in a window per revision. A window begins with a revision's
   * first request, and ends at the first report that finds it idle. Only then loops access shared
   * state.
   */
  private final class LoopCounter implements RequestCounter {
    private final Loop requests;
    private final Map<RevisionId, RequestStats> windows = new HashMap<>();
    /**
     * Idle revisions that got a request in this turn of the loop. They are reported together at the
     * end of the turn.
     */
    private final List<RevisionStat> begun = new ArrayList<>(0);

    private LoopCounter(Loop requests) {
      this.requests = requests;
    }

    @Override
    public void arrived(RevisionId revision) {
      var window = windows.get(revision);
      if (window == null) {
        window = begin(revision);
      }
      window.arrived(requests.nanoTime());
    }

    @Override
    public void left(RevisionId revision) {
      var window = windows.get(revision);
      if (window == null) {
        throw new IllegalStateException("a request of " + revision + " left that never arrived");
      }
      window.left(requests.nanoTime());
    }

    private RequestStats begin(RevisionId revision) {
      var window = new RequestStats(requests.nanoTime());
      windows.put(revision, window);
      var counted = revision.withoutPort();
      if (windowCounts.merge(counted, 1, Integer::sum) == 1) {
        window.reportedAtOnce();
        if (begun.isEmpty()) {
          requests.execute(this::reportBegun);
        }
        begun.add(RevisionStat.first(counted));
      }
      return window;
    }

    private void reportBegun() {
      var all = List.copyOf(begun);
      begun.clear();
      sink.atOnce(all);
      reports.publish(all);
    }

    /**
     * Reports to a round even after a failure, because the next round begins only when this one is
     * complete.
     */
    private void reportTo(Round round) {
      var all = new HashMap<RevisionId, RequestStats.Totals>();
      try {
        report(all);
      } finally {
        loop.execute(() -> collected(round, all));
      }
    }

    /** Adds up all windows and drops the idle ones. */
    private void report(Map<RevisionId, RequestStats.Totals> all) {
      long now = requests.nanoTime();
      windows.entrySet().removeIf(each -> {
        var window = each.getValue();
        var totals = window.report(now);
        var counted = each.getKey().withoutPort();
        all.merge(counted, totals, RequestStats.Totals::plus);
        boolean idle = totals.averageConcurrency() == 0 && totals.inFlight() == 0;
        if (idle) {
          windowCounts.computeIfPresent(counted, (id, count) -> count == 1 ? null : count - 1);
        }
        return idle;
      });
    }
  }
}
