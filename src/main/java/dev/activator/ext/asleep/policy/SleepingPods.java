package dev.activator.ext.asleep.policy;

import dev.activator.revision.DestinationSet;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a leader has put to sleep.
 *
 * @param pods all that were listed then, except those that were starting, so that later ones are known
 * @param state what is stored about them
 */
public record SleepingPods(PodsByReadiness pods, IdleTarget target, IdleState state) {
  /**
   * @param before what was asleep before; null if that is unknown, so that none is known to be starting
   * @param which of the pods are put to sleep now
   */
  public static SleepingPods of(@Nullable SleepingPods before, PodsByReadiness now,
      DestinationSet which, IdleTarget target, IdleState state) {
    var starting = before == null ? DestinationSet.NONE : before.starting(now).minus(which);
    return new SleepingPods(new PodsByReadiness(now.ready(), now.notReady().minus(starting),
        now.ending(), now.identities()), target, state);
  }

  /** Those that are ready, and awake, because they have started since. */
  public DestinationSet started(PodsByReadiness now) {
    return DestinationSet.of(now.ready().minus(now.ending()).all().stream().filter(
        pod -> !Objects.equals(now.identities().get(pod), pods.identities().get(pod))).toList());
  }

  /** Those that may be asleep: one that has just started need not even listen. */
  public DestinationSet asleep(PodsByReadiness now) {
    return now.all().minus(starting(now));
  }

  private DestinationSet starting(PodsByReadiness now) {
    return now.notReady().minus(pods.all());
  }
}
