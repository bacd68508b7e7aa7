package dev.activator.cluster.policy;

import dev.activator.cluster.policy.ResolvedScaledService.Trouble;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The status of a ScaledService.
 *
 * @param replicas the pods of its Service, or else the replicas of the workload
 * @param desiredReplicas what the autoscaler has decided
 * @param observedGeneration the generation of the spec that this status describes
 */
public record ScaledServiceStatus(OptionalInt replicas, OptionalInt desiredReplicas,
    long observedGeneration, List<Condition> conditions) {
  public static final String READY = "Ready";
  public static final String ACTIVE = "Active";
  /**
   * The condition for an object that only a change of a manifest helps. It is present only while
   * true, as kstatus expects.
   */
  public static final String STALLED = "Stalled";
  /**
   * The condition for an object that waits for something else to appear. It is present only while
   * true.
   */
  public static final String RECONCILING = "Reconciling";
  private static final String NOT_DECIDED = "NotDecided";
  private static final Set<String> MISTAKES = Set.of("NoSelector", "TargetNotScalable",
      "NameTaken", "TargetTaken", "HostTaken", "RuleTaken", "HpaPresent", "InvalidRules",
      "InvalidSchedule", "InvalidAnnotation");

  public ScaledServiceStatus {
    conditions = List.copyOf(conditions);
  }

  /**
   * <b>Source.</b> {@code metav1.Condition}, KEP-1623.
   *
   * @param status {@code True}, {@code False} or {@code Unknown}
   * @param reason one word
   * @param message a sentence; may be empty
   * @param since when the status changed, as RFC 3339 writes it
   * @param generation of the spec that it is about
   */
  public record Condition(String type, String status, String reason, String message,
      String since, long generation) {}

  /**
   * How the leader scales it.
   *
   * @param active the condition {@code Active}: {@code True}, {@code False} or {@code Unknown}
   * @param trouble null if nothing keeps it from being scaled
   * @param note for the condition {@code Ready} while it is true; may be empty
   */
  public record Scaling(OptionalInt replicas, OptionalInt desiredReplicas, String active,
      String activeReason, String activeMessage, @Nullable Trouble trouble, String note) {}

  /**
   * The status that the leader should write now.
   *
   * @param scaling null before its first decision, and if another ScaledService scales the workload
   * @param now as RFC 3339 writes it
   */
  public ScaledServiceStatus next(ResolvedScaledService state, @Nullable Scaling scaling,
      String now) {
    var troubles = new ArrayList<>(state.troubles());
    if (scaling != null && scaling.trouble != null
        && troubles.stream().noneMatch(one -> one.reason().equals(scaling.trouble.reason()))) {
      troubles.add(scaling.trouble);
    }
    boolean isDecided = scaling != null || state.target() == null;
    if (!isDecided && troubles.isEmpty()) {
      return this;
    }
    long generation = state.object().generation();
    var known = new ArrayList<Condition>(3);
    known.add(ready(troubles, scaling, generation, now));
    known.add(active(state, scaling, now));
    if (!troubles.isEmpty()) {
      known.add(progress(troubles, generation, now));
    }
    // The scale subresource is read rarely, the pods are always known.
    var counted = state.listed().isPresent() || scaling == null
        ? state.listed()
        : scaling.replicas;
    return new ScaledServiceStatus(counted,
        scaling == null || scaling.desiredReplicas.isEmpty()
            ? desiredReplicas
            : scaling.desiredReplicas,
        generation, known);
  }

  private Condition ready(List<Trouble> troubles, @Nullable Scaling scaling, long generation,
      String now) {
    return troubles.isEmpty()
        ? changed(READY, "True", READY, scaling == null ? "" : scaling.note, generation, now)
        : changed(READY, "False", troubles.getFirst().reason(), text(troubles), generation, now);
  }

  /**
   * <b>Source.</b> kstatus: an object with the first is failed, one with the second in progress, and one
   * without both current.
   */
  private Condition progress(List<Trouble> troubles, long generation, String now) {
    var mistakes = troubles.stream().filter(one -> MISTAKES.contains(one.reason())).toList();
    var found = mistakes.isEmpty() ? troubles : mistakes;
    return changed(mistakes.isEmpty() ? RECONCILING : STALLED, "True", found.getFirst().reason(),
        text(found), generation, now);
  }

  private static String text(List<Trouble> troubles) {
    return troubles.stream().map(Trouble::message).collect(Collectors.joining("; "));
  }

  private Condition active(ResolvedScaledService state, @Nullable Scaling scaling, String now) {
    long generation = state.object().generation();
    if (scaling != null) {
      return changed(ACTIVE, scaling.active,
          scaling.activeReason.isEmpty() ? ACTIVE : scaling.activeReason, scaling.activeMessage,
          generation, now);
    }
    var before = condition(ACTIVE);
    return state.target() == null || before == null
        ? changed(ACTIVE, "Unknown", state.target() == null ? "NotScaled" : NOT_DECIDED, "",
            generation, now)
        : changed(ACTIVE, before.status, before.reason.isEmpty() ? ACTIVE : before.reason,
            before.message, generation, now);
  }

  /** Keeps {@code since} while the status is the same. */
  private Condition changed(String type, String status, String reason, String message,
      long generation, String now) {
    var before = condition(type);
    return new Condition(type, status, reason, message,
        before != null && before.status.equals(status) ? before.since : now, generation);
  }

  /** Null if it has none of this type. */
  public @Nullable Condition condition(String type) {
    return conditions.stream().filter(one -> one.type.equals(type)).findFirst().orElse(null);
  }

  /** The reason why it is not ready; empty if it is, or if that is unknown. */
  public String trouble() {
    var ready = condition(READY);
    return ready != null && ready.status.equals("False") ? ready.reason : "";
  }
}
