package dev.activator.autoscaler.policy;

import dev.activator.autoscaler.policy.ScaleToZeroDecider.Outcome;
import dev.activator.autoscaler.policy.ScalingSettings.Regime;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Decides which replica count to write: applies the bounds to a decision, delays scale to zero,
 * and respects a count set by another client. It keeps them within the bounds, removes the last
 * pods only when they have been idle long enough, and keeps replicas that another client has set.
 *
 * <p><b>Units.</b> Nanoseconds of the autoscaler's clock.
 */
public final class ScaleWritePlanner {
  private final ScaleOverride held = new ScaleOverride();
  private ActiveCondition activity;
  private long lastDemand;
  private boolean initialized;
  private boolean seen;
  private OptionalInt desired = OptionalInt.empty();

  /**
   * What is known when a plan is made.
   *
   * @param replicas of the workload's spec, as last read or written
   * @param ready pods that are ready
   * @param mayShrink whether all activators have reported for a whole window
   * @param quiet whether none of them has a request now
   */
  public record Situation(ScaleDecision decision, int replicas, int ready, boolean mayShrink,
      boolean quiet) {}

  /**
   * What to do.
   *
   * @param write replicas to write; empty if nothing is to be written
   * @param again when the plan may change without an event; empty if it does not
   * @param note what keeps the decision from being carried out; empty if nothing does
   */
  public record Plan(OptionalInt write, OptionalLong again, String note) {}

  /** @param lastDesired what the previous leader wanted; empty if there was none */
  public ScaleWritePlanner(long now, OptionalInt lastDesired) {
    activity = ActiveCondition.unknown(now);
    lastDemand = now;
    held.before(lastDesired);
  }

  /** A request waited, ran or arrived. */
  public void demanded(long now, boolean waitsOrRuns) {
    lastDemand = now;
    if (waitsOrRuns) {
      held.demanded();
    }
  }

  /** Notes the replicas that were read; true if another client has changed them. */
  public boolean sees(int replicas, ScaleDecision decision, ScalingSettings settings) {
    boolean first = !seen;
    seen = true;
    if (first && replicas < settings.bounds().min()) {
      // The previous leader may have published what it could not write any more.
      held.owns(replicas);
      return false;
    }
    int wanted = bounded(decision, settings);
    return switch (settings.regime()) {
      case ALONE -> false;
      case YIELDING -> held.sees(replicas, wanted);
      case ZERO_OR_ONE -> {
        boolean woken = wanted == 0 && held.areOurs(0);
        if (replicas > 0 && !woken) {
          held.owns(replicas);
          yield false;
        }
        yield held.sees(replicas, wanted) && replicas == 0;
      }
    };
  }

  /** The bounds have changed: replicas that another client set no longer stay. */
  public void rebounded() {
    held.release();
  }

  /** A write was sent, and has no answer: it may still arrive. */
  public void mayHaveWritten(int replicas) {
    held.mayHaveWritten(replicas);
  }

  public void wrote(int replicas) {
    held.owns(replicas);
  }

  public Plan plan(long now, Situation seen, ScalingSettings settings) {
    initialized |= seen.ready >= Math.max(settings.bounds().initial(), settings.bounds().min());
    int wanted = bounded(seen.decision, settings);
    if (held.holds() && seen.decision.isIdle() && settings.bounds().min() == 0) {
      // Pods that another client added are never stepped down: the decision would stay above zero.
      wanted = 0;
    }
    if (wanted > 0) {
      activity = activity.withPods(now, seen.ready >= enough(settings));
      desired = OptionalInt.of(wanted);
      return toward(wanted, OptionalLong.empty(), seen, settings);
    }
    if (seen.replicas == 0) {
      activity = activity.inactive(now, false);
      desired = OptionalInt.of(0);
      return new Plan(OptionalInt.empty(), OptionalLong.empty(), "");
    }
    return idle(now, seen, settings);
  }

  private Plan idle(long now, Situation seen, ScalingSettings settings) {
    if (ScaleToZeroDecider.expectsPods(activity)) {
      activity = activity.withPods(now, seen.ready >= enough(settings));
    }
    var step = ScaleToZeroDecider.of(now, activity, lastDemand, settings);
    if (step.outcome() == Outcome.ZERO && !(seen.mayShrink && seen.quiet)) {
      return new Plan(OptionalInt.empty(), OptionalLong.empty(),
          "its last pods stay until every activator has reported for a whole window");
    }
    activity = step.activity();
    if (step.outcome() == Outcome.KEEP) {
      return new Plan(OptionalInt.empty(), OptionalLong.of(step.again()), "");
    }
    int left = step.outcome() == Outcome.ONE ? 1 : 0;
    desired = OptionalInt.of(left);
    // Replicas that another client set may stay although they are idle: only an event changes that.
    var again = step.outcome() == Outcome.ZERO
        ? OptionalLong.empty()
        : OptionalLong.of(step.again());
    return toward(left, again, seen, settings);
  }

  private Plan toward(int wanted, OptionalLong again, Situation seen, ScalingSettings settings) {
    int now = seen.replicas;
    if (settings.regime() == Regime.ZERO_OR_ONE && now > 0 && wanted > 0) {
      return new Plan(OptionalInt.empty(), again, "");
    }
    if (settings.regime() != Regime.ALONE && !held.allows(wanted)) {
      return new Plan(OptionalInt.empty(), again,
          now + " was set by another client, and stays until the load gives a new reason");
    }
    if (wanted < now && !seen.mayShrink) {
      // Keeps the next leader from thinking that another client set the replicas that it finds.
      desired = OptionalInt.of(now);
      return new Plan(OptionalInt.empty(), again,
          "stays at " + now + " until every activator has reported for a whole window");
    }
    return new Plan(wanted == now ? OptionalInt.empty() : OptionalInt.of(wanted), again, "");
  }

  /** The decided pods, within the bounds. */
  public int bounded(ScaleDecision decision, ScalingSettings settings) {
    return settings.bounded(decision.pods(), initialized ? 0 : settings.bounds().initial());
  }

  /** How many ready pods make the workload active. */
  private int enough(ScalingSettings settings) {
    int min = Math.max(1, settings.bounds().min());
    return initialized ? min : Math.max(min, settings.bounds().initial());
  }

  /** Whether another client has set the replicas, and they stay. */
  public boolean holds() {
    return held.holds();
  }

  /** The workload's activity now. */
  public ActiveCondition activity() {
    return activity;
  }

  /** Replicas it should have, within its bounds; empty before that is known. */
  public OptionalInt desired() {
    return desired;
  }
}
