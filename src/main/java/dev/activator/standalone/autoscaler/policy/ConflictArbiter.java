package dev.activator.standalone.autoscaler.policy;

import dev.activator.standalone.policy.ConflictSpec;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which of the workloads that conflict with each other may run, as a value. Those that wait get their
 * turn in the order in which they began to wait, so that none starves, whatever conflicts with what. One
 * that runs has to yield to the next that waits: at once if it has no requests, else when it has been
 * ready for a time.
 *
 * <p><b>Units.</b> Nanoseconds of the autoscaler's clock.
 */
public record ConflictArbiter(SortedMap<RevisionId, Member> members) {
  public static final ConflictArbiter EMPTY = new ConflictArbiter(new TreeMap<>());

  public ConflictArbiter {
    members = Collections.unmodifiableSortedMap(new TreeMap<>(members));
  }

  /** @param startTimeout how long it may take to become ready while another one waits */
  public record Settings(ConflictSpec conflicts, Duration startTimeout) {}

  /**
   * What is known of a workload.
   *
   * @param on whether it has replicas or pods
   * @param isWanted whether it should have replicas
   * @param hasRequests whether requests wait or run
   */
  public record Seen(On on, boolean isReady, boolean isWanted, boolean hasRequests) {
    private boolean isOff() {
      return on == On.OFF;
    }
  }

  /** Whether a workload has replicas or pods. */
  public enum On {
    /** It has neither. */
    OFF,
    /** It has no replicas, and its last pods are ending. */
    ENDING,
    /** It has replicas, and the leader before had decided that it should have none. */
    DECIDED_OFF,
    ON
  }

  public enum Phase {
    /** Not read yet, so it may run. */
    UNKNOWN,
    /** It is off, and should be. */
    OFF,
    /** It is off, and should not be. */
    WAITING,
    /** It runs, or may be started. */
    RUNNING,
    /** It has to stop. */
    YIELDING
  }

  /**
   * @param seen null while it is not known
   * @param since when the phase began; of one that runs, when it became ready
   * @param wasReady whether it was ready in this phase
   */
  public record Member(Settings settings, @Nullable Seen seen, Phase phase, long since,
      boolean wasReady) {
    private boolean hasRequests() {
      return seen != null && seen.hasRequests;
    }

    private boolean seenOff() {
      return seen != null && seen.isOff();
    }

    private boolean isOff() {
      return phase == Phase.OFF || phase == Phase.WAITING;
    }

    private Member to(Phase next, long now) {
      return next == phase ? this : new Member(settings, seen, next, now, false);
    }

    /** When it has to yield to requests that wait for another one. */
    private long end() {
      return since
          + (wasReady ? settings.conflicts.yieldAfter() : settings.startTimeout).toNanos();
    }

    /** The phase that follows from what is seen, without regard to the others. */
    private Member next(long now) {
      if (seen == null) {
        return this;
      }
      var idle = seen.isWanted ? Phase.WAITING : Phase.OFF;
      var next = switch (phase) {
        case UNKNOWN -> switch (seen.on) {
          case OFF -> to(idle, now);
          case ENDING -> to(Phase.YIELDING, now);
          // Its turn was over, or it had no requests.
          case DECIDED_OFF -> new Member(settings, seen, Phase.RUNNING,
              now - settings.conflicts.yieldAfter().toNanos(), true);
          case ON -> to(Phase.RUNNING, now);
        };
        case OFF, WAITING -> to(seen.isOff() ? idle : Phase.RUNNING, now);
        case RUNNING -> seen.isOff() && !seen.isWanted ? to(Phase.OFF, now) : this;
        case YIELDING -> seen.isOff() ? to(idle, now) : this;
      };
      return next.phase == Phase.RUNNING && !next.wasReady && seen.isReady
          ? new Member(settings, seen, next.phase, now, true)
          : next;
    }
  }

  public sealed interface Event {
    /** A workload is new, or its settings have changed. */
    record Configured(RevisionId id, Settings settings) implements Event {}

    record Removed(RevisionId id) implements Event {}

    record Observed(RevisionId id, Seen seen) implements Event {}

    record TimePassed() implements Event {}
  }

  public ConflictArbiter on(long now, Event event) {
    var next = new TreeMap<>(members);
    switch (event) {
      case Event.Configured(var id, var settings) -> {
        var known = next.get(id);
        next.put(id, known == null
            ? new Member(settings, null, Phase.UNKNOWN, now, false)
            : new Member(settings, known.seen, known.phase, known.since, known.wasReady));
      }
      case Event.Removed(var id) -> next.remove(id);
      case Event.Observed(var id, var seen) -> next.computeIfPresent(id, (_, known) -> new Member(
          known.settings, seen, known.phase, known.since, known.wasReady));
      case Event.TimePassed() -> {
      }
    }
    next.replaceAll((_, member) -> member.next(now));
    var arbiter = new ConflictArbiter(next);
    // Another client may have started one beside another.
    var kept = new ArrayList<RevisionId>();
    for (var id : arbiter.ordered(Phase.RUNNING)) {
      if (kept.stream().anyMatch(other -> conflicts(next, id, other))) {
        next.computeIfPresent(id, (_, member) -> member.to(Phase.YIELDING, now));
      } else {
        kept.add(id);
      }
    }
    arbiter.waiting().forEach(id -> arbiter.turn(id, now, next));
    return new ConflictArbiter(next);
  }

