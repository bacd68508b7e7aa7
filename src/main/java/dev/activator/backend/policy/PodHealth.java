package dev.activator.backend.policy;

import dev.activator.backend.policy.ProbeOutcome.Verdict;
import dev.activator.backend.policy.ProbeQueue.Urgency;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one address, which has one probe at a time.
 *
 * @param ready whether Kubernetes calls it ready
 * @param state whether it answers
 * @param phase where its probe is
 * @param failures in a row since {@code since}
 * @param last the last probe that ended; null before the first did
 * @param since when it was last listed, became ready or unready, answered, or was suspected
 */
public record PodHealth(boolean ready, State state, Phase phase, int failures,
    @Nullable ProbeRecord last, Duration since) {

  /** Whether an address answers, as far as is known. */
  public enum State {
    /** It was not ready when it was first listed, and has neither answered nor become ready. */
    STARTING, UNKNOWN, HEALTHY,
    /** It did answer, but became unready since: it serves until its next probe ends. */
    UNCONFIRMED,
    /** It did answer, but then a request could not be delivered, and no probe was answered since. */
    UNREACHABLE, UNHEALTHY
  }

  /**
   * How long requests wait for one that is unreachable.
   *
   * <p>
   * <b>Source.</b> All attempts of {@code dialBackOffHelper} in Knative networking's
   * {@code transports.go} take this long together.
   */
  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(20);

  /** Where the probe of an address is. */
  public enum Phase {
    IDLE, PAUSED, PROBING,
    /** A probe is in flight that began too early for its answer to count. */
    OUTDATED
  }

  /**
   * A probe that has ended.
   *
   * @param at when, since some origin
   * @param took from its start to its end
   */
  public record ProbeRecord(ProbeOutcome outcome, Duration at, Duration took) {}

  static PodHealth fresh(boolean ready, Duration now) {
    return new PodHealth(ready, ready ? State.UNKNOWN : State.STARTING, Phase.IDLE, 0, null,
        now);
  }

  /** It has answered, and nothing since said otherwise. */
  public boolean answers() {
    return state == State.HEALTHY || state == State.UNCONFIRMED;
  }

  /** Whether a request could not be delivered there, and no probe ended since. */
  public boolean isSuspected() {
    return state == State.UNREACHABLE && failures == 0;
  }

  /** Whether a probe is in flight. */
  public boolean isInFlight() {
    return phase == Phase.PROBING || phase == Phase.OUTDATED;
  }

  /** Whether no request should wait for it any more, though Kubernetes calls it ready. */
  boolean isGivenUp(Duration now) {
    return ready && state == State.UNREACHABLE && failures > 0
        && now.minus(since).compareTo(CONNECT_TIMEOUT) >= 0;
  }

  /**
   * Whether a mesh may be in the way, as the last probe says. Only a probe counts that began since
   * the pod last changed, and not before {@code earliest}.
   */
  boolean looksLikeAMesh(Duration earliest) {
    if (last == null || !last.outcome().verdict().looksLikeAMesh()) {
      return false;
    }
    var began = last.at().minus(last.took());
    return began.compareTo(since) >= 0 && began.compareTo(earliest) >= 0;
  }

  /** Whether its next answer measures a start: not if it may have started before it was listed. */
  boolean measuresStart() {
    return state == State.STARTING && failures > 0;
  }

  Urgency urgency(Duration now) {
    if (failures == 0) {
      return Urgency.FIRST;
    }
    return now.minus(since).compareTo(ProbeBackoff.LONG) < 0
        ? Urgency.STARTING
        : Urgency.FAILING_LONG;
  }

  PodHealth in(Phase next) {
    return new PodHealth(ready, state, next, failures, last, since);
  }

  /** The pause ends; nothing changes while there is none. */
  PodHealth withoutPause() {
    return phase == Phase.PAUSED ? in(Phase.IDLE) : this;
  }

  /** It is to be probed again: a probe in flight does not count any more, and a pause ends. */
  PodHealth withNewProbe() {
    return phase == Phase.PROBING ? in(Phase.OUTDATED) : withoutPause();
  }

  /** The state after an event, without failures. */
  PodHealth became(State next, Duration now) {
    return new PodHealth(ready, next, phase, 0, last, now);
  }

  PodHealth calledReady(boolean next) {
    return new PodHealth(next, state, phase, failures, last, since);
  }

  PodHealth succeeded(ProbeRecord probe) {
    return new PodHealth(ready, State.HEALTHY, Phase.IDLE, 0, probe, probe.at());
  }

  PodHealth failed(ProbeRecord probe) {
    return new PodHealth(ready, stateAfter(probe.outcome().verdict()), Phase.PAUSED, failures + 1,
        probe, since);
  }

  private State stateAfter(Verdict failure) {
    boolean stillUnreachable = state == State.UNREACHABLE && failure == Verdict.NO_ANSWER;
    return state == State.STARTING || stillUnreachable ? state : State.UNHEALTHY;
  }
}
