package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.ScalingView.ActiveCondition;
import dev.activator.standalone.autoscaler.policy.ScaleToZeroDecider.Outcome;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Decides which number of replicas to write. It applies the bounds to the decision, removes the
 * last pods only after they have been idle for long enough, and keeps replicas that another client
 * has set.
 *
 * <p><b>Units.</b> Nanoseconds of the autoscaler's clock.
 */
public final class ScaleWritePlanner {
  private static final String WOKEN = " was set by another client while it was idle, and goes to 0"
      + " after the window";
  /** Longer than it takes to learn of a request, and of replicas that another client has set. */
  private static final long UNUSED = Duration.ofSeconds(4).toNanos();
  private final ExternalScaleOverride override = new ExternalScaleOverride();
  private ActiveCondition activity;
  private long lastDemand;
  /** Since when requests have waited or run, without a pause of {@code UNUSED}. */
  private long usedSince;
  private long lastUsed;
  private boolean initialized;
  private boolean seen;
  private OptionalInt desired = OptionalInt.empty();

  /**
   * The state of the workload on which a plan depends.
   *
   * @param replicas the replicas in the workload's spec, as last read or written
   * @param ready the number of ready pods
   * @param mayShrink whether all activators have reported for a whole window
   * @param quiet whether no activator has a request now
   */
  public record Situation(ScaleDecision decision, int replicas, int ready, boolean mayShrink,
      boolean quiet) {}

  /**
   * The next write, if any.
   *
   * @param write the replicas to write; empty if nothing is to be written
   * @param again when to plan again even without an event; empty if that is not necessary
   * @param note why the decision is not carried out; empty if it is
   */
  public record Plan(OptionalInt write, OptionalLong again, String note) {}

  /** @param lastDesired the replicas that the previous leader wanted; empty if it published none */
  public ScaleWritePlanner(long now, OptionalInt lastDesired) {
    activity = ActiveCondition.unknown(now);
    lastDemand = now;
    usedSince = now;
    lastUsed = now;
    override.before(lastDesired);
  }

  /** Records that a request waited, ran or arrived. */
  public void demanded(long now, boolean waitsOrRuns) {
    lastDemand = now;
    if (waitsOrRuns) {
      usedSince = now - lastUsed < UNUSED ? usedSince : now;
      lastUsed = now;
      override.demanded();
    }
  }

  /** What another client has done to the replicas since the last read. */
  public enum Change {
    NONE,
    SET,
    /** It has set replicas for an idle workload, which it keeps for one window. */
    WOKEN,
    /** The other autoscaler has ended the last pods while requests wait or run. */
    ENDED
  }

  /** Records the replicas that were read. */
  public Change sees(long now, int replicas, ScaleDecision decision, ScalingSettings settings) {
    if (!isChanged(replicas, decision, settings)) {
      return Change.NONE;
    }
    if (!override.isWoken()) {
      return settings.regime() == Regime.FROM_ZERO ? zeroed(now) : Change.SET;
    }
    lastDemand = now;
    return Change.WOKEN;
  }

  /** A zero of the other autoscaler. It may be from before the requests, and read late. */
  private Change zeroed(long now) {
    return now - lastUsed < UNUSED && now - usedSince > UNUSED ? Change.ENDED : Change.NONE;
  }

  private boolean isChanged(int replicas, ScaleDecision decision, ScalingSettings settings) {
    boolean first = !seen;
    seen = true;
    if (first && replicas < settings.bounds().min()) {
      // The previous leader may have published a number that it could not write any more.
      override.owns(replicas);
      return false;
    }
    int wanted = bounded(decision, settings);
    return switch (settings.regime()) {
      case ALONE -> false;
      case YIELDING -> override.sees(replicas, wanted);
      case ZERO_OR_ONE, FROM_ZERO -> {
        boolean woken = wanted == 0 && override.areOurs(0) && settings.regime() != Regime.FROM_ZERO;
        if (replicas > 0 && !woken) {
          override.owns(replicas);
          yield false;
        }
        yield override.sees(replicas, wanted);
      }
    };
  }

