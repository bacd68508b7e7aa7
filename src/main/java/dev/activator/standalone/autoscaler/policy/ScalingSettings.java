package dev.activator.standalone.autoscaler.policy;

import dev.activator.standalone.policy.ScaledServiceSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings by which one workload is scaled.
 *
 * @param aims the target loads of a pod; the one that needs the most pods decides
 * @param queue the target for the 95th percentile of the time that requests wait for a pod; null if
 *     there is none
 * @param windows the times over which the load is averaged
 * @param limits how far one decision may change the number of pods
 * @param bounds the minimum and maximum number of pods
 * @param idle when the last pod is removed
 * @param regime how this autoscaler shares the workload's scale with people and other autoscalers
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
    /** Only the autoscaler. Replicas that another client sets are overwritten. */
    ALONE,
    /** Also people. Their number of replicas stays until the load gives a reason to change it. */
    YIELDING,
    /** Another autoscaler scales above 1, and this one only between 0 and 1. */
    ZERO_OR_ONE,
    /** Another autoscaler does all but the step from 0 to 1, also that to 0. */
    FROM_ZERO;

    /** Whether another autoscaler scales above 1. */
    public boolean isBesideAnother() {
      return this == ZERO_OR_ONE || this == FROM_ZERO;
    }
  }

  /** @param perPod requests in flight, or requests a second, of one pod; positive */
  public record Aim(Metric metric, double perPod) {}

  /**
   * Both windows are in whole seconds.
   *
   * @param panicThreshold panic begins when the panic window requires this many times the ready
   *     pods
   * @param weighted whether recent seconds count more
   */
  public record Windows(Duration stable, Duration panic, double panicThreshold, boolean weighted) {
    /** @param panicPercentage the length of the panic window, in percent of the stable window */
    public static Windows of(Duration stable, double panicPercentage, double panicThreshold,
        boolean weighted) {
      long panic = Math.max(1, Math.round(stable.toSeconds() * panicPercentage / 100));
      return new Windows(stable, Duration.ofSeconds(panic), panicThreshold, weighted);
    }
  }

  /**
   * @param up the factor by which one decision may raise the number of ready pods
   * @param down the factor by which one decision may divide the number of ready pods; infinite for
   *     no limit
   * @param downDelay how long the highest result is kept
   * @param activation the minimum number of pods for any load; 0 for none
   */
  public record Limits(double up, double down, Duration downDelay, int activation) {
    /** Knative's defaults. */
    public static final Limits DEFAULT = new Limits(1_000, 2, Duration.ZERO, 0);
  }

  /**
   * @param max 0 for no bound
   * @param initial the number of pods that must have been ready once before fewer are allowed; 0
   *     for none. It is at most {@code max}, as more pods are never ready
   */
  public record Bounds(int min, int max, int initial) {
    public Bounds {
      initial = max > 0 ? Math.min(initial, max) : initial;
    }
  }

  /**
   * @param retention how long the last pod stays after the workload has become inactive
   * @param progressDeadline how long pods may take to become ready
   */
  public record Idle(Duration retention, Duration progressDeadline) {
    /** Knative's defaults. */
    public static final Idle DEFAULT = new Idle(Duration.ZERO, Duration.ofSeconds(600));
  }

  /** Knative's default length of the panic window, in percent of the stable window. */
  static final double PANIC_WINDOW_PERCENTAGE = 10;
  /** Knative's default: panic begins at twice the number of ready pods. */
  static final double PANIC_THRESHOLD = 2;
  /** The share of a container's concurrency limit that is the target. */
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
        new Idle(retention(target), Idle.DEFAULT.progressDeadline), regime(target));
  }

  private static Duration retention(ScaledServiceSpec target) {
    var left = target.workload().idleAfter().minus(target.window());
    return left.isNegative() ? Duration.ZERO : left;
  }

  private static Regime regime(ScaledServiceSpec target) {
    if (target.otherGoesToZero()) {
      return Regime.FROM_ZERO;
    }
    return target.maxReplicas().isPresent() ? Regime.YIELDING : Regime.ZERO_OR_ONE;
  }

  /**
   * A copy with at least this minimum. In the regime {@code ZERO_OR_ONE}, the minimum is at most 1,
   * and in {@code FROM_ZERO} the other autoscaler's counts.
   */
  public ScalingSettings withMin(int min) {
    if (regime == Regime.FROM_ZERO) {
      return this;
    }
    int allowed = regime == Regime.ZERO_OR_ONE ? 1 : bounds.max > 0 ? bounds.max : min;
    int raised = Math.max(bounds.min, Math.min(allowed, min));
    return new ScalingSettings(aims, queue, windows, limits,
        new Bounds(raised, bounds.max, bounds.initial), idle, regime);
  }

  /** A copy for a revision that is not routed any more, without a minimum of pods. */
  public ScalingSettings unreachable() {
    return new ScalingSettings(aims, queue, windows,
        new Limits(limits.up, Double.POSITIVE_INFINITY, Duration.ZERO, limits.activation),
        new Bounds(0, bounds.max, 0), new Idle(Duration.ZERO, idle.progressDeadline), regime);
  }

  /**
   * The number of pods within the bounds.
   *
   * @param least replaces a lower minimum
   */
  int bounded(int pods, int least) {
    int raised = Math.max(pods, Math.max(bounds.min, least));
    return bounds.max > 0 ? Math.min(raised, bounds.max) : raised;
  }
}
