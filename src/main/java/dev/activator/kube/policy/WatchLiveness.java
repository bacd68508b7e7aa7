package dev.activator.kube.policy;

import java.time.Duration;

/**
 * Decides whether a watch that is closed or silent needs an alarm, a comparison with a fresh list,
 * or a new list.
 *
 * @param sinceOpen the time since a watch was last open
 * @param sinceRestart the time since the last restart, or the last page of a list in progress
 * @param sinceNews the time since the last event, bookmark, list or audit
 */
public record WatchLiveness(Duration sinceOpen, Duration sinceRestart, Duration sinceNews) {
  public enum Action {
    NONE,
    /** Compare the store with a fresh list. */
    VERIFY,
    ALARM,
    RESTART
  }

  /**
   * @param alarmAfter the time without an open watch before an alarm; the restart comes after twice
   *     that time
   * @param verifyAfter the silence of an open watch before a comparison; it is longer than the time
   *     between bookmarks, which is about a minute
   */
  public Action action(Duration alarmAfter, Duration verifyAfter) {
    var restartAfter = alarmAfter.multipliedBy(2);
    if (sinceOpen.compareTo(restartAfter) >= 0 && sinceRestart.compareTo(restartAfter) >= 0) {
      return Action.RESTART;
    }
    if (sinceOpen.compareTo(alarmAfter) >= 0) {
      return Action.ALARM;
    }
    return sinceNews.compareTo(verifyAfter) >= 0 ? Action.VERIFY : Action.NONE;
  }
}
