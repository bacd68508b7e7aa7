package dev.activator.cluster.policy;

import dev.activator.cluster.policy.ScaledServiceState.Trouble;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
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
  public static final ScaledServiceStatus NONE = new ScaledServiceStatus(OptionalInt.empty(),
      OptionalInt.empty(), 0, List.of());

  public ScaledServiceStatus {
    conditions = List.copyOf(conditions);
  }

  /**
   * @param status {@code True}, {@code False} or {@code Unknown}
   * @param reason one word; may be empty
   * @param message a sentence; may be empty
   * @param since when the status changed, as RFC 3339 writes it
   */
  public record Condition(String type, String status, String reason, String message,
      String since) {}

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
   * What the leader should write now.
   *
   * @param scaling null before its first decision, and if another ScaledService scales the workload
   * @param now as RFC 3339 writes it
   */
  public ScaledServiceStatus next(ScaledServiceState state, @Nullable Scaling scaling, String now) {
    var troubles = new ArrayList<>(state.troubles());
    if (scaling != null && scaling.trouble != null
        && troubles.stream().noneMatch(one -> one.reason().equals(scaling.trouble.reason()))) {
      troubles.add(scaling.trouble);
    }
    boolean isDecided = scaling != null || state.target() == null;
    if (!isDecided && troubles.isEmpty()) {
      return this;
    }
    var known = new ArrayList<Condition>(2);
    known.add(ready(troubles, scaling, now));
    known.add(active(state, scaling, now));
    // The scale subresource is read rarely, the pods are always known.
    var counted = state.listed().isPresent() || scaling == null
        ? state.listed()
        : scaling.replicas;
    return new ScaledServiceStatus(counted,
        scaling == null || scaling.desiredReplicas.isEmpty()
            ? desiredReplicas
            : scaling.desiredReplicas,
        state.object().generation(),
        known);
  }

  private Condition ready(List<Trouble> troubles, @Nullable Scaling scaling, String now) {
    return troubles.isEmpty()
        ? changed(READY, "True", "", scaling == null ? "" : scaling.note, now)
        : changed(READY, "False", troubles.getFirst().reason(),
            troubles.stream().map(Trouble::message).collect(Collectors.joining("; ")), now);
  }

  private Condition active(ScaledServiceState state, @Nullable Scaling scaling, String now) {
    if (scaling != null) {
      return changed(ACTIVE, scaling.active, scaling.activeReason, scaling.activeMessage, now);
    }
    var before = condition(ACTIVE);
    return state.target() == null || before == null
        ? changed(ACTIVE, "Unknown", state.target() == null ? "NotScaled" : "", "", now)
        : before;
  }

  /** Keeps {@code since} while the status is the same. */
  private Condition changed(String type, String status, String reason, String message,
      String now) {
    var before = condition(type);
    return new Condition(type, status, reason, message,
        before != null && before.status.equals(status) ? before.since : now);
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
