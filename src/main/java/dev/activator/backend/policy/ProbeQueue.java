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
 * The order in which the probes of all revisions are sent: round robin between revisions.
 *
 * <p>
 * First probes come first. The number in flight is limited, since each has a connection. A revision
 * with none in flight goes before the others, so that hanging pods of one revision, or of a node, do
 * not delay the first answer of another. Probes of addresses that failed have a rate limit, with
 * bursts of a tenth of a second: those that may be starting go before those that have failed for
 * long, which get every fifth turn.
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
  /** The priority of a probe, highest first. */
  public enum Urgency {
    /** The address was listed, became ready, or is suspected. */
    FIRST,
    /** It failed, and may be starting. */
    STARTING,
    /** It has failed for long. */
    FAILING_LONG
  }

  /** No more first probes in flight than this. */
  static final int MAX_FIRST = 2_000;
  /** No further first probe of a revision that has one in flight, from this number on. */
  static final int MAX_FIRST_OF_BUSY = 1_000;
  static final int MAX_OF_REVISION = 100;

  private static final long SECOND_NANOS = 1_000_000_000;
  private static final int BURSTS_PER_SECOND = 10;
  private static final int TURNS_PER_FAILING_LONG = 5;

  private final FairQueue<T> ofIdle = new FairQueue<>();
  private final FairQueue<T> ofBusy = new FairQueue<>();
  private final Map<RevisionId, Integer> inFlight = new HashMap<>();
  private int allInFlight;

  private final FairQueue<T> starting = new FairQueue<>();
  private final FairQueue<T> failingLong = new FairQueue<>();
  private final long costNanos;
  private int startingInARow;
  /** When the token bucket is, or was, full again; each limited probe moves it forward. */
  private long fullNanos;

  /** @param repeatsPerSecond the most probes of addresses that failed; positive */
  public ProbeQueue(int repeatsPerSecond, long nowNanos) {
    if (repeatsPerSecond < 1) {
      throw new IllegalArgumentException(
          "activator.probe.repeats-per-second must be at least 1, not " + repeatsPerSecond);
    }
    this.costNanos = SECOND_NANOS / repeatsPerSecond;
    this.fullNanos = nowNanos;
  }

  public void add(RevisionId revision, Urgency urgency, T probe) {
    var queue = switch (urgency) {
      case FIRST -> inFlight.containsKey(revision) || ofIdle.has(revision) ? ofBusy : ofIdle;
      case STARTING -> starting;
      case FAILING_LONG -> failingLong;
    };
    queue.add(revision, probe);
  }

  /** The next that may be sent now, and from now on is in flight; null if none may. */
  public @Nullable T next(long nowNanos) {
    var first = allInFlight < MAX_FIRST ? ofIdle.take(_ -> true) : null;
    if (first == null && allInFlight < MAX_FIRST_OF_BUSY) {
      first = ofBusy.take(id -> inFlight.getOrDefault(id, 0) < MAX_OF_REVISION);
    }
    if (first != null) {
      allInFlight++;
      inFlight.merge(first.revision(), 1, Integer::sum);
      return first.probe();
    }
    return hasRepeats() && untilRepeatNanos(nowNanos) == 0 ? nextRepeat(nowNanos) : null;
  }

  private @Nullable T nextRepeat(long nowNanos) {
    boolean fromFailingLong = starting.isEmpty()
        || (startingInARow >= TURNS_PER_FAILING_LONG - 1 && !failingLong.isEmpty());
    var next = (fromFailingLong ? failingLong : starting).take(_ -> true);
    if (next == null) {
      return null;
    }
    startingInARow = fromFailingLong ? 0 : startingInARow + 1;
    fullNanos = (fullNanos - nowNanos > 0 ? fullNanos : nowNanos) + costNanos;
    return next.probe();
  }

  /** Whether a probe waits for the rate to allow it. */
  public boolean hasRepeats() {
    return !starting.isEmpty() || !failingLong.isEmpty();
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
  public void notSent(RevisionId revision, Urgency urgency) {
    if (urgency == Urgency.FIRST) {
      ended(revision, urgency);
    } else {
      fullNanos -= costNanos;
    }
  }

  public void clear() {
    ofIdle.clear();
    ofBusy.clear();
    starting.clear();
    failingLong.clear();
  }

  /** A queue that takes from its revisions in turn, so that many probes of one delay no other. */
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
