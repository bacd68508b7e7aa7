package dev.activator.stats;

import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.stats.policy.RequestWindow;
import dev.activator.stats.policy.RevisionStat;
import dev.activator.stats.policy.WindowTotals;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentMap;

/**
 * Counts the requests of one loop. A revision's window begins with its first request and is dropped
 * at the first report that finds it idle; only then are the other loops' counters concerned.
 *
 * <p>
 * <b>Threads.</b> All calls are made on {@code loop}. {@code holders}, shared by the counters of
 * all loops, says how many of them have a window of a revision.
 */
final class LoopCounter implements RequestCounter {
  private static final class Entry {
    private RequestWindow window;
    private int toldAtOnce;

    private Entry(RequestWindow window) {
      this.window = window;
    }
  }

  /** What one loop has to say of one revision. */
  record Part(RevisionId revision, WindowTotals totals, int toldAtOnce) {
    Part plus(Part other) {
      return new Part(revision, totals.plus(other.totals), toldAtOnce + other.toldAtOnce);
    }

    RevisionStat stat() {
      return RevisionStat.of(revision, totals, toldAtOnce);
    }
  }

  private final Loop loop;
  private final ConcurrentMap<RevisionId, Integer> holders;
  private final StatSink sink;
  private final Map<RevisionId, Entry> entries = new HashMap<>();

  LoopCounter(Loop loop, ConcurrentMap<RevisionId, Integer> holders, StatSink sink) {
    this.loop = loop;
    this.holders = holders;
    this.sink = sink;
  }

  Loop loop() {
    return loop;
  }

  @Override
  public void arrived(RevisionId revision) {
    var entry = entries.get(revision);
    if (entry == null) {
      entry = begin(revision);
    }
    entry.window = entry.window.arrived(loop.nanoTime());
  }

  @Override
  public void left(RevisionId revision) {
    var entry = entries.get(revision);
    if (entry == null) {
      throw new IllegalStateException("a request of " + revision + " left that never arrived");
    }
    entry.window = entry.window.left(loop.nanoTime());
  }

  private Entry begin(RevisionId revision) {
    var entry = new Entry(RequestWindow.startingAt(loop.nanoTime()));
    entries.put(revision, entry);
    if (holders.merge(revision, 1, Integer::sum) == 1) {
      entry.toldAtOnce = 1;
      sink.firstRequest(RevisionStat.first(revision));
    }
    return entry;
  }

  /** Ends all windows; those that were idle are not begun again. */
  List<Part> report() {
    long now = loop.nanoTime();
    var parts = new ArrayList<Part>(entries.size());
    entries.entrySet().removeIf(each -> {
      var entry = each.getValue();
      var report = entry.window.report(now);
      parts.add(new Part(each.getKey(), report.totals(), entry.toldAtOnce));
      entry.window = report.next();
      entry.toldAtOnce = 0;
      boolean idle = report.totals().averageConcurrency() == 0 && entry.window.concurrency() == 0;
      if (idle) {
        holders.computeIfPresent(each.getKey(), (id, count) -> count == 1 ? null : count - 1);
      }
      return idle;
    });
    return parts;
  }
}
