package dev.activator.standalone.autoscaler.policy;

import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Remembers a replica count that another client set on a workload, and keeps it until the load
 * gives a new reason to change it.
 */
final class ExternalScaleOverride {
  private OptionalInt ours = OptionalInt.empty();
  /** The replicas of writes without an answer. Such a write may still take effect after a read. */
  private final Set<Integer> uncertain = new HashSet<>();
  private @Nullable Current current;
  private boolean seen;

  /** The replicas that another client set, and those that we wanted at that time. */
  private static final class Current {
    private final int replicas;
    private final int wanted;
    private boolean demand;
    private boolean report;

    private Current(int replicas, int wanted) {
      this.replicas = replicas;
      this.wanted = wanted;
      this.demand = wanted > 0;
    }

    /** Whether pods were added to an idle workload. They go after a window without requests. */
    private boolean isWoken() {
      return wanted == 0 && replicas > 0;
    }
  }

  /**
   * Sets the replicas that the previous leader wanted. If they are empty, the first replicas that
   * are read count as ours.
   */
  void before(OptionalInt lastDesired) {
    ours = lastDesired;
  }

  void mayHaveWritten(int replicas) {
    uncertain.add(replicas);
  }

  /**
   * Records that these replicas are ours: we wrote them, or another client wrote the number that we
   * want.
   */
  void owns(int replicas) {
    ours = OptionalInt.of(replicas);
    uncertain.clear();
    current = null;
    seen = true;
  }

  /**
   * Records the replicas that were read.
   *
   * @param wanted the replicas that we want
   * @return whether another client has changed them
   */
  boolean sees(int replicas, int wanted) {
    boolean first = !seen;
    seen = true;
    if (areOurs(replicas)) {
      current = null;
      return false;
    }
    if (ours.isEmpty() || replicas == wanted || uncertain.contains(replicas)) {
      owns(replicas);
      return false;
    }
    if (current != null && current.replicas == replicas) {
      return false;
    }
    // After the first read we do not know the load yet, so the override is compared with what the
    // previous leader wanted.
    current = new Current(replicas, first ? ours.getAsInt() : wanted);
    return true;
  }

  void demanded() {
    if (current != null) {
      current.demand = true;
      current.report = true;
    }
  }

  /**
   * Whether the override permits to write this number. The override ends with the write, or if it
   * is the same number.
   */
  boolean allows(int next) {
    boolean allowed = current == null || releases(current, next);
    if (current != null && allowed && next == current.replicas) {
      owns(next);
    }
    return allowed;
  }

  private static boolean releases(Current current, int next) {
    if (current.replicas == 0) {
      return current.report;
    }
    if (current.replicas > current.wanted) {
      return next >= current.replicas || next == 0 && (current.demand || current.isWoken());
    }
    return next > current.wanted || next <= current.replicas;
  }

  /** Ends the override. The replicas that are read next count as ours. */
  void release() {
    current = null;
    ours = OptionalInt.empty();
  }

  boolean isInForce() {
    return current != null;
  }

  /** Whether the override is of pods that were added to an idle workload. */
  boolean isWoken() {
    return current != null && current.isWoken() && !current.demand;
  }

  /** Whether the last replicas that were ours had this number. */
  boolean areOurs(int replicas) {
    return ours.isPresent() && ours.getAsInt() == replicas;
  }
}
