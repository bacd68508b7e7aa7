package dev.activator.standalone.policy;

import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The status of a ScaledService, and the rules by which the leader updates it.
 *
 * @param replicas the number of pods of the Service, or else the replicas of the workload
 * @param desiredReplicas the decision of the autoscaler
 * @param observedGeneration the generation of the spec that this status describes
 * @param ports the ports of the activators that lead to TCP ports, by the names of these
 * @param state whether the workload runs, in one word; empty while that is unknown
 * @param target kind and name of what is scaled, such as {@code Deployment/web}
 */
public record ScaledServiceStatus(OptionalInt replicas, OptionalInt desiredReplicas,
    long observedGeneration, List<Condition> conditions, Map<String, Integer> ports, String state,
    String target) {
  public static final String READY = "Ready";
  public static final String ACTIVE = "Active";
  /**
   * The condition that a problem can only be solved by a change of a manifest. It is present only
   * while true, as kstatus expects.
   */
  public static final String STALLED = "Stalled";
  /**
   * The condition that the object waits for something, such as another object. It is present only
   * while true.
   */
  public static final String RECONCILING = "Reconciling";
  /** The condition that a node takes the pods. It is present only while false. */
  public static final String PODS_SCHEDULED = "PodsScheduled";
  private static final String NOT_DECIDED = "NotDecided";
  private static final Set<String> WAKES = Set.of(ScaleState.WAKING.text(),
      ScaleState.WAITING.text());
  private static final Set<String> MISTAKES = Set.of("NoSelector", "TargetNotScalable",
      "NameTaken", "TargetTaken", "HostTaken", "RuleTaken", "HpaPresent", "InvalidRules",
      "InvalidSchedule", "InvalidAnnotation", "InvalidWake", "InvalidIdle", "FeatureNotInstalled",
      "PodsSpeakTls",
      "RulePortSpeaksTls", ScaledServiceTroubles.PORT_TAKEN, "SniTaken", "TimeoutTooLong");

  /** One without TCP ports, and without a state. */
  public ScaledServiceStatus(OptionalInt replicas, OptionalInt desiredReplicas,
      long observedGeneration, List<Condition> conditions) {
    this(replicas, desiredReplicas, observedGeneration, conditions, Map.of(), "", "");
  }

  public ScaledServiceStatus {
    conditions = List.copyOf(conditions);
    ports = Map.copyOf(ports);
  }

  /**
   * <b>Source.</b> {@code metav1.Condition}, KEP-1623.
   *
   * @param status {@code True}, {@code False} or {@code Unknown}
   * @param reason one word
   * @param message one sentence; may be empty
   * @param since when the status changed, in RFC 3339
   * @param generation the generation of the spec that the condition describes
   */
  public record Condition(String type, String status, String reason, String message,
      String since, long generation) {}

  /**
   * The autoscaler's part of the status.
   *
   * @param active the condition {@code Active}: {@code True}, {@code False} or {@code Unknown}
   * @param trouble null if nothing keeps it from being scaled
   * @param note for the condition {@code Ready} while it is true; may be empty
   * @param state whether the workload runs, in one word; empty while that is unknown
   */
  public record Scaling(OptionalInt replicas, OptionalInt desiredReplicas, String active,
      String activeReason, String activeMessage, @Nullable Trouble trouble, String note,
      String state) {}

  /**
   * The status that the leader should write.
   *
   * @param scaling null before the autoscaler's first decision, and if this object does not scale
   *     the workload
   * @param start why no pod starts; null if none fails
   * @param now the time in RFC 3339
   */
  public ScaledServiceStatus next(ResolvedScaledService state, @Nullable Scaling scaling,
      @Nullable Trouble start, String now) {
    var troubles = new ArrayList<>(state.troubles());
    if (scaling != null && scaling.trouble != null
        && troubles.stream().noneMatch(one -> one.reason().equals(scaling.trouble.reason()))) {
      troubles.add(scaling.trouble);
    }
    boolean isDecided = scaling != null || state.target() == null;
    var leading = state.tcp().chosen();
    if (!isDecided && troubles.isEmpty()) {
      // Activators need the ports before the first decision.
      return leading.equals(ports)
          ? this
          : new ScaledServiceStatus(replicas, desiredReplicas, observedGeneration, conditions,
              leading, this.state, target);
    }
    if (start != null) {
      troubles.add(start);
    }
    long generation = state.object().generation();
    var known = new ArrayList<Condition>(3);
    known.add(ready(troubles, scaling, generation, now));
    known.add(active(state, scaling, now));
    if (!troubles.isEmpty()) {
      known.add(progress(troubles, generation, now));
    }
    var scaled = state.target() == null ? state.object().workload() : state.target().workload();
    // The number of pods is preferred, because the scale subresource is read rarely.
    var counted = state.listed().isPresent() || scaling == null
        ? state.listed()
        : scaling.replicas;
    return new ScaledServiceStatus(counted,
        scaling == null || scaling.desiredReplicas.isEmpty()
            ? desiredReplicas
            : scaling.desiredReplicas,
        generation, known, leading, word(state, scaling),
        scaled.kind() + "/" + scaled.name());
  }

  /** Whether it runs, in one word. Pods that are hidden while they are asleep do not count as running. */
  private static String word(ResolvedScaledService state, @Nullable Scaling scaling) {
    var idle = state.object().idle().state();
    if (idle != null) {
      return switch (idle.phase()) {
        case FALLING_ASLEEP -> "stopping";
        case ASLEEP -> scaling != null && isWake(scaling) ? scaling.state : "asleep";
        case WAKING -> "waking";
      };
    }
    return scaling == null ? "" : scaling.state;
  }

  /**
   * The decision to wake pods is known before that is stored. One that has replicas is from before they
   * were asleep: they are hidden while they fall asleep, and look as if they started.
   */
  private static boolean isWake(Scaling scaling) {
    return WAKES.contains(scaling.state) && scaling.replicas.orElse(0) == 0;
  }

  /**
   * This status, with the condition that no node takes the pods.
   *
   * @param before the status that is written
   */
  public ScaledServiceStatus unscheduled(String reason, String message, ScaledServiceStatus before,
      String now) {
    var known = new ArrayList<>(conditions);
    // Before the first decision, this is the status that the last leader has written.
    known.removeIf(one -> one.type.equals(PODS_SCHEDULED));
    known.add(before.changed(PODS_SCHEDULED, "False", reason, message, observedGeneration, now));
    return new ScaledServiceStatus(replicas, desiredReplicas, observedGeneration, known, ports,
        state, target);
  }

  private Condition ready(List<Trouble> troubles, @Nullable Scaling scaling, long generation,
      String now) {
    return troubles.isEmpty()
        ? changed(READY, "True", READY, scaling == null ? "" : scaling.note, generation, now)
        : changed(READY, "False", troubles.getFirst().reason(), text(troubles), generation, now);
  }

  /**
   * The condition {@code Stalled} or {@code Reconciling}. <b>Source.</b> kstatus: an object with
   * the first has failed, an object with the second is in progress, and an object with neither is
   * current.
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
    var target = state.target();
    if (scaling != null && scaling.active.equals("False") && target != null
        && !target.refusal().isEmpty()) {
      return changed(ACTIVE, scaling.active, "RequestsRefused",
          "Requests start no pod: " + target.refusal(), generation, now);
    }
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

  /** A condition that keeps {@code since} if its status has not changed. */
  private Condition changed(String type, String status, String reason, String message,
      long generation, String now) {
    var before = condition(type);
    return new Condition(type, status, reason, message,
        before != null && before.status.equals(status) ? before.since : now, generation);
  }

  /** The condition of this type; null if there is none. */
  public @Nullable Condition condition(String type) {
    return conditions.stream().filter(one -> one.type.equals(type)).findFirst().orElse(null);
  }

  /** The reason why the object is not ready; empty if it is ready, or if that is unknown. */
  public String trouble() {
    var ready = condition(READY);
    return ready != null && ready.status.equals("False") ? ready.reason : "";
  }

  /** Whether the trouble is also seen for a moment while the named object is created or replaced. */
  public boolean mayEndSoon() {
    return ScaledServiceTroubles.SEEN_IN_REPLACEMENTS.contains(trouble());
  }
}
