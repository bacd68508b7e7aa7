package dev.activator.standalone.autoscaler.policy;

import dev.activator.standalone.autoscaler.policy.ScalingSettings.Aim;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Limits;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Metric;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Windows;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many pods one workload should have, by the average load over a long window, the
 * stable window. During a surge (panic mode) it also uses the average over a short window, the
 * panic window.
 *
 * <p><b>Units.</b> Times are nanoseconds since an arbitrary origin. Whole seconds are counted from
 * that origin.
 *
 * <p><b>Source.</b> {@code pkg/autoscaler/scaling/autoscaler.go} of Knative Serving, without
 * scraping: activators report all requests.
 */
public final class ScaleDecider {
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final int SECONDS_PER_INDEX = 2;
  private static final Aim OPEN = new Aim(Metric.CONCURRENCY, 1);

  /** The recent results, one for each two seconds; used only if scaling down is delayed. */
  private final TreeMap<Long, Integer> results = new TreeMap<>();
  private final Map<Metric, Load> loads = new EnumMap<>(Metric.class);
  private final QueueTimeScaler queue = new QueueTimeScaler();
  private final LastActivatorReports reports = new LastActivatorReports();
  private boolean panicking;
  private long panicSince;
  /** The highest result since panic began. */
  private int floor;

  private static final class Load {
    private final MetricWindow stable;
    private final MetricWindow panic;

    Load(Windows windows) {
      stable = new MetricWindow((int) windows.stable().toSeconds(), windows.weighted());
      panic = new MetricWindow((int) windows.panic().toSeconds(), windows.weighted());
    }
  }

  /** The current averages of one metric. */
  private record Averages(Aim aim, double stable, double panic) {}

  /**
   * @param ready the number of ready pods. If there are several, an earlier history was lost, so no
   *     pod is removed before a window has passed
   */
  public ScaleDecider(long now, int ready, Windows windows) {
    for (var metric : Metric.values()) {
      loads.put(metric, new Load(windows));
    }
    if (ready > 1) {
      panicking = true;
      panicSince = now;
      floor = ready;
    }
  }

  /** Adds a report to the windows of each metric, and to the queue times if they have a target. */
  public void record(long now, LoadSample sample, ScalingSettings settings) {
    long second = Math.floorDiv(now, NANOS_PER_SECOND);
    if (reports.add(now, sample)) {
      record(second, sample);
    }
    if (settings.queue() != null) {
      queue.record(second, sample.arrivals(), sample.queueTimes());
    }
  }

  /**
   * Counts the last reports of silent activators again. Call before {@link #decide}, and before the
   * first report after a silence.
   */
  public void repeatLastReports(long now, ReportCompleteness activators,
      ScalingSettings settings) {
    reports.repeated(now, activators, settings.windows().stable())
        .forEach(one -> record(one.second(), one.sample()));
  }

  private void record(long second, LoadSample sample) {
    record(second, Metric.CONCURRENCY, sample.concurrency());
    record(second, Metric.REQUESTS_PER_SECOND, sample.arrivals());
  }

  private void record(long second, Metric metric, double value) {
    load(metric).stable.record(second, value);
    load(metric).panic.record(second, value);
  }

  private Load load(Metric metric) {
    return Objects.requireNonNull(loads.get(metric));
  }

  public void resize(long now, Windows windows) {
    long second = Math.floorDiv(now, NANOS_PER_SECOND);
    loads.values().forEach(load -> {
      load.stable.resize((int) windows.stable().toSeconds(), second);
      load.panic.resize((int) windows.panic().toSeconds(), second);
    });
  }

  public ScaleDecision decide(long now, int ready, ScalingSettings settings) {
    long second = Math.floorDiv(now, NANOS_PER_SECOND);
    var all = settings.aims().stream().map(aim -> averages(aim, second)).toList();
    var first = all.getFirst();
    int pods = Math.max(1, ready);
    if (settings.regime().isBesideAnother()) {
      return zeroOrOne(busiest(all, second, settings));
    }
    var byStable = most(
        all.stream().map(one -> step("stable", one.aim, one.stable, pods, settings)));
    var byPanic = most(all.stream().map(one -> step("panic", one.aim, one.panic, pods, settings)));
    double wanted = all.stream().mapToDouble(one -> Math.ceil(one.panic / one.aim.perPod())).max()
        .orElse(0);
    var byQueue = byQueue(second, pods, settings);
    if (byQueue != null) {
      byStable = most(Stream.of(byStable, byQueue));
      byPanic = most(Stream.of(byPanic, byQueue));
      wanted = Math.max(wanted, byQueue.pods);
    }
    if (settings.regime() == Regime.YIELDING) {
      // A request that runs for longer than a window is not counted as an arrival any more, but
      // must keep its pod.
      byStable = most(Stream.of(byStable, byOpenRequests(second)));
    }
    if (wanted / pods >= settings.windows().panicThreshold()) {
      panicking = true;
      panicSince = now;
    } else if (panicking && panicSince + settings.windows().stable().toNanos() < now) {
      panicking = false;
      floor = 0;
    }
    var result = panicking ? inPanic(now, byStable, byPanic) : byStable;
    result = delayed(second, result, settings.limits());
    // A workload with requests in flight is not idle, whichever metric its aims use.
    var shown = settings.regime() == Regime.YIELDING && first.stable == 0 && first.panic == 0
        ? averages(OPEN, second)
        : first;
    return new ScaleDecision(result.pods, shown.stable, shown.panic, panicking, result.cause);
  }

