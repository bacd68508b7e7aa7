package dev.activator.backend.policy;

import dev.activator.loop.policy.RateLimit;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the probes of all revisions. Revisions take turns (round robin).
 *
 * <p>First probes have priority. Their number in flight is limited, because each has a connection.
 * Revisions without a probe in flight go first, so that hanging pods of one revision do not delay
 * the first answer of another. All other probes are rate limited, with bursts of a tenth of a
 * second. Probes that no request needs get every fifth turn.
 *
 * <p><b>Threads.</b> One.
 */
public final class ProbeQueue<T> {
  public enum Urgency {
    /** The address was listed, became ready, or is unreachable. */
    FIRST,
    /**
     * The host refused the last connection, and a request waits. Such a probe is not queued,
     * because attempts to connect have another rate limit.
     */
    REFUSED,
    /** The last probe failed, and the pod may be starting. */
    STARTING,
    FAILING_LONG,
    /** The first probe of an address that was listed before any request waited for its revision. */
    UNAWAITED
  }

  static final int MAX_FIRST = 2_000;
  /** With this number of first probes in flight, a revision that has one of them gets no other. */
  static final int MAX_FIRST_OF_BUSY = 1_000;
  static final int MAX_OF_REVISION = 100;

  private static final int TURNS_PER_UNHURRIED = 5;

  private final FairQueue<T> ofIdle = new FairQueue<>();
  private final FairQueue<T> ofBusy = new FairQueue<>();
  private final Map<RevisionId, Integer> inFlight = new HashMap<>();
  private int allInFlight;

  private final FairQueue<T> starting = new FairQueue<>();
  private final FairQueue<T> unhurried = new FairQueue<>();
  private final RateLimit repeatRate;
  private boolean onlyAwaited;
  private int startingInARow;

  public ProbeQueue(int repeatsPerSecond, long nowNanos) {
    if (repeatsPerSecond < 1) {
      throw new IllegalArgumentException(
          "activator.probe.repeats-per-second must be at least 1, not " + repeatsPerSecond);
    }
    this.repeatRate = new RateLimit(repeatsPerSecond, nowNanos);
  }

  public void add(RevisionId revision, Urgency urgency, T probe) {
    var queue = switch (urgency) {
      case FIRST -> inFlight.containsKey(revision) || ofIdle.has(revision) ? ofBusy : ofIdle;
      case REFUSED -> throw new IllegalArgumentException("such probes are not queued");
      case STARTING -> starting;
      case FAILING_LONG, UNAWAITED -> unhurried;
    };
    queue.add(revision, probe);
  }

  /** The next probe, which then counts as in flight; null if none may be sent. */
  public @Nullable T next(long nowNanos) {
    var first = allInFlight < MAX_FIRST ? ofIdle.take(_ -> true) : null;
    if (first == null && allInFlight < MAX_FIRST_OF_BUSY) {
      // Skips fewer than ten revisions, because each of those has a tenth of the limit in flight.
      first = ofBusy.take(id -> inFlight.getOrDefault(id, 0) < MAX_OF_REVISION);
    }
    if (first != null) {
      allInFlight++;
      inFlight.merge(first.revision(), 1, Integer::sum);
      return first.probe();
    }
    return hasRepeats() && repeatRate.untilNanos(nowNanos) == 0 ? nextRepeat(nowNanos) : null;
  }

  /**
   * Removes the unhurried probes of a revision for which a request now waits. The caller adds them
   * again as first probes.
   */
  public Collection<T> takeUnhurried(RevisionId revision) {
    return unhurried.takeAll(revision);
  }

  private @Nullable T nextRepeat(long nowNanos) {
    boolean fromUnhurried = starting.isEmpty()
        || (startingInARow >= TURNS_PER_UNHURRIED - 1 && hasUnhurried());
    var next = (fromUnhurried ? unhurried : starting).take(_ -> true);
    if (next == null) {
      return null;
    }
    startingInARow = fromUnhurried ? 0 : startingInARow + 1;
    repeatRate.take(nowNanos);
    return next.probe();
  }

  public boolean hasRepeats() {
    return !starting.isEmpty() || hasUnhurried();
  }

  private boolean hasUnhurried() {
    return !onlyAwaited && !unhurried.isEmpty();
  }

  /** Sets whether only probes are sent that a request needs. */
  public void setOnlyAwaited(boolean now) {
    onlyAwaited = now;
  }

  /** The time until the next probe with a rate limit may be sent. */
  public Duration untilRepeat(long nowNanos) {
    return Duration.ofNanos(repeatRate.untilNanos(nowNanos));
  }

  public void ended(RevisionId revision, Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      allInFlight--;
      inFlight.computeIfPresent(revision, (_, count) -> count == 1 ? null : count - 1);
    }
  }

  public void notSent(RevisionId revision, Urgency urgency) {
    switch (urgency) {
      case FIRST -> ended(revision, urgency);
      case STARTING, FAILING_LONG, UNAWAITED -> repeatRate.giveBack();
      case REFUSED -> {
      }
    }
  }

  public void clear() {
    ofIdle.clear();
    ofBusy.clear();
    starting.clear();
    unhurried.clear();
  }

  /** A queue that takes from its revisions in turn. */
  static final class FairQueue<T> {
    private final Map<RevisionId, ArrayDeque<T>> waiting = new LinkedHashMap<>();

    record Turn<T>(RevisionId revision, T probe) {}

    boolean isEmpty() {
      return waiting.isEmpty();
    }

    boolean has(RevisionId revision) {
      return waiting.containsKey(revision);
    }

    void add(RevisionId revision, T probe) {
      waiting.computeIfAbsent(revision, _ -> new ArrayDeque<>(2)).add(probe);
    }

    @Nullable Turn<T> take(Predicate<RevisionId> mayGo) {
      for (var entry : waiting.entrySet()) {
        if (mayGo.test(entry.getKey())) {
          return take(entry.getKey(), entry.getValue());
        }
      }
      return null;
    }

    Collection<T> takeAll(RevisionId revision) {
      var taken = waiting.remove(revision);
      return taken == null ? List.of() : taken;
    }

    private Turn<T> take(RevisionId revision, ArrayDeque<T> probes) {
      waiting.remove(revision);
      T probe = probes.remove();
      if (!probes.isEmpty()) {
        waiting.put(revision, probes);
      }
      return new Turn<>(revision, probe);
    }

    void clear() {
      waiting.clear();
    }
  }
}
