package dev.activator.backend.policy;

import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The order in which the probes of all revisions are sent. Revisions take turns in all of it.
 *
 * <p>
 * First probes come first. They are limited by how many are in flight, as each has a connection; a
 * revision that has none in flight goes before all others, so that black holes of one revision, or
 * of a whole node, keep no other from its first answer. Probes of addresses that failed are limited
 * by a rate, with bursts of a tenth of a second's worth: those that may be starting go before those
 * that have failed for long, which get each fifth turn.
 *
 * <p>
 * <b>Threads.</b> One.
 *
 * <p>
 * <b>Units.</b> Times are nanoseconds since some origin.
 *
 * @param <T> what waits
 */
public final class ProbeQueue<T> {
  /** How much a probe matters, where not all can be sent at once. */
  public enum Urgency {
    /** There is news of the address: it is listed, called ready, or under suspicion. */
    FIRST,
    /** It failed, and may be starting. */
    STARTING,
    /** It has failed for long. */
    LASTING
  }

  /** First probes in flight, while each revision has one at most. */
  static final int MAX_FIRST = 2_000;
  /** First probes in flight, for a revision that has one already. */
  static final int MAX_FURTHER = 1_000;
  static final int MAX_OF_REVISION = 100;

  private static final long SECOND_NANOS = 1_000_000_000;
  private static final int BURSTS_PER_SECOND = 10;
  private static final int SHARE_OF_LASTING = 5;

  private final Turns<T> only = new Turns<>();
  private final Turns<T> further = new Turns<>();
  private final Map<RevisionId, Integer> inFlight = new HashMap<>();
  private int allInFlight;

  private final Turns<T> starting = new Turns<>();
  private final Turns<T> lasting = new Turns<>();
  private final long costNanos;
  private int startingInARow;
  /** When the token bucket is, or was, full again; each probe of its rate moves it on. */
  private long fullNanos;

  /** @param repeatsPerSecond the most probes of addresses that failed; positive */
  public ProbeQueue(int repeatsPerSecond, long nowNanos) {
    if (repeatsPerSecond < 1) {
      throw new IllegalArgumentException(
          "at least one probe a second must be allowed, not " + repeatsPerSecond);
    }
    this.costNanos = SECOND_NANOS / repeatsPerSecond;
    this.fullNanos = nowNanos;
  }

  public void add(RevisionId revision, Urgency urgency, T probe) {
    var queue = switch (urgency) {
      case FIRST -> inFlight.containsKey(revision) || only.has(revision) ? further : only;
      case STARTING -> starting;
      case LASTING -> lasting;
    };
    queue.add(revision, probe);
  }

  /** The next that may be sent now, and from now on is in flight; null if none may. */
  public @Nullable T next(long nowNanos) {
    var first = allInFlight < MAX_FIRST ? only.take(_ -> true) : null;
    if (first == null && allInFlight < MAX_FURTHER) {
      first = further.take(id -> inFlight.getOrDefault(id, 0) < MAX_OF_REVISION);
    }
    if (first != null) {
      allInFlight++;
      inFlight.merge(first.revision(), 1, Integer::sum);
      return first.probe();
    }
    return hasRepeats() && untilRepeatNanos(nowNanos) == 0 ? nextRepeat(nowNanos) : null;
  }

  private @Nullable T nextRepeat(long nowNanos) {
    boolean fromLasting = starting.isEmpty()
        || (startingInARow >= SHARE_OF_LASTING - 1 && !lasting.isEmpty());
    var next = (fromLasting ? lasting : starting).take(_ -> true);
    if (next == null) {
      return null;
    }
    startingInARow = fromLasting ? 0 : startingInARow + 1;
    fullNanos = (fullNanos - nowNanos > 0 ? fullNanos : nowNanos) + costNanos;
    return next.probe();
  }

  /** Whether a probe waits for the rate to allow it. */
  public boolean hasRepeats() {
    return !starting.isEmpty() || !lasting.isEmpty();
  }

  /** How long until the rate allows one; zero if it does now. */
  public Duration untilRepeat(long nowNanos) {
    return Duration.ofNanos(untilRepeatNanos(nowNanos));
  }

  private long untilRepeatNanos(long nowNanos) {
    long burst = Math.max(costNanos, SECOND_NANOS / BURSTS_PER_SECOND);
    return Math.max(0, fullNanos + costNanos - burst - nowNanos);
  }

  /** A probe that came from {@link #next} is not in flight any more. */
  public void ended(RevisionId revision, Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      allInFlight--;
      inFlight.computeIfPresent(revision, (_, count) -> count == 1 ? null : count - 1);
    }
  }

  /** A probe that came from {@link #next} was not sent. */
  public void unused(RevisionId revision, Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      ended(revision, urgency);
    } else {
      fullNanos -= costNanos;
    }
  }

  public void clear() {
    only.clear();
    further.clear();
    starting.clear();
    lasting.clear();
  }

  /** A queue in which revisions take turns: many of one delay another no more than one of it. */
  static final class Turns<T> {
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

    /** Removes the next one of a revision that may go; null if none may. */
    @Nullable Turn<T> take(Predicate<RevisionId> mayGo) {
      for (var entry : waiting.entrySet()) {
        if (mayGo.test(entry.getKey())) {
          return take(entry.getKey(), entry.getValue());
        }
      }
      return null;
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
