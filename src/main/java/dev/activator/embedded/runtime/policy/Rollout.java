package dev.activator.embedded.runtime.policy;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides the number of replicas of each ReplicaSet of a Deployment.
 *
 * @param current the ReplicaSet of the Deployment's template; null while a paused Deployment has
 *     none
 * @param earlier the ReplicaSets of earlier templates
 */
public record Rollout(@Nullable Member current, List<Member> earlier) {
  private static final Comparator<Member> NEWEST_FIRST = Comparator.comparing(Member::revision)
      .reversed();

  /** @param replicas the replicas in its spec */
  public record Member(String name, long revision, int replicas, int ready) {}

  public Rollout {
    earlier = earlier.stream().sorted(NEWEST_FIRST).toList();
  }

  /**
   * The replicas of each ReplicaSet. The current one gets all replicas at once. Together, the
   * earlier ones keep one replica for each replica of the current one that is not ready.
   */
  public Map<String, Integer> replicas(int wanted) {
    var replicas = new HashMap<String, Integer>();
    int kept = wanted;
    if (current != null) {
      replicas.put(current.name(), wanted);
      kept = Math.max(0, wanted - current.ready());
    }
    for (var member : earlier) {
      int healthy = Math.min(kept, Math.min(member.ready(), member.replicas()));
      replicas.put(member.name(), healthy);
      kept -= healthy;
    }
    for (var member : earlier) {
      int more = Math.min(kept, member.replicas() - replicas.getOrDefault(member.name(), 0));
      replicas.merge(member.name(), more, Integer::sum);
      kept -= more;
    }
    return replicas;
  }

  /**
   * The replicas while the Deployment is paused. A difference is added to the newest ReplicaSet
   * that has replicas.
   */
  public Map<String, Integer> pausedReplicas(int wanted) {
    var all = Stream.concat(Stream.ofNullable(current), earlier.stream()).toList();
    var replicas = new HashMap<String, Integer>();
    all.forEach(member -> replicas.put(member.name(), member.replicas()));
    int missing = wanted - all.stream().mapToInt(Member::replicas).sum();
    all.stream().filter(member -> member.replicas() > 0).findFirst()
        .or(() -> all.stream().findFirst())
        .ifPresent(member -> replicas.merge(member.name(), missing,
            (have, more) -> Math.max(0, have + more)));
    return replicas;
  }
}
