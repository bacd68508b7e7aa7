package dev.activator.cluster.reflector;

import org.jspecify.annotations.Nullable;

/**
 * A snapshot of a reflector: its health and its counts.
 *
 * @param resource the plural, such as {@code endpoints}
 * @param lastListNanos by the loop's time; 0 before the first
 * @param lastEventNanos by the loop's time; 0 before the first
 * @param resourceVersion the newest received
 */
public record ReflectorStatus(String resource, Health health, Counts counts, long lastListNanos,
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
      long failedAudits) {}
}
