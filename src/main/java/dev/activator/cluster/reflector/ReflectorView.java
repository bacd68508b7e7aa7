package dev.activator.cluster.reflector;

import org.jspecify.annotations.Nullable;

/**
 * The state of one list and watch.
 *
 * @param resource the plural, such as {@code endpoints}
 * @param health whether the store is up to date
 * @param counts what happened since the process began
 * @param lastListNanos when the last list was complete, by the loop's time; 0 before the first
 * @param lastEventNanos when the watch last delivered an object, by the loop's time; 0 before that
 * @param resourceVersion the newest that was received; empty before the first list
 */
public record ReflectorView(String resource, Health health, Counts counts, long lastListNanos,
    long lastEventNanos, String resourceVersion) {
  /**
   * Whether the store is up to date.
   *
   * @param listed whether everything was listed at least once
   * @param watching whether a watch was open when it was last looked at
   * @param alarmed whether no watch was open for too long, or the store had drifted; operators should look
   * @param complaint what failed last, in a line; null since a watch is open again
   */
  public record Health(boolean listed, boolean watching, boolean alarmed,
      @Nullable String complaint) {}

  /**
   * What happened since the process began.
   *
   * @param lists all lists that were completed, those of audits not among them
   * @param restarts new lists because of a broken watch, an alarm, drift or lists in a row
   * @param ends watches that ended, regularly or not
   * @param failures of lists and of watches
   * @param drifted objects that an audit found to be stale
   * @param failedAudits that had no fresh list to compare with
   */
  public record Counts(long lists, long restarts, long ends, long failures, long drifted,
      long failedAudits) {
    static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0);

    /** Lists after the first. */
    public long relists() {
      return Math.max(0, lists - 1);
    }

    Counts listed() {
      return new Counts(lists + 1, restarts, ends, failures, drifted, failedAudits);
    }

    Counts restarted() {
      return new Counts(lists, restarts + 1, ends, failures, drifted, failedAudits);
    }

    Counts ended() {
      return new Counts(lists, restarts, ends + 1, failures, drifted, failedAudits);
    }

    Counts failed() {
      return new Counts(lists, restarts, ends, failures + 1, drifted, failedAudits);
    }

    Counts drifted(int objects) {
      return new Counts(lists, restarts, ends, failures, drifted + objects, failedAudits);
    }

    Counts auditFailed() {
      return new Counts(lists, restarts, ends, failures, drifted, failedAudits + 1);
    }
  }
}
