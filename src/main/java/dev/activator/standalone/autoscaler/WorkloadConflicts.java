package dev.activator.standalone.autoscaler;

import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Event;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.On;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Phase;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Seen;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Settings;
import dev.activator.standalone.policy.ConflictSpec;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets workloads that conflict with each other run one after another, for one term: an arbiter for each
 * namespace, since no other can be named.
 *
 * <p><b>Threads.</b> The term's loop.
 */
final class WorkloadConflicts {
  private final Loop loop;
  private final long origin;
  private final ResettableTimer turns;
  private final Map<RevisionId, Workload> workloads = new HashMap<>();
  /** By namespace, with the workloads that name or are named. */
  private final Map<String, ConflictArbiter> arbiters = new HashMap<>();
  /** Those that others name, by namespace. */
  private final Map<String, Set<RevisionId>> named = new HashMap<>();

  /** @param evaluate decides again how many replicas it has */
  private record Workload(Settings settings, Runnable evaluate) {}

  /** A workload that is not scaled, with the number of its pods. */
  record Unscaled(Settings settings, int pods) {
    static final Unscaled NONE = new Unscaled(new Settings(ConflictSpec.NONE, Duration.ZERO), 0);

    Unscaled with(int now) {
      return new Unscaled(settings, now);
    }
  }

  WorkloadConflicts(Loop loop) {
    this.loop = loop;
    this.origin = loop.nanoTime();
    this.turns = new ResettableTimer(loop, this::timePassed);
  }

  /** Adds a workload, or changes its settings. */
  void configured(RevisionId id, Settings settings, Runnable evaluate) {
    var now = new Workload(settings, evaluate);
    var before = workloads.put(id, now);
    if (before == null || !before.settings.equals(now.settings)) {
      changed(id, before, now);
    }
  }

  /** Others wait until a workload that is not scaled has no pods left. */
  void unscaled(RevisionId id, Unscaled now) {
    if (now.pods == 0) {
      changed(id, workloads.remove(id), null);
    } else {
      configured(id, now.settings, () -> {
      });
      // One that was never scaled may be later, and keeps its pods then. Others wait for it as well.
      if (phase(id) != Phase.UNKNOWN) {
        observed(id, new Seen(On.ENDING, false, false, false));
      }
    }
  }

  /** Most workloads neither name another one nor are named. */
  private void changed(RevisionId id, @Nullable Workload before, @Nullable Workload now) {
    if (names(before) || names(now)
        || named.getOrDefault(id.namespace(), Set.of()).contains(id)) {
      replaceMembers(id.namespace());
    }
  }

  private static boolean names(@Nullable Workload one) {
    return one != null && !one.settings.conflicts().with().isEmpty();
  }

  private void replaceMembers(String namespace) {
    var all = new HashMap<RevisionId, Settings>();
    var others = new HashSet<RevisionId>();
    workloads.forEach((id, one) -> {
      if (id.namespace().equals(namespace) && names(one)) {
        all.put(id, one.settings);
        others.addAll(one.settings.conflicts().with());
      }
    });
    others.forEach(id -> {
      var one = workloads.get(id);
      if (one != null) {
        all.put(id, one.settings);
      }
    });
    named.put(namespace, others);
    var known = Set.copyOf(arbiters.getOrDefault(namespace, ConflictArbiter.EMPTY).members()
        .keySet());
    // First those that others may name from now on, and last those that they named: otherwise one that
    // waits would seem to conflict with none in between.
    all.entrySet().stream().sorted(Comparator.comparing(one -> known.contains(one.getKey())))
        .forEach(one -> on(namespace, new Event.Configured(one.getKey(), one.getValue())));
    known.stream().filter(id -> !all.containsKey(id))
        .forEach(id -> on(namespace, new Event.Removed(id)));
  }

  /** Reports what is seen of a workload, and returns what it may do. */
  Phase observed(RevisionId id, Seen seen) {
    var arbiter = arbiters.get(id.namespace());
    if (arbiter == null || !arbiter.members().containsKey(id)) {
      return Phase.RUNNING;
    }
    on(id.namespace(), new Event.Observed(id, seen));
    return phase(id);
  }

  private Phase phase(RevisionId id) {
    return arbiters.getOrDefault(id.namespace(), ConflictArbiter.EMPTY).phase(id);
  }

  /** Why a workload waits or stops; empty if it does neither. */
  String reason(RevisionId id) {
    return arbiters.getOrDefault(id.namespace(), ConflictArbiter.EMPTY).reason(id);
  }

  /** Decides about all of them again, since requests may have ended. */
  void evaluate() {
    arbiters.values().forEach(arbiter -> arbiter.members().keySet().forEach(this::evaluateLater));
  }

  private void timePassed() {
    List.copyOf(arbiters.keySet()).forEach(name -> on(name, new Event.TimePassed()));
  }

  private void on(String namespace, Event event) {
    long now = loop.nanoTime() - origin;
    var before = arbiters.getOrDefault(namespace, ConflictArbiter.EMPTY);
    var next = before.on(now, event);
    if (next.members().isEmpty()) {
      arbiters.remove(namespace);
    } else {
      arbiters.put(namespace, next);
    }
    next.members().keySet().stream().filter(id -> before.phase(id) != next.phase(id))
        .forEach(this::evaluateLater);
    arbiters.values().stream().map(arbiter -> arbiter.again(now))
        .flatMapToLong(OptionalLong::stream).min()
        .ifPresent(due -> turns.within(Math.max(0, due - now)));
  }

  private void evaluateLater(RevisionId id) {
    loop.execute(() -> {
      var workload = workloads.get(id);
      if (workload != null) {
        workload.evaluate.run();
      }
    });
  }
}