  /** Records that the bounds have changed. Replicas that another client set are no longer kept. */
  public void boundsChanged() {
    override.release();
  }

  /** Records a write without an answer. It may still take effect. */
  public void mayHaveWritten(int replicas) {
    override.mayHaveWritten(replicas);
  }

  public void wrote(int replicas) {
    override.owns(replicas);
  }

  public Plan plan(long now, Situation seen, ScalingSettings settings) {
    initialized |= seen.ready >= Math.max(settings.bounds().initial(), settings.bounds().min());
    int wanted = bounded(seen.decision, settings);
    if (override.isInForce() && seen.decision.isIdle() && settings.bounds().min() == 0) {
      // A decision reduces the ready pods step by step. While another client's pods are kept, it
      // would stay above zero.
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
    if (settings.regime() == Regime.FROM_ZERO) {
      activity = activity.withPods(now, seen.ready >= enough(settings));
      return new Plan(OptionalInt.empty(), OptionalLong.empty(),
          "it is idle, and the other autoscaler decides about its last pods");
    }
    return idle(now, seen, settings);
  }

  /** The plan of a workload whose requests wait until another one has stopped. */
  public Plan waiting(long now, String why) {
    activity = activity.withPods(now, false);
    // Otherwise the next leader would think that another client had set the replicas.
    desired = OptionalInt.of(0);
    return new Plan(OptionalInt.empty(), OptionalLong.empty(), why);
  }

  /** The plan of a workload that has to stop although it may have requests. */
  public Plan stopping(long now, Situation seen, String why) {
    activity = activity.withPods(now, false);
    desired = OptionalInt.of(0);
    return new Plan(seen.replicas == 0 ? OptionalInt.empty() : OptionalInt.of(0),
        OptionalLong.empty(), why);
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
      return new Plan(OptionalInt.empty(), OptionalLong.of(step.again()),
          override.isWoken() ? seen.replicas + WOKEN : "");
    }
    int left = step.outcome() == Outcome.ONE ? 1 : 0;
    desired = OptionalInt.of(left);
    // Replicas that another client set may stay although they are idle. Only an event changes that.
    var again = step.outcome() == Outcome.ZERO
        ? OptionalLong.empty()
        : OptionalLong.of(step.again());
    return toward(left, again, seen, settings);
  }

  private Plan toward(int wanted, OptionalLong again, Situation seen, ScalingSettings settings) {
    int now = seen.replicas;
    if (settings.regime().isBesideAnother() && now > 0 && wanted > 0) {
      return new Plan(OptionalInt.empty(), again, "");
    }
    if (settings.regime() != Regime.ALONE && !override.allows(wanted)) {
      return new Plan(OptionalInt.empty(), again,
          now + " was set by another client, and stays until the load gives a new reason");
    }
    if (wanted < now && !seen.mayShrink) {
      // Otherwise the next leader would think that another client had set the replicas.
      desired = OptionalInt.of(now);
      return new Plan(OptionalInt.empty(), again,
          "stays at " + now + " until every activator has reported for a whole window");
    }
    return new Plan(wanted == now ? OptionalInt.empty() : OptionalInt.of(wanted), again, "");
  }

  /** The number of pods of a decision, within the bounds. */
  public int bounded(ScaleDecision decision, ScalingSettings settings) {
    return settings.bounded(decision.pods(), initialized ? 0 : settings.bounds().initial());
  }

  /** The number of ready pods with which the workload becomes active. */
  private int enough(ScalingSettings settings) {
    int min = Math.max(1, settings.bounds().min());
    return initialized ? min : Math.max(min, settings.bounds().initial());
  }

  /** The current condition {@code Active}. */
  public ActiveCondition activity() {
    return activity;
  }

  /** The desired replicas, within the bounds; empty before they are known. */
  public OptionalInt desired() {
    return desired;
  }
}
