package dev.activator.backend.policy;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.backend.policy.ProbeQueue.Urgency;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The health of one address. An address has at most one probe at a time.
 *
 * @param failures the number of consecutive failures since {@code since}
 * @param since when the state last changed: listed, ready, unready, answered or unreachable
 * @param accepts when the address began to accept connections: the start of the first successful
 *     probe after the last refusal; null if there is none
 */
public record PodHealth(boolean ready, State state, Phase phase, int failures,
    @Nullable LastProbe last, Duration since, @Nullable Duration accepts) {

  public enum State {
    /**
     * The address was first listed as not ready, and has neither answered nor become ready since
     * then.
     */
    STARTING,
    UNKNOWN,
    HEALTHY,
    /** It answered and then became unready. It serves until its next probe ends. */
    UNCONFIRMED,
    /** A request could not be delivered, and no probe has been answered since then. */
    UNREACHABLE,
    UNHEALTHY
  }

  /**
   * How long requests wait for an unreachable address before they are rejected.
   *
   * <p><b>Source.</b> The total of Knative's {@code dialBackOffHelper}.
   */
  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(20);

  public enum Phase {
    IDLE,
    PAUSED,
    PROBING,
    /** A probe is in flight that began before the last change, so its answer does not count. */
    OUTDATED
  }

  /** @param at when it ended */
  public record LastProbe(ProbeVerdict verdict, Duration at, Duration took) {
    private Duration began() {
      return at.minus(took);
    }
  }

  static PodHealth fresh(boolean ready, Duration now) {
    return new PodHealth(ready, ready ? State.UNKNOWN : State.STARTING, Phase.IDLE, 0, null,
        now, null);
  }

  /** Whether the address has answered, and nothing has contradicted that since then. */
  public boolean answers() {
    return state == State.HEALTHY || state == State.UNCONFIRMED;
  }

  /** Whether a request could not be delivered, and no probe has ended since then. */
  public boolean isEjected() {
    return state == State.UNREACHABLE && failures == 0;
  }

  public boolean isInFlight() {
    return phase == Phase.PROBING || phase == Phase.OUTDATED;
  }

  /** Whether requests should no longer wait for this address. */
  boolean isGivenUp(Duration now) {
    return ready && state == State.UNREACHABLE && failures > 0
        && now.minus(since).compareTo(CONNECT_TIMEOUT) >= 0;
  }

  /**
   * Whether the last probe indicates a mesh. It counts only if it began after the pod's last
   * change, and not before {@code earliest}.
   */
  boolean indicatesMesh(Duration earliest) {
    if (last == null || !last.verdict().kind().indicatesMesh()) {
      return false;
    }
    var began = last.began();
    return began.compareTo(since) >= 0 && began.compareTo(earliest) >= 0;
  }

  /**
   * Whether the last probe, and no mesh, showed that the pod accepts connections, although it was
   * not answered as it should be.
   */
  boolean acceptsConnections() {
    return lastIs(Kind.UNHEALTHY) || lastIs(Kind.UNEXPECTED) || lastIs(Kind.SLOW);
  }

  /** Whether the last probe was answered as a mesh would answer it, or an overloaded pod. */
  boolean mayBeBehindMesh() {
    return lastIs(Kind.MESH_LIKE);
  }

  private boolean lastIs(Kind kind) {
    return !isEjected() && last != null && last.verdict().kind() == kind;
  }

  /** Whether the host refused the connection of the last probe. */
  boolean isRefused() {
    return failures > 0 && last != null && last.verdict().kind() == Kind.REFUSED;
  }

  /**
   * Whether an answer now shows how long the start took. False if the pod may have started before
   * it was listed.
   */
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
    return new PodHealth(ready, state, next, failures, last, since, accepts);
  }

  PodHealth withoutPause() {
    return phase == Phase.PAUSED ? in(Phase.IDLE) : this;
  }

  /** Requires a new probe. Ends a pause; the answer of a probe in flight no longer counts. */
  PodHealth withNewProbe() {
    return phase == Phase.PROBING ? in(Phase.OUTDATED) : withoutPause();
  }

  /** The health in a new state, with the failures reset. */
  PodHealth became(State next, Duration now) {
    return new PodHealth(ready, next, phase, 0, last, now, accepts);
  }

  PodHealth listedAsReady(boolean next) {
    return new PodHealth(next, state, phase, failures, last, since, accepts);
  }

  PodHealth succeeded(LastProbe probe) {
    return new PodHealth(ready, State.HEALTHY, Phase.IDLE, 0, probe, probe.at(), accepts(probe));
  }

  PodHealth failed(LastProbe probe) {
    return new PodHealth(ready, stateAfter(probe.verdict().kind()), Phase.PAUSED, failures + 1,
        probe, since, accepts(probe));
  }

  private @Nullable Duration accepts(LastProbe probe) {
    return switch (probe.verdict().kind()) {
      case REFUSED -> null;
      case NO_CONNECTION -> accepts;
      case HEALTHY, UNHEALTHY, UNEXPECTED, SLOW, MESH_LIKE, NO_ANSWER ->
        accepts == null ? probe.began() : accepts;
    };
  }

  private State stateAfter(Kind failure) {
    boolean stillUnreachable = state == State.UNREACHABLE && failure.isWithoutAnswer();
    return state == State.STARTING || stillUnreachable ? state : State.UNHEALTHY;
  }
}
