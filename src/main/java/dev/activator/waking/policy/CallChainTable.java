package dev.activator.waking.policy;

import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The learned calls between revisions: one {@link CallChainEdge} for each pair of caller and
 * callee. It has at most 4,096 pairs; the least recently used one is evicted first. Not
 * thread-safe.
 */
public final class CallChainTable {
  static final int MAX_EDGES = 4_096;
  private static final int MAX_FAN_OUT = 16;

  /** The pairs, the least recently used one first. */
  private final LinkedHashMap<Call, CallChainEdge> edges = new LinkedHashMap<>(16, 0.75f, true);
  private final Map<RevisionId, Set<RevisionId>> callees = new HashMap<>();
  /** The callers of each callee, so that deleting a revision does not read all edges. */
  private final Map<RevisionId, Set<RevisionId>> callers = new HashMap<>();

  private record Call(RevisionId caller, RevisionId callee) {}

  /**
   * How long a revision takes to start.
   *
   * @param quickMillis the fastest of the last starts; 0 if unknown
   * @param slowMillis a duration that nine tenths of them did not exceed; 0 if unknown
   */
  public record StartTime(long quickMillis, long slowMillis) {
    public static final StartTime UNKNOWN = new StartTime(0, 0);
  }

  /**
   * A start that is expected to be useful.
   *
   * @param caller the revision that is expected to call it
   * @param edge the pair that the prediction is based on
   * @param afterMillis the time from now until the start should begin, so that the callee is ready
   *     when the call comes
   */
  public record Prediction(RevisionId callee, RevisionId caller, CallChainEdge edge,
      long afterMillis) {}

  /** @param arrivedMillis when the revision serves its first request */
  private record Step(RevisionId id, double share, int depth, long arrivedMillis,
      @Nullable Prediction by) {}

  public void called(RevisionId caller, RevisionId callee, int delayMillis) {
    var call = new Call(caller, callee);
    edges.put(call, edges.getOrDefault(call, CallChainEdge.UNKNOWN).called(delayMillis));
    callees.computeIfAbsent(caller, _ -> new HashSet<>(4)).add(callee);
    callers.computeIfAbsent(callee, _ -> new HashSet<>(4)).add(caller);
    if (edges.size() > MAX_EDGES) {
      remove(edges.firstEntry().getKey());
    }
  }

  public void missed(RevisionId caller, RevisionId callee) {
    edges.computeIfPresent(new Call(caller, callee), (_, edge) -> edge.missed());
  }

  private void remove(Call call) {
    edges.remove(call);
    remove(callees, call.caller, call.callee);
    remove(callers, call.callee, call.caller);
  }

  private static void remove(Map<RevisionId, Set<RevisionId>> from, RevisionId key,
      RevisionId other) {
    from.computeIfPresent(key, (_, all) -> {
      all.remove(other);
      return all.isEmpty() ? null : all;
    });
  }

  public void forget(RevisionId id) {
    callees(id).forEach(callee -> remove(new Call(id, callee)));
    Set.copyOf(callers.getOrDefault(id, Set.of()))
        .forEach(caller -> remove(new Call(caller, id)));
  }

  /** The revisions that this one is known to call. */
  public Set<RevisionId> callees(RevisionId caller) {
    return Set.copyOf(callees.getOrDefault(caller, Set.of()));
  }

  public CallChainEdge edge(RevisionId caller, RevisionId callee) {
    return edges.getOrDefault(new Call(caller, callee), CallChainEdge.UNKNOWN);
  }

  /**
   * The revisions that should start because {@code first} starts now, the most likely first. Each
   * is at most five calls away, and the product of the shares along these calls is at least 0.7.
   *
   * @param startTimes returns the start time of a revision
   */
  public List<Prediction> predict(RevisionId first,
      Function<RevisionId, StartTime> startTimes) {
    var found = new ArrayList<Prediction>();
    var visited = new HashSet<RevisionId>();
    var next = new PriorityQueue<>(Comparator.comparingDouble(Step::share).reversed());
    next.add(new Step(first, 1, 0, startTimes.apply(first).quickMillis, null));
    while (!next.isEmpty()) {
      var here = next.remove();
      if (!visited.add(here.id)) {
        continue;
      }
      if (here.by != null) {
        found.add(here.by);
      }
      if (here.depth < WakeWithNames.MAX_DEPTH) {
        next.addAll(following(here, startTimes));
      }
    }
    return found;
  }

  private List<Step> following(Step here, Function<RevisionId, StartTime> startTimes) {
    var steps = new ArrayList<Step>();
    for (var callee : callees.getOrDefault(here.id, Set.of())) {
      var edge = edge(here.id, callee);
      double share = here.share * edge.share();
      if (edge.wakes() && share >= CallChainEdge.MIN_SHARE) {
        long called = Math.max(0, here.arrivedMillis + edge.soonMillis());
        long takes = startTimes.apply(callee).slowMillis;
        long after = takes == 0 ? 0 : Math.max(0, called - takes);
        steps.add(new Step(callee, share, here.depth + 1, Math.max(called, after + takes),
            new Prediction(callee, here.id, edge, after)));
      }
    }
    steps.sort(Comparator.comparingDouble(Step::share).reversed());
    return steps.size() > MAX_FAN_OUT ? steps.subList(0, MAX_FAN_OUT) : steps;
  }
}
