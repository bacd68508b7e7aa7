package dev.activator.cluster.policy;

import java.time.Duration;

/**
 * Whether a watch still delivers events.
 *
 * @param sinceOpen since a watch was last open; a list does not count
 * @param sinceRestart since the last restart with a new list
 * @param sinceNews since the last event, bookmark, list or comparison with a fresh list
 */
public record Liveness(Duration sinceOpen, Duration sinceRestart, Duration sinceNews) {
  /** What the watchdog does. */
  public enum Action {
    NONE,
    /** Compares the store with a fresh list: the open watch has been silent for too long. */
    VERIFY,
    /** Logs that no watch has been open for too long. */
    ALARM,
    /** Logs it, and starts with a new list. */
    RESTART
  }

  /**
   * The action.
   *
   * @param alarmAfter how long no watch may be open before the alarm; the restart comes after twice
   *     that
   * @param verifyAfter how long an open watch may be silent: more than the minute or so between
   *     bookmarks
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
