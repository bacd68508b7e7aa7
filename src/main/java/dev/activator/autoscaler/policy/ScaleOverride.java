package dev.activator.autoscaler.policy;

import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Remembers a replica count that another client set on a workload, and keeps it until the load
 * gives a new reason to change it.
 */
final class ScaleOverride {
  private OptionalInt ours = OptionalInt.empty();
  /** Writes whose answers are missing: one that is on its way may still arrive after a read. */
  private final Set<Integer> uncertain = new HashSet<>();
  private @Nullable Hold hold;
  private boolean seen;

  /** Replicas that another set, when we wanted other ones. */
  private static final class Hold {
    private final int replicas;
    private final int wanted;
    private boolean demand;
    private boolean report;

    private Hold(int replicas, int wanted) {
      this.replicas = replicas;
      this.wanted = wanted;
      this.demand = wanted > 0;
    }
  }

  /** What the leader before us wanted; without it, the first replicas seen count as ours. */
  void before(OptionalInt lastDesired) {
    ours = lastDesired;
  }

  void mayHaveWritten(int replicas) {
    uncertain.add(replicas);
  }

  /** These replicas are ours: we wrote them, or another wrote what we want. */
  void owns(int replicas) {
    ours = OptionalInt.of(replicas);
    uncertain.clear();
    hold = null;
    seen = true;
  }

  /**
   * The workload has these replicas.
   *
   * @param wanted what we want it to have
   * @return whether another has changed them
   */
  boolean sees(int replicas, int wanted) {
    boolean first = !seen;
    seen = true;
    if (areOurs(replicas)) {
      hold = null;
      return false;
    }
    if (ours.isEmpty() || replicas == wanted || uncertain.contains(replicas)) {
      owns(replicas);
      return false;
    }
    if (hold != null && hold.replicas == replicas) {
      return false;
    }
    // What the leader before us wanted is what it was set against; we do not know the load yet.
    hold = new Hold(replicas, first ? ours.getAsInt() : wanted);
    return true;
  }

  void demanded() {
    if (hold != null) {
      hold.demand = true;
      hold.report = true;
    }
  }

  /** Whether we may write this. What is held ends with the write, or if there is nothing to write. */
  boolean allows(int next) {
    boolean allowed = hold == null || releases(hold, next);
    if (hold != null && allowed && next == hold.replicas) {
      owns(next);
    }
    return allowed;
  }

  private static boolean releases(Hold hold, int next) {
    if (hold.replicas == 0) {
      return hold.report;
    }
    if (hold.replicas > hold.wanted) {
      return next >= hold.replicas || next == 0 && hold.demand;
    }
    return next > hold.wanted || next <= hold.replicas;
  }

  /** There is a reason to change the replicas, whatever they are: those that are seen next are ours. */
  void release() {
    hold = null;
    ours = OptionalInt.empty();
  }

  boolean holds() {
    return hold != null;
  }

  /** Whether these were the replicas when they were last ours. */
  boolean areOurs(int replicas) {
    return ours.isPresent() && ours.getAsInt() == replicas;
  }
}