  /** Starts one that waits, or lets those yield that are in its way, if none waits before it. */
  private void turn(RevisionId id, long now, Map<RevisionId, Member> next) {
    if (before(id) != null) {
      return;
    }
    var one = Objects.requireNonNull(next.get(id));
    if (conflicting(next, id)
        .allMatch(other -> next.get(other) instanceof Member member && member.isOff())) {
      next.put(id, one.to(Phase.RUNNING, now));
    } else if (one.hasRequests()) {
      conflicting(next, id).toList().forEach(other -> next.computeIfPresent(other,
          (_, member) -> member.phase == Phase.RUNNING
              && (!member.hasRequests() || now >= member.end())
                  ? member.to(Phase.YIELDING, now)
                  : member));
    }
  }

  private List<RevisionId> waiting() {
    return ordered(Phase.WAITING);
  }

  /**
   * Those that are on first, then those with requests, and then those that have been in the phase
   * for longest.
   */
  private List<RevisionId> ordered(Phase phase) {
    var ids = new ArrayList<RevisionId>();
    members.forEach((id, member) -> {
      if (member.phase == phase) {
        ids.add(id);
      }
    });
    ids.sort(Comparator.<RevisionId, Boolean>comparing(id -> member(id).seenOff())
        .thenComparing(id -> !member(id).hasRequests()).thenComparing(id -> member(id).since)
        .thenComparing(id -> id));
    return ids;
  }

  private Member member(RevisionId id) {
    return Objects.requireNonNull(members.get(id));
  }

  /** The first that conflicts with one that waits, and waits before it; null if none does. */
  private @Nullable RevisionId before(RevisionId id) {
    var order = waiting();
    return order.stream().limit(order.indexOf(id))
        .filter(other -> conflicts(members, id, other)).findFirst().orElse(null);
  }

  private static Stream<RevisionId> conflicting(Map<RevisionId, Member> members, RevisionId id) {
    return List.copyOf(members.keySet()).stream().filter(other -> conflicts(members, id, other));
  }

  private static boolean conflicts(Map<RevisionId, Member> members, RevisionId one,
      RevisionId other) {
    return !one.equals(other) && (names(members, one, other) || names(members, other, one));
  }

  private static boolean names(Map<RevisionId, Member> members, RevisionId one,
      RevisionId other) {
    var member = members.get(one);
    return member != null && member.settings.conflicts.with().contains(other);
  }

  /** What a workload may do. One without conflicts may run. */
  public Phase phase(RevisionId id) {
    var member = members.get(id);
    return member == null || conflicting(members, id).findAny().isEmpty()
        ? Phase.RUNNING
        : member.phase;
  }

  /** When to decide again even without an event; empty if that is not necessary. */
  public OptionalLong again(long now) {
    return waiting().stream().filter(id -> member(id).hasRequests() && before(id) == null)
        .flatMap(id -> conflicting(members, id))
        .filter(id -> member(id).phase == Phase.RUNNING)
        .mapToLong(id -> Math.max(now, member(id).end())).min();
  }

  /** Why a workload that should run does not start, or has to stop; empty if neither is so. */
  public String reason(RevisionId id) {
    return switch (phase(id)) {
      case OFF, RUNNING -> "";
      case UNKNOWN -> "it is not known yet whether another one runs that conflicts with it";
      case WAITING -> waitsFor(id);
      case YIELDING -> "it stops, because " + yieldsTo(id);
    };
  }

  /** None may wait any more, or another client has started it beside one that runs. */
  private String yieldsTo(RevisionId id) {
    var waiting = names(conflicting(members, id)
        .filter(other -> member(other).phase == Phase.WAITING));
    var running = names(conflicting(members, id)
        .filter(other -> member(other).phase == Phase.RUNNING));
    if (!waiting.isEmpty()) {
      return "requests wait for " + waiting;
    }
    return (running.isEmpty() ? "one that it conflicts with waited" : running + " runs")
        + " (spec.conflictsWith)";
  }

  private String waitsFor(RevisionId id) {
    var first = before(id);
    var others = conflicting(members, id).filter(other -> !member(other).isOff()).toList();
    return "it waits until " + (others.isEmpty() && first != null
        ? first.name() + " has had its turn"
        : names(others.stream()) + " has stopped") + " (spec.conflictsWith)";
  }

  private static String names(Stream<RevisionId> ids) {
    return String.join(", ", ids.map(RevisionId::name).toList());
  }
}
