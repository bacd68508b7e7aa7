package dev.activator.stats;

import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Topic;
import dev.activator.observability.RequestObserver;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.QueueTimeHistogram;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Slot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
    /** The count of a revision. Keep it until the requests that it counts have left. */
    RevisionCount of(LiveRevision revision);
  }

  /** Counts the requests of one revision on one loop. <b>Threads.</b> Confined to the loop. */
  public interface RevisionCount {
    void arrived();

    /** Call once for each arrival, however the request ends. */
    void left();
  }

  private final Loop loop;
  private final Duration period;
  private final StatSink sink;
  private final Topic<List<RevisionStat>> reports = new Topic<>("reports");
  private final ResettableTimer timer;
  private final List<LoopCounter> counters = new CopyOnWriteArrayList<>();
  private final LiveRevisions revisions;
  /** The number of open windows of a revision, on all loops and of all ports. */
  private final Slot<AtomicInteger> windowCounts;
  private final QueueTimeObserver queueTimes;
  private @Nullable Round underWay;

  /** What one loop has counted of one revision, or of one port. */
  private record Part(RevisionId revision, RequestStats.Totals totals) {}

  private static final class Round {
    private final List<Part> parts = new ArrayList<>();
    private final Consumer<Round> onComplete;
    private int missing;

    private Round(int missing, Consumer<Round> onComplete) {
      this.missing = missing;
      this.onComplete = onComplete;
    }

    private Stream<Map.Entry<RevisionId, RequestStats.Totals>> totals() {
      return parts.stream().collect(Collectors.toMap(Part::revision, Part::totals,
          RequestStats.Totals::plus, TreeMap::new)).entrySet().stream();
    }
  }

  /** @param period the autoscaler expects one second */
  public ConcurrencyReporter(LiveRevisions revisions, Loop loop, Duration period, StatSink sink) {
    this.revisions = revisions;
    this.windowCounts = revisions.declare("windows of requests", _ -> new AtomicInteger());
    this.queueTimes = new QueueTimeObserver(revisions);
    this.loop = loop;
    this.period = period;
    this.sink = sink;
    this.timer = new ResettableTimer(loop, this::collect);
  }

  /** Publishes what is reported, on the reporter's loop or on those of requests. */
  public Topic<List<RevisionStat>> reports() {
    return reports;
  }

  /** Call once per loop. */
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

  private void collected(Round round, List<Part> parts) {
    round.parts.addAll(parts);
    round.missing--;
    if (round.missing > 0 || round != underWay) {
      return;
    }
    underWay = null;
    round.onComplete.accept(round);
  }

  private void report(Round round) {
    var waited = queueTimes.take();
    var stats = round.totals()
        .map(each -> RevisionStat.of(each.getKey(), each.getValue())
            .with(waited.getOrDefault(each.getKey(), QueueTimeHistogram.NONE)))
        .toList();
    sink.report(stats);
    reports.publish(stats);
  }

  private void reportInFlight(Round round) {
    var stats = round.totals().filter(each -> each.getValue().inFlight() > 0)
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
    private final Slot<Window> slot;
    private final List<Window> open = new ArrayList<>();
    /**
     * Idle revisions that got a request in this turn of the loop. They are reported together at the
     * end of the turn.
     */
    private final List<RevisionStat> begun = new ArrayList<>(0);

    private LoopCounter(Loop requests) {
      this.requests = requests;
      this.slot = revisions.declare("requests of a loop", Window::new);
    }

    @Override
    public RevisionCount of(LiveRevision revision) {
      var window = revision.slot(slot);
      // A request of a deleted revision is counted until it is rejected.
      return window == null ? new Window(revision) : window;
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
      var all = new ArrayList<Part>(open.size());
      try {
        report(all);
      } finally {
        loop.execute(() -> collected(round, all));
      }
    }

    /** Reports all windows and closes the idle ones. */
    private void report(List<Part> all) {
      long now = requests.nanoTime();
      open.removeIf(window -> !window.report(now, all));
    }

    private final class Window implements RevisionCount {
      private final LiveRevision revision;
      /** The number of open windows that are counted with this one. */
      private final AtomicInteger all;
      /** Null while the window is closed. */
      private @Nullable RequestStats stats;

      private Window(LiveRevision revision) {
        this.revision = revision;
        this.all = windowsOf(revision);
      }

      @Override
      public void arrived() {
        long now = requests.nanoTime();
        var window = stats;
        if (window == null) {
          window = open(now);
        }
        window.arrived(now);
      }

      @Override
      public void left() {
        if (stats == null) {
          throw new IllegalStateException("a request of " + revision + " left that never arrived");
        }
        stats.left(requests.nanoTime());
      }

      private RequestStats open(long nowNanos) {
        var window = new RequestStats(nowNanos);
        stats = window;
        open.add(this);
        if (all.getAndIncrement() == 0) {
          window.reportedAtOnce();
          if (begun.isEmpty()) {
            requests.execute(LoopCounter.this::reportBegun);
          }
          begun.add(RevisionStat.first(revision.id().withoutPort()));
        }
        return window;
      }

      /** Returns whether the window stays open. */
      private boolean report(long nowNanos, List<Part> parts) {
        var totals = Objects.requireNonNull(stats).report(nowNanos);
        parts.add(new Part(revision.id().withoutPort(), totals));
        boolean idle = totals.averageConcurrency() == 0 && totals.inFlight() == 0;
        if (idle) {
          stats = null;
          all.decrementAndGet();
        }
        return !idle;
      }
    }
  }

  /** The windows of all ports of a ScaledService are counted together. */
  private AtomicInteger windowsOf(LiveRevision revision) {
    var first = revisions.find(revision.id().withoutPort());
    var count = (first == null ? revision : first).slot(windowCounts);
    return count == null ? new AtomicInteger() : count;
  }

  /**
   * The requests of one revision on one loop since the last report, weighted by time.
   *
   * <p><b>Threads.</b> Confined to that loop.
   *
   * <p><b>Units.</b> Nanoseconds since a fixed origin. A time before the last one counts as the last
   * one.
   *
   * <p><b>Errors.</b> {@link IllegalStateException} if a request leaves when there is none.
   *
   * <p><b>Source.</b> {@code request_stats.go} of Knative Serving.
   */
  static final class RequestStats {
    private int concurrency;
    private long changedNanos;
    private long requests;
    private long requestNanos;
    private long elapsedNanos;
    private int reportedAtOnce;

    /**
     * @param requestNanos the integral of concurrency over time
     * @param reportedAtOnce the number of requests that were reported at once
     * @param inFlight the number of requests at the end of the window
     */
    record Totals(long requests, long requestNanos, long elapsedNanos, int reportedAtOnce,
        int inFlight) {
      double averageConcurrency() {
        return elapsedNanos == 0 ? 0 : (double) requestNanos / elapsedNanos;
      }

      /**
       * Merges the windows of two loops. One of them may have begun later, so the longer time counts.
       */
      Totals plus(Totals other) {
        return new Totals(requests + other.requests, requestNanos + other.requestNanos,
            Math.max(elapsedNanos, other.elapsedNanos), reportedAtOnce + other.reportedAtOnce,
            inFlight + other.inFlight);
      }
    }

    RequestStats(long nowNanos) {
      changedNanos = nowNanos;
    }

    void arrived(long nowNanos) {
      advance(nowNanos);
      concurrency++;
      requests++;
    }

    void left(long nowNanos) {
      if (concurrency == 0) {
        throw new IllegalStateException("a request left that never arrived");
      }
      advance(nowNanos);
      concurrency--;
    }

    void reportedAtOnce() {
      reportedAtOnce++;
    }

    /** Ends the window. The next one begins with the requests in flight. */
    Totals report(long nowNanos) {
      advance(nowNanos);
      var totals = new Totals(requests, requestNanos, elapsedNanos, reportedAtOnce, concurrency);
      requests = 0;
      requestNanos = 0;
      elapsedNanos = 0;
      reportedAtOnce = 0;
      return totals;
    }

    private void advance(long nowNanos) {
      long passedNanos = Math.max(0, nowNanos - changedNanos);
      changedNanos += passedNanos;
      requestNanos += passedNanos * concurrency;
      elapsedNanos += passedNanos;
    }
  }
}
