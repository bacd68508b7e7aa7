package dev.activator.autoscaler.policy;

import dev.activator.revision.ScaledServiceSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one workload is scaled.
 *
 * @param aims what each pod should have; the one that needs the most pods counts
 * @param queue in which 95 of 100 requests should get a pod; null if that does not matter
 * @param windows over which the load is averaged
 * @param limits of a single step
 * @param bounds of the result
 * @param idle when the last pod goes
 * @param regime who else may scale it
 */
public record ScalingSettings(List<Aim> aims, @Nullable Duration queue, Windows windows,
    Limits limits, Bounds bounds, Idle idle, Regime regime) {
  public ScalingSettings {
    aims = List.copyOf(aims);
  }

  /** Settings with one aim, as in Knative. */
  public ScalingSettings(Aim aim, Windows windows, Limits limits, Bounds bounds, Idle idle,
      Regime regime) {
    this(List.of(aim), null, windows, limits, bounds, idle, regime);
  }

  public enum Metric {
    CONCURRENCY("in flight"),
    REQUESTS_PER_SECOND("requests a second");

    private final String unit;

    Metric(String unit) {
      this.unit = unit;
    }

    String unit() {
      return unit;
    }
  }

  public enum Regime {
    /** The autoscaler alone: any other number of replicas is overwritten. */
    ALONE,
    /** People may scale it: their number stays until there is a reason to change it. */
    YIELDING,
    /** Another autoscaler scales between 1 and many, and this one only between 0 and 1. */
    ZERO_OR_ONE
  }

  /** @param perPod requests at once, or a second, for each pod; positive */
  public record Aim(Metric metric, double perPod) {}

  /**
   * Both windows are in whole seconds.
   *
   * @param panicThreshold panic begins when the short window wants this many times the pods there are
   * @param weighted whether recent seconds count more
   */
  public record Windows(Duration stable, Duration panic, double panicThreshold, boolean weighted) {
    /** @param panicPercentage how long the panic window is, as a part of the stable one */
    public static Windows of(Duration stable, double panicPercentage, double panicThreshold,
        boolean weighted) {
      long panic = Math.max(1, Math.round(stable.toSeconds() * panicPercentage / 100));
      return new Windows(stable, Duration.ofSeconds(panic), panicThreshold, weighted);
    }
  }

  /**
   * @param up how many times the ready pods there may be after one decision
   * @param down by how much one decision may divide the ready pods; infinite for no limit
   * @param downDelay how long the result stays at its highest
   * @param activation the least that any load gets; 0 for none
   */
  public record Limits(double up, double down, Duration downDelay, int activation) {
    /** Knative's. */
    public static final Limits DEFAULT = new Limits(1_000, 2, Duration.ZERO, 0);
  }

  /**
   * @param max 0 for no bound
   * @param initial pods it has until that many were ready once; 0 for none. At most {@code max}: more are never ready
   */
  public record Bounds(int min, int max, int initial) {
    public Bounds {
      initial = max > 0 ? Math.min(initial, max) : initial;
    }
  }

  /**
   * @param retention how long the last pod stays once the workload is inactive
   * @param progressDeadline how long pods may take to become ready
   */
  public record Idle(Duration retention, Duration progressDeadline) {
    /** Knative's. */
    public static final Idle DEFAULT = new Idle(Duration.ZERO, Duration.ofSeconds(600));
  }

  /** Knative's, in percent of the stable window. */
  static final double PANIC_WINDOW_PERCENTAGE = 10;
  /** Knative's: twice the pods there are. */
  static final double PANIC_THRESHOLD = 2;
  /** The part of a container's limit that a pod should have in use. */
  static final double UTILIZATION = 0.7;

  public static ScalingSettings of(ScaledServiceSpec target) {
    double limit = target.containerConcurrency();
    var load = target.load();
    double concurrency = UTILIZATION * limit;
    if (load.concurrency().isPresent()) {
      int wanted = load.concurrency().getAsInt();
      concurrency = limit > 0 ? Math.min(wanted, limit) : wanted;
    }
    var aims = new ArrayList<Aim>(2);
    if (concurrency > 0) {
      aims.add(new Aim(Metric.CONCURRENCY, concurrency));
    }
    load.requestsPerSecond()
        .ifPresent(rate -> aims.add(new Aim(Metric.REQUESTS_PER_SECOND, rate)));
    var queue = load.queueMilliseconds().isPresent()
        ? Duration.ofMillis(load.queueMilliseconds().getAsInt())
        : null;
    return new ScalingSettings(aims, queue,
        Windows.of(target.window(), PANIC_WINDOW_PERCENTAGE, PANIC_THRESHOLD, false),
        Limits.DEFAULT, new Bounds(target.minReplicas(), target.maxReplicas().orElse(0), 0),
        Idle.DEFAULT,
        target.maxReplicas().isPresent() ? Regime.YIELDING : Regime.ZERO_OR_ONE);
  }

  /** The same with at least this minimum; at most 1 where only 0 and 1 are ours to set. */
  public ScalingSettings withMin(int min) {
    int allowed = regime == Regime.ZERO_OR_ONE ? 1 : bounds.max > 0 ? bounds.max : min;
    int raised = Math.max(bounds.min, Math.min(allowed, min));
    return new ScalingSettings(aims, queue, windows, limits,
        new Bounds(raised, bounds.max, bounds.initial), idle, regime);
  }

  /** The same for a revision that no route names any more: only requests give it pods. */
  public ScalingSettings unreachable() {
    return new ScalingSettings(aims, queue, windows,
        new Limits(limits.up, Double.POSITIVE_INFINITY, Duration.ZERO, limits.activation),
        new Bounds(0, bounds.max, 0), new Idle(Duration.ZERO, idle.progressDeadline), regime);
  }

  /** The decision within the bounds, where {@code least} replaces a lower minimum. */
  int bounded(int pods, int least) {
    int raised = Math.max(pods, Math.max(bounds.min, least));
    return bounds.max > 0 ? Math.min(raised, bounds.max) : raised;
  }
}
