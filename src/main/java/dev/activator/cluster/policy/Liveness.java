package dev.activator.cluster.policy;

import java.time.Duration;

/**
 * Whether a watch can be trusted to tell what happens.
 *
 * @param sinceOpen since a watch was last seen open, or an event came; a list does not count
 * @param sinceRestart since it was last begun anew
 * @param sinceNews since something last came, a bookmark included, or a comparison with a fresh list ended
 */
public record Liveness(Duration sinceOpen, Duration sinceRestart, Duration sinceNews) {
  /** What is to be done. */
  public enum Verdict {
    /** Nothing. */
    FINE,
    /** Compare with a fresh list: it is open, but so silent that it may be dead. */
    DOUBTED,
    /** Tell people: no watch has been open for too long. */
    ALARMING,
    /** Begin anew, as a last resort; and tell people. */
    HOPELESS
  }

  /**
   * The verdict.
   *
   * @param alarmAfter how long no watch may be open before people are told; after twice that it is
   *     begun anew
   * @param doubtAfter how long an open watch may say nothing: more than the minute or so between
   *     bookmarks
   */
  public Verdict verdict(Duration alarmAfter, Duration doubtAfter) {
    var patience = alarmAfter.multipliedBy(2);
    if (sinceOpen.compareTo(patience) >= 0 && sinceRestart.compareTo(patience) >= 0) {
      return Verdict.HOPELESS;
    }
    if (sinceOpen.compareTo(alarmAfter) >= 0) {
      return Verdict.ALARMING;
    }
    return sinceNews.compareTo(doubtAfter) >= 0 ? Verdict.DOUBTED : Verdict.FINE;
  }
}
