package dev.activator.backend.policy;

import dev.activator.backend.policy.PodHealth.State;
import dev.activator.backend.policy.PodHealth.Phase;
import dev.activator.backend.policy.PodHealth.LastProbe;
import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The state of a {@code RevisionWatcher} that is not stopped. Each event updates the state; then
 * {@link #decide} decides what to publish and to probe.
 *
 * @param published what was published last; the same is not published twice
 * @param start an estimate of how long a pod takes to start
 * @param awaited when a request last waited; null if none did
 * @param current since when the listed pods are up to date with Kubernetes; null while they may be
 *     stale
 */
public record RevisionProbingState(ProbePolicy policy, RevisionPodHealth pods, ClusterIp clusterIp,
    HealthyDestinations published, @Nullable DurationEstimate start,
    @Nullable Duration awaited, @Nullable Duration current, Duration now)
    implements RevisionWatcherState {

  /**
   * How long {@link RevisionWatcherState.RequestWaits} is valid. It is repeated each second, so this is
   * a little more.
   */
  private static final Duration AWAITED = Duration.ofMillis(1_500);

  /**
   * The ClusterIP. It gets the requests if a mesh does not let pods be addressed directly.
   *
   * @param address null if there is none
   */
  public record ClusterIp(@Nullable Destination address, PodHealth health) {
    static final ClusterIp NONE = new ClusterIp(null, PodHealth.fresh(true, Duration.ZERO));

    boolean healthy() {
      return address != null && health.state() == State.HEALTHY;
    }

    boolean isAt(Destination destination) {
      return destination.equals(address);
    }

    ClusterIp with(PodHealth next) {
      return new ClusterIp(address, next);
    }

    boolean isUnreachable() {
      return health.state() == State.UNREACHABLE;
    }

    ClusterIp became(State next, Duration now) {
      return with(health.became(next, now).withNewProbe());
    }

    /** The time from which probes of pods may show that the ClusterIP is needed. */
    Duration podsProbedFrom() {
      return isUnreachable() ? health.since() : Duration.ZERO;
    }
  }

  /**
   * Attempts to connect that are repeated until one is not refused.
   *
   * @param limit zero for one attempt
   */
  public record Attempts(Duration pause, Duration limit) {}

  static RevisionProbingState of(ProbePolicy policy) {
    return new RevisionProbingState(policy, RevisionPodHealth.NONE, ClusterIp.NONE,
        HealthyDestinations.pods(policy.revision(), DestinationSet.NONE), null, null,
        Duration.ZERO, Duration.ZERO);
  }

  RevisionProbingState at(Duration next) {
    return new RevisionProbingState(policy, pods, clusterIp, published, start, awaited, current,
        next);
  }

  private RevisionProbingState with(RevisionPodHealth next) {
    return new RevisionProbingState(policy, next, clusterIp, published, start, awaited, current,
        now);
  }

  private RevisionProbingState with(ClusterIp next) {
    return new RevisionProbingState(policy, pods, next, published, start, awaited, current, now);
  }

  private Duration age(PodHealth known) {
    return now.minus(known.since());
  }

  Step relist(PodsByReadiness listing) {
    var next = with(pods.relist(listing, policy, now));
    boolean clusterIpIsReset = next.pods.listed().isEmpty()
        || clusterIp.isUnreachable() && !next.pods.any(PodHealth::ready);
    return (clusterIpIsReset ? next.with(clusterIp.became(State.UNKNOWN, now)) : next).decide();
  }

  Step moveClusterIp(@Nullable Destination next) {
    var before = clusterIp.address();
    if (Objects.equals(next, before)) {
      return decide();
    }
    var health = next == null ? PodHealth.fresh(true, now) : pods.appeared(next, true, now);
    var leaving = next == null ? pods.leaving() : pods.leaving().minus(next);
    return with(pods.leaving(
        before == null || !clusterIp.health().isInFlight() ? leaving : leaving.plus(before)))
        .with(new ClusterIp(next, health)).decide();
  }

  /**
   * Handles probes that have ended. Decides and copies only once for all of them, because thousands
   * may end together.
   */
  Step judge(List<EndedProbe> probes) {
    var listed = new TreeMap<>(pods.listed());
    var left = new ArrayList<Destination>();
    var effects = new ArrayList<Effect>();
    var learned = start;
    EndedProbe fromClusterIp = null;
    for (var ended : probes) {
      var known = listed.get(ended.from());
      if (known != null) {
        learned = learn(learned, known, ended);
        listed.put(ended.from(), judged(known, ended, learned, effects));
      } else if (clusterIp.isAt(ended.from())) {
        fromClusterIp = ended;
      } else {
        left.add(ended.from());
      }
    }
    var leaving = left.isEmpty() ? pods.leaving() : pods.leaving().minus(DestinationSet.of(left));
    var next = new RevisionProbingState(policy,
        new RevisionPodHealth(listed, leaving, pods.ending(), pods.identities()),
        clusterIp, published, learned, awaited, current, now);
    if (fromClusterIp != null) {
      next = next.clusterIpProbed(fromClusterIp, effects);
    }
    return left.size() == probes.size()
        ? Step.to(next)
        : next.decide(effects.toArray(Effect[]::new));
  }

  private @Nullable DurationEstimate learn(@Nullable DurationEstimate before, PodHealth known,
      EndedProbe ended) {
    return known.phase() == Phase.PROBING && ended.verdict().healthy() && known.measuresStart()
        ? DurationEstimate.after(before, age(known))
        : before;
  }

  /** The health after an answer. Adds a pause to the effects if the probe failed. */
  private PodHealth judged(PodHealth known, EndedProbe ended, @Nullable DurationEstimate learned,
      List<Effect> effects) {
    if (known.phase() != Phase.PROBING) {
      return known.phase() == Phase.OUTDATED ? known.in(Phase.IDLE) : known;
    }
    var probe = new LastProbe(ended.verdict(), now, ended.took());
    if (ended.verdict().healthy()) {
      return known.succeeded(probe);
    }
    if (!policy.wantsProbe(known)) {
      return known.in(Phase.IDLE);
    }
    var backoff = policy.backoff();
    var pause = published.clusterIp() == null
        ? pause(known, ended, known.state() == State.STARTING ? learned : null)
        : backoff.viaClusterIp(age(known));
    effects.add(new ProbeLater(ended.from(), backoff.rest(pause, ended.took())));
    return known.failed(probe);
  }

  private Duration pause(PodHealth known, EndedProbe ended, @Nullable DurationEstimate learned) {
    if (isUnneeded(known)) {
      return policy.backoff().unneeded(unneeded(known));
    }
    return isAwaited() && ended.verdict().kind().isCheap()
        ? policy.backoff().afterRefusal(age(known), learned)
        : policy.backoff().after(age(known), learned);
  }

  /** Whether a request waits now. */
  private boolean isAwaited() {
    return awaited != null && now.minus(awaited).compareTo(AWAITED) <= 0;
  }

  private Duration unneeded(PodHealth known) {
    return awaited == null || awaited.compareTo(known.since()) < 0
        ? age(known)
        : now.minus(awaited);
  }

  private boolean isUnneeded(PodHealth known) {
    return ProbeBackoff.isUnneeded(unneeded(known));
  }

  private RevisionProbingState clusterIpProbed(EndedProbe ended, List<Effect> effects) {
    var known = clusterIp.health();
    if (!known.isInFlight()) {
      return this;
    }
    if (known.phase() == Phase.OUTDATED || !wantsClusterIp()) {
      return with(clusterIp.with(known.in(Phase.IDLE)));
    }
    var probe = new LastProbe(ended.verdict(), now, ended.took());
    if (ended.verdict().healthy()) {
      return with(clusterIp.with(known.succeeded(probe)));
    }
    var backoff = policy.backoff();
    effects.add(
        new ProbeLater(ended.from(), backoff.rest(pause(known, ended, null), ended.took())));
    return with(clusterIp.with(known.failed(probe)));
  }

  Step wake(Destination destination) {
    var known = pods.find(destination);
    if (known != null) {
      return with(pods.with(destination, known.withoutPause())).decide();
    }
    return clusterIp.isAt(destination)
        ? with(clusterIp.with(clusterIp.health().withoutPause())).decide()
        : Step.to(this);
  }

  /** Call when a request waits. Ends the long pauses of addresses that no request needed before. */
  Step requestWaits() {
    var next = new RevisionProbingState(policy, pods, clusterIp, published, start, now, current,
        now);
    // A pod that was unlisted may be listed again before its probe is sent.
    boolean mayBeQueued = awaited == null && (pods.any(PodHealth::isInFlight)
        || clusterIp.health().isInFlight() || !pods.leaving().isEmpty());
    var hurry = mayBeQueued ? new Effect[]{new Hurry()} : new Effect[0];
    boolean podsAreNeeded = published.clusterIp() == null && pods.any(this::isUnneeded);
    if (!podsAreNeeded && !isUnneeded(clusterIp.health())) {
      return Step.to(next, hurry);
    }
    var woken = next.with(clusterIp.with(clusterIp.health().withoutPause()));
    return (podsAreNeeded
        ? woken.with(pods.each(pod -> isUnneeded(pod) ? pod.withoutPause() : pod))
        : woken).decide(hurry);
  }

  Step watch(boolean open) {
    return new RevisionProbingState(policy, pods, clusterIp, published, start, awaited,
        open ? now : null, now)
        .decide();
  }

  Step unreachable(Destination destination) {
    var known = pods.find(destination);
    if (known != null && serves(known)) {
      return markUnreachable(destination, known);
    }
    return clusterIp.isAt(destination) && clusterIp.healthy()
        ? backToPods(State.UNREACHABLE).decide()
        : Step.to(this);
  }

  /**
   * Marks a pod that a request could not reach. If the pod has served only for a short time, its
   * probe is delayed, because a pod that answers probes but fails requests would return after each
   * probe.
   */
  private Step markUnreachable(Destination pod, PodHealth known) {
    var unreachable = known.became(State.UNREACHABLE, now).withNewProbe();
    var pause = policy.backoff().frequency();
    return unreachable.isInFlight() || age(known).compareTo(pause) >= 0
        ? with(pods.with(pod, unreachable)).decide()
        : with(pods.with(pod, unreachable.in(Phase.PAUSED))).decide(new ProbeLater(pod, pause));
  }

  Step delete() {
    var none = HealthyDestinations.pods(policy.revision(), DestinationSet.NONE);
    return published.equals(none)
        ? Step.to(new Stopped())
        : Step.to(new Stopped(), new Publish(none));
  }

  /** Whether the scheduled probe of this address is still wanted. */
  public boolean isProbing(Destination destination) {
    var known = pods.find(destination);
    if (known == null && clusterIp.isAt(destination)) {
      known = clusterIp.health();
    }
    return known != null && known.phase() == Phase.PROBING;
  }

  /**
   * The attempts to connect before the probe of an address for which a request waits; null to send
   * the probe at once.
   *
   * <p>A pod that is listed as not ready usually does not listen yet. It first gets a single
   * attempt. If that fails, it counts as a failure, which is the condition for measuring the start.
   */
  public @Nullable Attempts attempts(Destination destination, Duration time) {
    var known = pods.find(destination);
    if (known == null) {
      return clusterIp.isAt(destination) && clusterIp.health().isRefused()
          ? attempts(clusterIp.health(), null, time)
          : null;
    }
    if (known.state() == State.STARTING && known.failures() == 0) {
      return new Attempts(Duration.ZERO, Duration.ZERO);
    }
    return known.isRefused()
        ? attempts(known, known.state() == State.STARTING ? start : null, time)
        : null;
  }

  private Attempts attempts(PodHealth known, @Nullable DurationEstimate learned, Duration time) {
    var backoff = policy.backoff();
    var age = time.minus(known.since());
    return new Attempts(backoff.afterRefusal(age, learned), published.clusterIp() == null
        ? backoff.repeatsAfterRefusal(age, learned)
        : Duration.ZERO);
  }

  /** Whether requests may go to the pod. */
  public boolean serves(PodHealth pod) {
    return policy.serves(pod, clusterIp.address() != null);
  }

  /** Decides what to publish, then what to probe. */
  Step decide(Effect... already) {
    var serving = pods.serving(this::serves);
    if (!serving.isEmpty() && (clusterIp.healthy() || clusterIp.isUnreachable())) {
      return backToPods(State.UNKNOWN).decide(already);
    }
    var effects = new ArrayList<Effect>();
    var destinations = destinations(serving);
    if (!destinations.equals(published)) {
      effects.add(new Publish(destinations));
    }
    effects.addAll(List.of(already));
    var probed = probePods(effects).probeClusterIp(effects);
    return new Step(
        new RevisionProbingState(policy, probed.pods, probed.clusterIp, destinations, start,
            awaited, current, now),
        List.copyOf(effects));
  }

  /**
   * Sends requests to the pods again, because the ClusterIP no longer serves. Ends the long pauses
   * between probes of pods.
   */
  private RevisionProbingState backToPods(State ofClusterIp) {
    return with(clusterIp.became(ofClusterIp, now)).with(pods.each(PodHealth::withoutPause));
  }

  private HealthyDestinations destinations(DestinationSet serving) {
    if (serving.isEmpty() && isGivenUp()) {
      return HealthyDestinations.givenUp(policy.revision());
    }
    if (!serving.isEmpty() || !clusterIp.healthy() || !pods.any(PodHealth::ready)) {
      return HealthyDestinations.pods(policy.revision(), serving);
    }
    return new HealthyDestinations(policy.revision(), clusterIp.address(),
        pods.where(PodHealth::ready));
  }

  /** Whether all destinations that served are given up, and Kubernetes has reported no others. */
  private boolean isGivenUp() {
    return current != null && now.minus(current).compareTo(PodHealth.CONNECT_TIMEOUT) >= 0
        && (!clusterIp.healthy() && pods.all(pod -> pod.isGivenUp(now))
            || wantsClusterIp() && clusterIp.health().isGivenUp(now));
  }

  private RevisionProbingState probePods(List<Effect> effects) {
    if (!pods.any(this::isNext)) {
      return this;
    }
    pods.listed().forEach((pod, known) -> {
      if (isNext(known)) {
        effects.add(new ProbeNow(pod, urgency(known)));
      }
    });
    return with(pods.each(pod -> isNext(pod) ? pod.in(Phase.PROBING) : pod));
  }

  /**
   * The urgency of a probe. A first probe is not urgent if no request has waited and no pod serves.
   */
  private Urgency urgency(PodHealth address) {
    boolean isNew = address.state() == State.UNKNOWN || address.state() == State.STARTING;
    if (address.failures() == 0 && isNew && awaited == null && published.pods().isEmpty()) {
      return Urgency.UNAWAITED;
    }
    var urgency = address.urgency(now);
    return urgency == Urgency.STARTING && address.isRefused() && isAwaited()
        ? Urgency.REFUSED
        : urgency;
  }

  private boolean isNext(PodHealth pod) {
    return pod.phase() == Phase.IDLE && policy.wantsProbe(pod);
  }

  private RevisionProbingState probeClusterIp(List<Effect> effects) {
    var address = clusterIp.address();
    var known = clusterIp.health();
    if (address == null || known.phase() != Phase.IDLE || !wantsClusterIp()) {
      return this;
    }
    effects.add(new ProbeNow(address, urgency(known)));
    // The age of a ClusterIP counts from when it is needed, not from when it was listed.
    var needed = known.state() == State.UNKNOWN ? known.became(known.state(), now) : known;
    return with(clusterIp.with(needed.in(Phase.PROBING)));
  }

  /**
   * Whether the ClusterIP is probed. Without a ready pod it has no endpoints. It is not needed if a
   * pod answers, or has sent a response that no mesh would send.
   */
  private boolean wantsClusterIp() {
    return policy.addressing().clusterIpMayServe() && !clusterIp.healthy()
        && pods.any(PodHealth::ready)
        && (!policy.addressing().podsAreProbed()
            || pods.all(pod -> pod.indicatesMesh(clusterIp.podsProbedFrom())));
  }
}
