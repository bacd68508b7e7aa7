package dev.activator.backend.policy;

import dev.activator.backend.policy.PodHealth.State;
import dev.activator.backend.policy.PodHealth.Phase;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PodsByReadiness.Identity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The health of a revision's pods, by destination.
 *
 * @param leaving pods that are no longer listed but have a probe in flight. If such a pod is listed
 *     again, its next probe waits for the end of that probe
 * @param ending terminating pods; they get requests only if no other pod serves
 * @param identities the uids of the pods, where known
 */
public record RevisionPodHealth(SortedMap<Destination, PodHealth> listed, DestinationSet leaving,
    DestinationSet ending, Map<Destination, Identity> identities) {
  static final RevisionPodHealth NONE = new RevisionPodHealth(new TreeMap<>(), DestinationSet.NONE,
      DestinationSet.NONE, Map.of());

  @Nullable PodHealth find(Destination pod) {
    return listed.get(pod);
  }

  boolean any(Predicate<PodHealth> condition) {
    for (var pod : listed.values()) {
      if (condition.test(pod)) {
        return true;
      }
    }
    return false;
  }

  DestinationSet where(Predicate<PodHealth> condition) {
    var found = new ArrayList<Destination>(listed.size());
    listed.forEach((pod, known) -> {
      if (condition.test(known)) {
        found.add(pod);
      }
    });
    return DestinationSet.of(found);
  }

  /** @param serves whether requests may go to a pod */
  DestinationSet serving(Predicate<PodHealth> serves) {
    var all = where(serves);
    var staying = ending.isEmpty() ? all : all.minus(ending);
    return staying.isEmpty() ? all : staying;
  }

  /** Whether all pods meet the condition; false if there are none. */
  boolean all(Predicate<PodHealth> condition) {
    return !listed.isEmpty() && !any(condition.negate());
  }

  RevisionPodHealth with(Destination pod, PodHealth now) {
    var changed = new TreeMap<>(listed);
    changed.put(pod, now);
    return new RevisionPodHealth(changed, leaving, ending, identities);
  }

  RevisionPodHealth each(UnaryOperator<PodHealth> change) {
    var changed = new TreeMap<>(listed);
    changed.replaceAll((pod, known) -> change.apply(known));
    return new RevisionPodHealth(changed, leaving, ending, identities);
  }

  RevisionPodHealth leaving(DestinationSet now) {
    return new RevisionPodHealth(listed, now, ending, identities);
  }

  RevisionPodHealth relist(PodsByReadiness pods, ProbePolicy policy, Duration now) {
    var reassigned = reassigned(pods);
    return reassigned.isEmpty()
        ? relistSame(pods, policy, now)
        : without(reassigned).relistSame(pods, policy, now);
  }

  /** The addresses that now belong to another pod, so that the health of the old pod is dropped. */
  private DestinationSet reassigned(PodsByReadiness pods) {
    return DestinationSet.of(identities.keySet().stream().filter(pod -> isAnother(pod, pods))
        .toList());
  }

  private boolean isAnother(Destination pod, PodsByReadiness pods) {
    var before = identities.get(pod);
    var now = pods.identities().get(pod);
    if (before == null || now == null) {
      return false;
    }
    // Without uids, a pod that became unready in between is assumed to be replaced.
    return before.uid().isEmpty() || now.uid().isEmpty()
        ? missedChange(pod, pods)
        : !before.uid().equals(now.uid());
  }

  /** Whether the readiness has changed and changed back since the last listing. */
  private boolean missedChange(Destination pod, PodsByReadiness pods) {
    var before = identities.get(pod);
    var now = pods.identities().get(pod);
    var known = listed.get(pod);
    return before != null && now != null && known != null
        && known.ready() == pods.ready().contains(pod)
        && !before.since().isEmpty() && !now.since().isEmpty()
        && !before.since().equals(now.since());
  }

  private RevisionPodHealth without(DestinationSet gone) {
    var rest = new TreeMap<>(listed);
    rest.keySet().removeIf(gone::contains);
    var inFlight = where(PodHealth::isInFlight).intersect(gone);
    return new RevisionPodHealth(rest, leaving.plus(inFlight), ending, identities);
  }

  private RevisionPodHealth relistSame(PodsByReadiness pods, ProbePolicy policy, Duration now) {
    var next = new TreeMap<Destination, PodHealth>();
    pods.ready().all()
        .forEach(pod -> next.put(pod, listedReady(pod, missedChange(pod, pods), policy, now)));
    pods.notReady().all()
        .forEach(pod -> next.put(pod, listedNotReady(pod, missedChange(pod, pods), policy, now)));
    var inFlight = leaving.plus(where(PodHealth::isInFlight));
    return new RevisionPodHealth(next, inFlight.minus(DestinationSet.of(next.keySet())),
        pods.ending(), pods.identities());
  }

  private PodHealth listedReady(Destination pod, boolean missedUnready, ProbePolicy policy,
      Duration now) {
    var known = listed.get(pod);
    if (known == null) {
      return appeared(pod, true, now);
    }
    if (missedUnready) {
      return becameReady(becameUnready(known, policy, now), now);
    }
    return known.ready() ? known : becameReady(known, now);
  }

  private PodHealth listedNotReady(Destination pod, boolean missedUnready, ProbePolicy policy,
      Duration now) {
    var known = listed.get(pod);
    if (known == null) {
      return appeared(pod, false, now);
    }
    return known.ready() || missedUnready ? becameUnready(known, policy, now) : known;
  }

  PodHealth appeared(Destination address, boolean ready, Duration now) {
    var fresh = PodHealth.fresh(ready, now);
    return leaving.contains(address) ? fresh.in(Phase.OUTDATED) : fresh;
  }

  /** The health of a pod that became ready. It is probed again without a pause. */
  private static PodHealth becameReady(PodHealth pod, Duration now) {
    return (pod.answers() ? pod : pod.became(State.UNKNOWN, now)).listedAsReady(true)
        .withoutPause();
  }

  /**
   * The health of a pod that became unready. It continues to serve, but the answer of an earlier
   * probe does not count.
   */
  private static PodHealth becameUnready(PodHealth pod, ProbePolicy policy, Duration now) {
    boolean served = pod.answers() || policy.servesUnprobed(pod);
    return pod.became(served ? State.UNCONFIRMED : State.UNKNOWN, now).listedAsReady(false)
        .withNewProbe();
  }
}
