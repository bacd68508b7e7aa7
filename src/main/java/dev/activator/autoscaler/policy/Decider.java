package dev.activator.autoscaler.policy;

import dev.activator.autoscaler.policy.ScalingSettings.Limits;
import dev.activator.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.autoscaler.policy.ScalingSettings.Windows;
import java.util.TreeMap;

/**
 * Decides how many pods one workload should have: by the average load of a long window, and in a surge,
 * called panic, by that of a short one too.
 *
 * <p><b>Units.</b> Nanoseconds since any origin; a second begins at the origin.
 *
 * <p><b>Source.</b> {@code pkg/autoscaler/scaling/autoscaler.go} of Knative Serving, without scraping:
 * activators report all requests.
 */
public final class Decider {
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final int SECONDS_PER_INDEX = 2;

  /** Recent results, by spans of two seconds; only if scaling down is delayed. */
  private final TreeMap<Long, Integer> results = new TreeMap<>();
  private final MetricWindow stable;
  private final MetricWindow panic;
  private boolean panicking;
  private long panicSince;
  /** The most pods since panic began. */
  private int floor;

  /**
   * @param ready ready pods; with more than one, a history was lost, and none of them is removed before a
   *     window is over
   */
  public Decider(long now, int ready, Windows windows) {
    stable = new MetricWindow((int) windows.stable().toSeconds(), windows.weighted());
    panic = new MetricWindow((int) windows.panic().toSeconds(), windows.weighted());
    if (ready > 1) {
      panicking = true;
      panicSince = now;
      floor = ready;
    }
  }

  public void record(long now, double load) {
    long second = Math.floorDiv(now, NANOS_PER_SECOND);
    stable.record(second, load);
    panic.record(second, load);
  }

  public void resize(long now, Windows windows) {
    long second = Math.floorDiv(now, NANOS_PER_SECOND);
    stable.resize((int) windows.stable().toSeconds(), second);
    panic.resize((int) windows.panic().toSeconds(), second);
  }

  public Decision decide(long now, int ready, ScalingSettings settings) {
    long second = Math.floorDiv(now, NANOS_PER_SECOND);
    double stableLoad = stable.average(second);
    double panicLoad = panic.average(second);
    if (settings.regime() == Regime.ZERO_OR_ONE) {
      return zeroOrOne(stableLoad, panicLoad, settings);
    }
    int pods = Math.max(1, ready);
    var byStable = step("stable", stableLoad, pods, settings);
    var byPanic = step("panic", panicLoad, pods, settings);
    double wanted = Math.ceil(panicLoad / settings.aim().perPod());
    if (wanted / pods >= settings.windows().panicThreshold()) {
      panicking = true;
      panicSince = now;
    } else if (panicking && panicSince + settings.windows().stable().toNanos() < now) {
      panicking = false;
      floor = 0;
    }
    var result = panicking ? inPanic(now, byStable, byPanic) : byStable;
    result = delayed(second, result, settings.limits());
    return new Decision(result.pods, stableLoad, panicLoad, panicking, result.cause);
  }

  /** Any load needs one pod; another autoscaler decides how many more. */
  private static Decision zeroOrOne(double stable, double panic, ScalingSettings settings) {
    int pods = stable > 0 ? 1 : 0;
    return new Decision(pods, stable, panic, false, pods + ": " + Decision.number(stable) + " "
        + settings.aim().metric().unit() + ", stable window; only scaled between 0 and 1");
  }

  private record Proposal(int pods, String cause) {}

  private static Proposal step(String window, double load, int ready, ScalingSettings settings) {
    var limits = settings.limits();
    double wanted = Math.ceil(load / settings.aim().perPod());
    double most = Math.ceil(limits.up() * ready);
    double min = Math.floor(ready / limits.down());
    int pods = (int) Math.min(Math.max(wanted, min), most);
    if (wanted > 0 && limits.activation() > Math.max(1, pods)) {
      return new Proposal(limits.activation(),
          limits.activation() + ", the activation scale, for any load");
    }
    String formula = (int) wanted + " = ceil(" + Decision.number(load) + " "
        + settings.aim().metric().unit() + " ÷ " + Decision.number(settings.aim().perPod()) + "), "
        + window + " window";
    if (wanted > most) {
      return new Proposal(pods, pods + " = ceil(" + Decision.number(limits.up()) + " × " + ready
          + " ready), one step up to " + formula);
    }
    return wanted < min
        ? new Proposal(pods,
            pods + " = floor(" + ready + " ready ÷ " + Decision.number(limits.down())
                + "), one step down to " + formula)
        : new Proposal(pods, formula);
  }

  /** Never fewer pods than before in this panic. */
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

  /** When panic last began or was renewed; meaningless while there is none. */
  long panicSince() {
    return panicSince;
  }
}
