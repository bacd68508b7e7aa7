package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether every activator in the activators' Service has reported for a whole window.
 * Otherwise nothing is scaled down. Each activator sends a batch of reports every second.
 *
 * <p><b>Units.</b> Nanoseconds of the autoscaler's clock.
 */
public final class ReportCompleteness {
  /** After a longer silence, an activator is treated as a new one. */
  static final Duration SILENCE = Duration.ofSeconds(3);
  /**
   * An activator that is not ready and silent is expected to report until this long after its
   * requests have timed out.
   */
  static final Duration AFTER_TIMEOUT = Duration.ofSeconds(30);
  /**
   * How long an activator is remembered that has left the Service: longer than its longest request.
   */
  private static final Duration FORGOTTEN = Duration.ofHours(1);
  private static final double NANOS_PER_SECOND = 1e9;

  private final long begun;
  private final Map<String, Member> reporting = new HashMap<>();
  /** Whether each pod is ready, by its name; null while the endpoints cannot be read. */
  private @Nullable Map<String, Boolean> members;

  private static final class Member {
    private long covered;
    private long last;
    private boolean sinceItsStart;
    private Set<RevisionId> busy = Set.of();

    private boolean isSilent(long now) {
      return now - last > SILENCE.toNanos();
    }
  }

  /** @param now when the term began */
  public ReportCompleteness(long now) {
    begun = now;
  }

  /** Sets the endpoints of the activators' Service: whether each pod is ready, by its name. */
  public void members(long now, Map<String, Boolean> pods) {
    members = new TreeMap<>(pods);
    reporting.entrySet().removeIf(one -> !pods.containsKey(one.getKey())
        && now - one.getValue().last > FORGOTTEN.toNanos());
  }

  public void membersUnknown() {
    members = null;
  }

  /**
   * Records the batch of one second.
   *
   * @param uptime seconds since the activator's process started; empty if the batch does not
   *     contain it
   * @param busy the revisions for which the activator has requests
   */
  public void batch(long now, String pod, OptionalDouble uptime, Set<RevisionId> busy) {
    var one = reporting.get(pod);
    if (one == null || one.isSilent(now)) {
      one = new Member();
      reporting.put(pod, one);
      one.covered = now;
      double seconds = uptime.orElse(Double.MAX_VALUE);
      if (seconds * NANOS_PER_SECOND <= SILENCE.toNanos()) {
        one.covered = now - (long) (seconds * NANOS_PER_SECOND);
        one.sinceItsStart = true;
      }
    }
    one.last = now;
    one.busy = Set.copyOf(busy);
  }

  /**
   * Records reports that an activator sent at once, because requests for these revisions have
   * arrived.
   */
  public void busy(String pod, Set<RevisionId> ids) {
    var one = reporting.get(pod);
    if (one != null) {
      var more = new HashSet<>(one.busy);
      more.addAll(ids);
      one.busy = Set.copyOf(more);
    }
  }

  /**
   * The activators that have not reported for a whole window; empty if all are known and have
   * reported.
   *
   * @param requestTimeout how long an activator may have a request that it has not reported to this
   *     leader
   */
  public List<String> missing(long now, Duration window, Duration requestTimeout) {
    if (members == null || members.isEmpty() && reporting.isEmpty()) {
      return List.of("the endpoints of our own Service");
    }
    var missing = new ArrayList<String>();
    // The leader is one of the members. If the list is empty, it is wrong, and those that have
    // reported are expected instead.
    var expected = new TreeMap<>(members);
    if (expected.isEmpty()) {
      reporting.keySet().forEach(pod -> expected.put(pod, false));
    }
    expected.forEach((pod, ready) -> {
      var one = reporting.get(pod);
      boolean covered = one != null && !one.isSilent(now)
          && (one.sinceItsStart || now - one.covered >= window.toNanos());
      if (!covered && !isGone(now, one, ready, requestTimeout)) {
        missing.add(pod);
      }
    });
    return missing;
  }

  private boolean isGone(long now, @Nullable Member one, boolean ready, Duration requestTimeout) {
    long last = one == null ? begun : Math.max(begun, one.last);
    return !ready && (one == null || one.isSilent(now))
        && now - last >= requestTimeout.plus(AFTER_TIMEOUT).toNanos();
  }

  /** When an activator sent its last batch; empty if it sent none, or is known to have ended. */
  OptionalLong lastBatch(String pod) {
    var one = reporting.get(pod);
    boolean isGone = members != null && !members.isEmpty() && !members.containsKey(pod);
    return one == null || isGone ? OptionalLong.empty() : OptionalLong.of(one.last);
  }

  /** Whether batches of an activator are missing. */
  public boolean isLate(long now, String pod) {
    var one = reporting.get(pod);
    return one != null && now - one.last >= LastActivatorReports.MISSED.toNanos();
  }

  /** Whether none of the reporting activators has a request for this revision. */
  public boolean isQuiet(long now, RevisionId id) {
    return reporting.values().stream()
        .noneMatch(one -> !one.isSilent(now) && one.busy.contains(id));
  }
}
