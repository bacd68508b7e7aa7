package dev.activator.backend.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one address.
 *
 * @param ready whether Kubernetes calls it ready
 * @param belief whether it answers
 * @param phase where its probe is
 * @param failures in a row since {@code since}
 * @param last the last probe that came to its end; null before the first did
 * @param since when the last news of it came: listed, called ready or not, answering, suspected
 */
public record Candidate(boolean ready, Belief belief, Phase phase, int failures,
    @Nullable Probed last, Duration since) {

  /** Whether an address answers, as far as is known. */
  public enum Belief {
    /** It was not ready when it was first listed, and has neither answered nor become ready. */
    STARTING, UNKNOWN, HEALTHY,
    /** It did answer, but something happened since; it is believed until the next answer. */
    DOUBTED, UNHEALTHY
  }

  /** An address has one probe at a time: it is in one phase. */
  public enum Phase {
    RESTING, WAITING, ASKED,
    /** A probe is under way that began too early to tell anything. */
    ASKED_IN_VAIN
  }

  static Candidate fresh(boolean ready, Duration now) {
    return new Candidate(ready, ready ? Belief.UNKNOWN : Belief.STARTING, Phase.RESTING, 0, null,
        now);
  }

  /** It has answered, and nothing since said otherwise. */
  public boolean answers() {
    return belief == Belief.HEALTHY || belief == Belief.DOUBTED;
  }

  /** Whether a request could not be delivered there, and no probe ended since. */
  public boolean isSuspected() {
    return belief == Belief.UNHEALTHY && failures == 0;
  }

  boolean lastWas(ProbeOutcome.Verdict verdict) {
    return last != null && last.outcome().verdict() == verdict;
  }

  /** Whether a probe was sent that has not come to its end. */
  public boolean isUnderWay() {
    return phase == Phase.ASKED || phase == Phase.ASKED_IN_VAIN;
  }

  /** Whether its next answer tells how long a start takes: not if it may have begun long ago. */
  boolean tellsItsStart() {
    return belief == Belief.STARTING && failures > 0;
  }

  Urgency urgency(Duration now) {
    if (failures == 0) {
      return Urgency.FIRST;
    }
    return now.minus(since).compareTo(Pauses.LONG) < 0 ? Urgency.STARTING : Urgency.LASTING;
  }

  Candidate in(Phase next) {
    return new Candidate(ready, belief, next, failures, last, since);
  }

  /** Asked; that it is wanted at last is news, however long it is known. */
  Candidate asked(Duration now) {
    return (failures == 0 ? believed(belief, now) : this).in(Phase.ASKED);
  }

  /** The pause ends; nothing changes while there is none. */
  Candidate awake() {
    return phase == Phase.WAITING ? in(Phase.RESTING) : this;
  }

  /** An answer on its way is out of date, and a pause is out of place. */
  Candidate afresh() {
    return phase == Phase.ASKED ? in(Phase.ASKED_IN_VAIN) : awake();
  }

  /** What is believed after news of it, with no failure to its name. */
  Candidate believed(Belief next, Duration now) {
    return new Candidate(ready, next, phase, 0, last, now);
  }

  Candidate calledReady(boolean next) {
    return new Candidate(next, belief, phase, failures, last, since);
  }

  Candidate succeeded(Probed probe) {
    return new Candidate(ready, Belief.HEALTHY, Phase.RESTING, 0, probe, probe.at());
  }

  Candidate failed(Probed probe) {
    return new Candidate(ready, belief == Belief.STARTING ? belief : Belief.UNHEALTHY,
        Phase.WAITING, failures + 1, probe, since);
  }
}
