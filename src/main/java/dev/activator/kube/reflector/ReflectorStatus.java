package dev.activator.kube.reflector;

import org.jspecify.annotations.Nullable;

/**
 * A snapshot of a reflector: its health and its counts.
 *
 * @param resource the plural, such as {@code endpoints}
 * @param lastListNanos the time of the last list, by the loop's clock; 0 before the first
 * @param lastEventNanos the time of the last event, by the loop's clock; 0 before the first
 * @param resourceVersion the newest version that was received
 */
public record ReflectorStatus(String resource, Health health, Counts counts, long lastListNanos,
    long lastEventNanos, String resourceVersion) {
  /**
   * @param listed whether a list has succeeded
   * @param alarmed whether no watch was open for too long, or the store had drifted
   * @param error the last failure, in one line; null after a watch has opened
   * @param gap the time in which no watch is open; null while one is
   */
  public record Health(boolean listed, boolean watching, boolean alarmed, @Nullable String error,
      @Nullable Gap gap) {}

  /**
   * @param sinceNanos when the last watch closed, by the loop's clock
   * @param failure the last failure of a watch or list, in one line; null if there was none
   */
  public record Gap(long sinceNanos, @Nullable String failure) {}

  /**
   * @param lists the number of lists, except for those of audits
   * @param restarts the number of new lists after a broken watch, an alarm, drift, or lists in a
   *     row
   * @param ends the number of open watches that ended, regularly or not
   * @param drifted the number of objects that audits found stale
   * @param failedAudits the number of audits that failed to list
   */
  public record Counts(long lists, long restarts, long ends, long failures, long drifted,
      long failedAudits) {}
}
