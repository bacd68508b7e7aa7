package dev.activator.backend.policy;

import org.jspecify.annotations.Nullable;

/**
 * What is known of one address.
 *
 * @param ready whether Kubernetes calls it ready
 * @param belief whether it answers
 * @param phase where its probe is
 * @param failures in a row; 0 after a success
 * @param last what the last probe said; null before its end
 */
public record Candidate(boolean ready, Belief belief, Phase phase, int failures,
    @Nullable ProbeOutcome last) {

  /** Whether an address answers, as far as is known. */
  public enum Belief {
    UNKNOWN, HEALTHY,
    /** It did answer, but something happened since; it is believed until the next answer. */
    DOUBTED, UNHEALTHY
  }

  /** An address has one probe at a time: it is in one phase. */
  public enum Phase {
    RESTING, WAITING, ASKED,
    /** A probe is under way that began too early to tell anything. */
    ASKED_IN_VAIN
  }

  static Candidate unknown(boolean ready) {
    return new Candidate(ready, Belief.UNKNOWN, Phase.RESTING, 0, null);
  }

  /** It has answered, and nothing since said otherwise. */
  boolean answers() {
    return belief == Belief.HEALTHY || belief == Belief.DOUBTED;
  }

  boolean lastWas(ProbeOutcome.Verdict verdict) {
    return last != null && last.verdict() == verdict;
  }

  boolean isUnderWay() {
    return phase == Phase.ASKED || phase == Phase.ASKED_IN_VAIN;
  }

  Candidate in(Phase next) {
    return new Candidate(ready, belief, next, failures, last);
  }

  /** The pause ends; nothing changes while there is none. */
  Candidate awake() {
    return phase == Phase.WAITING ? in(Phase.RESTING) : this;
  }

  /** An answer on its way is out of date, and a pause is out of place. */
  Candidate afresh() {
    return phase == Phase.ASKED ? in(Phase.ASKED_IN_VAIN) : awake();
  }

  /** What is believed from now on, with no failure to its name. */
  Candidate believed(Belief now) {
    return new Candidate(ready, now, phase, 0, last);
  }

  Candidate calledReady(boolean now) {
    return new Candidate(now, belief, phase, failures, last);
  }

  Candidate succeeded(ProbeOutcome outcome) {
    return new Candidate(ready, Belief.HEALTHY, Phase.RESTING, 0, outcome);
  }

  Candidate failed(ProbeOutcome outcome) {
    return new Candidate(ready, Belief.UNHEALTHY, Phase.WAITING, failures + 1, outcome);
  }
}
