package dev.activator.cluster.reflector;

import org.jspecify.annotations.Nullable;

/**
 * @param resource the plural, such as {@code endpoints}
 * @param lastListNanos by the loop's time; 0 before the first
 * @param lastEventNanos by the loop's time; 0 before the first
 * @param resourceVersion the newest received
 */
public record ReflectorView(String resource, Health health, Counts counts, long lastListNanos,
    long lastEventNanos, String resourceVersion) {
  /**
   * @param listed at least once
   * @param alarmed no watch was open for too long, or the store had drifted
   * @param error the last failure, in one line; null when a watch opens
   */
  public record Health(boolean listed, boolean watching, boolean alarmed,
      @Nullable String error) {}

  /**
   * @param lists without those of audits
   * @param restarts new lists after a broken watch, an alarm, drift or lists in a row
   * @param ends of open watches, regular or not
   * @param drifted objects that audits found stale
   * @param failedAudits audits without a fresh list
   */
  public record Counts(long lists, long restarts, long ends, long failures, long drifted,
      long failedAudits) {
    static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0);

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
