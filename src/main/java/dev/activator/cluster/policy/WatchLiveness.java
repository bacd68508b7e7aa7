package dev.activator.cluster.policy;

import java.time.Duration;

/**
 * Decides whether a watch that is down or silent needs an alarm, a comparison or a new list.
 *
 * @param sinceOpen since a watch was last open
 * @param sinceRestart since the last restart, or page of a list in progress
 * @param sinceNews since the last event, bookmark, list or audit
 */
public record WatchLiveness(Duration sinceOpen, Duration sinceRestart, Duration sinceNews) {
  public enum Action {
    NONE,
    /** Compares the store with a fresh list. */
    VERIFY,
    ALARM,
    RESTART
  }

  /**
   * @param alarmAfter time without a watch; the restart comes after twice that
   * @param verifyAfter silence of an open watch; longer than the minute or so between bookmarks
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
