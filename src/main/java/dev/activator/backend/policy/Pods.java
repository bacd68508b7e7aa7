package dev.activator.backend.policy;

import dev.activator.backend.policy.Candidate.Belief;
import dev.activator.backend.policy.Candidate.Phase;
import dev.activator.backend.policy.ProbeOutcome.Verdict;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.Listing;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The pods of one revision.
 *
 * @param listed what is known of each that Kubernetes lists, in order
 * @param leaving those no longer listed whose probe is still under way; if one comes back, it is not
 *     probed a second time before that has ended
 * @param ending those listed that end: requests go there only while no other pod serves
 */
public record Pods(SortedMap<Destination, Candidate> listed, Destinations leaving,
    Destinations ending) {
  static final Pods NONE = new Pods(new TreeMap<>(), Destinations.NONE, Destinations.NONE);

  public Pods {
    listed = Collections.unmodifiableSortedMap(listed);
  }

  @Nullable Candidate find(Destination pod) {
    return listed.get(pod);
  }

  /** Those listed for which this holds. */
  Destinations where(Predicate<Candidate> holds) {
    return Destinations.of(listed.entrySet().stream().filter(pod -> holds.test(pod.getValue()))
        .map(Map.Entry::getKey).toList());
  }

  /** Those that requests are sent to. */
  Destinations serving(Traits traits) {
    var all = where(traits::serves);
    var staying = ending.isEmpty() ? all : all.minus(ending);
    return staying.isEmpty() ? all : staying;
  }

  /** Whether nothing that was heard rules out a mesh, and every pod has been heard of. */
  boolean looksLikeAMesh() {
    return !listed.isEmpty()
        && listed.values().stream().allMatch(pod -> pod.lastWas(Verdict.MESH_LIKE));
  }

  Pods with(Destination pod, Candidate now) {
    var changed = new TreeMap<>(listed);
    changed.put(pod, now);
    return new Pods(changed, leaving, ending);
  }

  Pods each(UnaryOperator<Candidate> change) {
    var changed = new TreeMap<>(listed);
    changed.replaceAll((pod, known) -> change.apply(known));
    return new Pods(changed, leaving, ending);
  }

  boolean any(Predicate<Candidate> holds) {
    return listed.values().stream().anyMatch(holds);
  }

  /** What holds once Kubernetes lists these. */
  Pods relist(Listing pods, Traits traits, Duration now) {
    var next = new TreeMap<Destination, Candidate>();
    pods.ready().all().forEach(pod -> next.put(pod, listedReady(pod, now)));
    pods.notReady().all().forEach(pod -> next.put(pod, listedNotReady(pod, traits, now)));
    var underWay = leaving.plus(where(Candidate::isUnderWay));
    return new Pods(next, underWay.minus(Destinations.of(next.keySet())), pods.ending());
  }

  private Candidate listedReady(Destination pod, Duration now) {
    var known = listed.get(pod);
    if (known == null) {
      return appeared(pod, Candidate.fresh(true, now));
    }
    return known.ready() ? known : becameReady(known, now);
  }

  private Candidate listedNotReady(Destination pod, Traits traits, Duration now) {
    var known = listed.get(pod);
    if (known == null) {
      return appeared(pod, Candidate.fresh(false, now));
    }
    return known.ready() ? fellFromReady(known, traits, now) : known;
  }

  private Candidate appeared(Destination pod, Candidate fresh) {
    return leaving.contains(pod) ? fresh.in(Phase.ASKED_IN_VAIN) : fresh;
  }

  /** Whatever it failed at, it has a new chance at once. */
  private static Candidate becameReady(Candidate pod, Duration now) {
    return (pod.answers() ? pod : pod.believed(Belief.UNKNOWN, now)).calledReady(true).awake();
  }

  /** It may serve on, but is asked again, and an answer from before does not count. */
  private static Candidate fellFromReady(Candidate pod, Traits traits, Duration now) {
    boolean served = pod.answers() || traits.trusts(pod);
    return pod.believed(served ? Belief.DOUBTED : Belief.UNKNOWN, now).calledReady(false).afresh();
  }
}