  private Averages averages(Aim aim, long second) {
    var load = load(aim.metric());
    return new Averages(aim, load.stable.average(second), load.panic.average(second));
  }

  /** The proposal with the most pods; the first one of those. */
  private static Proposal most(Stream<Proposal> all) {
    return all.reduce((one, other) -> other.pods > one.pods ? other : one).orElseThrow();
  }

  /**
   * The averages of requests in flight. If there are none, and the first aim is another metric, the
   * averages of that aim.
   */
  private Averages busiest(List<Averages> all, long second, ScalingSettings settings) {
    var open = averages(OPEN, second);
    return open.stable > 0 || settings.aims().getFirst().metric() == Metric.CONCURRENCY
        ? open
        : all.getFirst();
  }

  private Proposal byOpenRequests(long second) {
    double open = load(Metric.CONCURRENCY).stable.average(second);
    return new Proposal(open > 0 ? 1 : 0, "1, for any request in flight, "
        + ScaleDecision.number(open) + " in the stable window");
  }

  /** The proposal by queue times; null if they have no target. */
  private @Nullable Proposal byQueue(long second, int pods, ScalingSettings settings) {
    if (settings.queue() == null) {
      return null;
    }
    var demand = queue.demand(second, pods, settings.queue(),
        settings.windows().panic().toSeconds(), settings.windows().stable().toSeconds());
    return new Proposal(demand.pods(), demand.pods() + " for " + pods + " ready, as 95 of 100"
        + " requests wait " + ScaleDecision.number(demand.millis()) + " ms of "
        + settings.queue().toMillis() + " ms in the queue");
  }

  /** One pod for any load; another autoscaler decides how many more. */
  private static ScaleDecision zeroOrOne(Averages load) {
    int pods = load.stable > 0 ? 1 : 0;
    return new ScaleDecision(pods, load.stable, load.panic, false,
        pods + ": " + ScaleDecision.number(load.stable) + " " + load.aim.metric().unit()
            + ", stable window; only scaled between 0 and 1");
  }

  private record Proposal(int pods, String cause) {}

  private static Proposal step(String window, Aim aim, double load, int ready,
      ScalingSettings settings) {
    var limits = settings.limits();
    double wanted = Math.ceil(load / aim.perPod());
    double most = Math.ceil(limits.up() * ready);
    double min = Math.floor(ready / limits.down());
    int pods = (int) Math.min(Math.max(wanted, min), most);
    if (wanted > 0 && limits.activation() > Math.max(1, pods)) {
      return new Proposal(limits.activation(),
          limits.activation() + ", the activation scale, for any load");
    }
    String formula = (int) wanted + " = ceil(" + ScaleDecision.number(load) + " "
        + aim.metric().unit() + " ÷ " + ScaleDecision.number(aim.perPod()) + "), "
        + window + " window";
    if (wanted > most) {
      return new Proposal(pods,
          pods + " = ceil(" + ScaleDecision.number(limits.up()) + " × " + ready
              + " ready), one step up to " + formula);
    }
    return wanted < min
        ? new Proposal(pods,
            pods + " = floor(" + ready + " ready ÷ " + ScaleDecision.number(limits.down())
                + "), one step down to " + formula)
        : new Proposal(pods, formula);
  }

  /**
   * The proposal during panic, which never has fewer pods than an earlier one of the same panic.
   */
  private Proposal inPanic(long now, Proposal byStable, Proposal byPanic) {
    var more = byPanic.pods > byStable.pods ? byPanic : byStable;
    if (more.pods >= floor) {
      floor = more.pods;
      return more;
    }
    return new Proposal(floor, floor + ", the most of a surge that was last seen "
        + (now - panicSince) / NANOS_PER_SECOND + " s ago; now " + byStable.cause);
  }

  private Proposal delayed(long second, Proposal now, Limits limits) {
    long delay = limits.downDelay().toSeconds();
    if (delay == 0) {
      results.clear();
      return now;
    }
    long index = Math.floorDiv(second, SECONDS_PER_INDEX);
    results.merge(index, now.pods, Math::max);
    results.headMap(index - Math.ceilDiv(delay, SECONDS_PER_INDEX), true).clear();
    int most = results.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    return most == now.pods
        ? now
        : new Proposal(most, most + ", the most of the last " + delay + " s; now " + now.cause);
  }

  /** When panic last began or was renewed; meaningless without panic. */
  long panicSince() {
    return panicSince;
  }
}
