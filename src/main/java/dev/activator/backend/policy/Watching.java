package dev.activator.backend.policy;

import dev.activator.backend.policy.Candidate.Belief;
import dev.activator.backend.policy.Candidate.Phase;
import dev.activator.backend.policy.WatcherEffect.Probe;
import dev.activator.backend.policy.WatcherEffect.ProbeLater;
import dev.activator.backend.policy.WatcherEffect.Publish;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The revision exists. Each event changes what is known, and then {@link #settle} draws the
 * conclusions: what to publish, whom to probe.
 *
 * @param traits what does not change
 * @param pods what is known of the pods
 * @param fallback what is known of the ClusterIP
 * @param published what was said last; nothing is said twice
 */
public record Watching(Traits traits, Pods pods, Fallback fallback,
    HealthyDestinations published) implements WatcherState {

  static Watching of(Traits traits) {
    return new Watching(traits, Pods.NONE, Fallback.NONE,
        HealthyDestinations.pods(traits.revision(), Destinations.NONE));
  }

  /**
   * This revision again, from the little that is certain, after a step from this state failed.
   *
   * @param underWay the pods whose probe has not ended
   */
  public Watching rebuilt(Destinations underWay) {
    var known = new TreeMap<Destination, Candidate>();
    for (var pod : directlyPublished().all()) {
      var phase = underWay.contains(pod) ? Phase.ASKED_IN_VAIN : Phase.RESTING;
      known.put(pod, Candidate.unknown(true).believed(Belief.DOUBTED).in(phase));
    }
    var leaving = underWay.minus(Destinations.of(known.keySet()));
    return new Watching(traits, new Pods(known, leaving), Fallback.NONE, published);
  }

  private Destinations directlyPublished() {
    return published.clusterIp() == null ? published.pods() : Destinations.NONE;
  }

  Step relist(Listing listing) {
    var next = with(pods.relist(listing, traits));
    return (next.pods.listed().isEmpty() ? next.with(fallback.forgotten()) : next).settle();
  }

  Step moveClusterIp(@Nullable Destination clusterIp) {
    return with(fallback.moved(clusterIp)).settle();
  }

  Step podAnswered(Destination pod, ProbeOutcome outcome) {
    var known = pods.find(pod);
    if (known == null) {
      return Step.to(with(pods.left(pod)));
    }
    return switch (known.phase()) {
      case RESTING, WAITING -> Step.to(this);
      case ASKED_IN_VAIN -> with(pods.with(pod, known.in(Phase.RESTING))).settle();
      case ASKED -> judge(pod, known, outcome);
    };
  }

  private Step judge(Destination pod, Candidate known, ProbeOutcome outcome) {
    if (outcome.healthy()) {
      return with(pods.with(pod, known.succeeded(outcome))).settle();
    }
    if (!traits.wantsProbe(known)) {
      return with(pods.with(pod, known.in(Phase.RESTING))).settle();
    }
    var failed = known.failed(outcome);
    return with(pods.with(pod, failed))
        .settle(new ProbeLater(new ProbeTarget.Pod(pod), pauseAfter(failed.failures())));
  }

  private Duration pauseAfter(int failures) {
    return published.clusterIp() == null
        ? traits.pauses().after(failures)
        : traits.pauses().viaClusterIp(failures);
  }

  Step clusterIpAnswered(Destination asked, ProbeOutcome outcome) {
    var known = fallback.known();
    if (!fallback.isAt(asked) || !known.isUnderWay()) {
      return Step.to(this);
    }
    if (known.phase() == Phase.ASKED_IN_VAIN || !wantsFallback()) {
      return with(fallback.with(known.in(Phase.RESTING))).settle();
    }
    if (outcome.healthy()) {
      return with(fallback.with(known.succeeded(outcome))).settle();
    }
    var failed = known.failed(outcome);
    return with(fallback.with(failed)).settle(new ProbeLater(new ProbeTarget.ClusterIp(asked),
        traits.pauses().after(failed.failures())));
  }

  Step wake(Destination pod) {
    var known = pods.find(pod);
    return known == null ? Step.to(this) : with(pods.with(pod, known.awake())).settle();
  }

  Step wakeClusterIp(Destination asked) {
    return fallback.isAt(asked)
        ? with(fallback.with(fallback.known().awake())).settle()
        : Step.to(this);
  }

  /** It serves no more until it has answered a probe that begins now. */
  Step suspect(Destination destination) {
    var known = pods.find(destination);
    if (known != null && traits.serves(known)) {
      return with(pods.with(destination, known.believed(Belief.UNHEALTHY).afresh())).settle();
    }
    return fallback.isAt(destination) && fallback.healthy()
        ? backToPods().settle()
        : Step.to(this);
  }

  Step delete() {
    var none = HealthyDestinations.pods(traits.revision(), Destinations.NONE);
    return published.equals(none)
        ? Step.to(new Stopped())
        : Step.to(new Stopped(), new Publish(none));
  }

  /** What follows from what is known: first what is published, then who is probed. */
  private Step settle(WatcherEffect... already) {
    var serving = pods.where(traits::serves);
    if (!serving.isEmpty() && fallback.healthy()) {
      return backToPods().settle(already);
    }
    var effects = new ArrayList<WatcherEffect>();
    var route = route(serving);
    if (!route.equals(published)) {
      effects.add(new Publish(route));
    }
    effects.addAll(List.of(already));
    var probed = probePods(effects).probeFallback(effects);
    return new Step(new Watching(traits, probed.pods, probed.fallback, route),
        List.copyOf(effects));
  }

  /** The ClusterIP serves no more, and so the long pauses of the pods are over. */
  private Watching backToPods() {
    return with(fallback.forgotten()).with(pods.each(Candidate::awake));
  }

  private HealthyDestinations route(Destinations serving) {
    var ready = pods.where(Candidate::ready);
    return serving.isEmpty() && fallback.healthy() && !ready.isEmpty()
        ? new HealthyDestinations(traits.revision(), fallback.clusterIp(), ready)
        : HealthyDestinations.pods(traits.revision(), serving);
  }

  private Watching probePods(List<WatcherEffect> effects) {
    pods.where(this::isNext).all().forEach(pod -> effects.add(new Probe(new ProbeTarget.Pod(pod))));
    return with(pods.each(pod -> isNext(pod) ? pod.in(Phase.ASKED) : pod));
  }

  private boolean isNext(Candidate pod) {
    return pod.phase() == Phase.RESTING && traits.wantsProbe(pod);
  }

  private Watching probeFallback(List<WatcherEffect> effects) {
    var clusterIp = fallback.clusterIp();
    if (clusterIp == null || fallback.known().phase() != Phase.RESTING || !wantsFallback()) {
      return this;
    }
    effects.add(new Probe(new ProbeTarget.ClusterIp(clusterIp)));
    return with(fallback.with(fallback.known().in(Phase.ASKED)));
  }

  /**
   * Whether the ClusterIP is to be probed. While no pod is ready it leads nowhere, and while one
   * answers, or answered as no mesh does, it is not needed.
   */
  private boolean wantsFallback() {
    return traits.addressing().clusterIpMayServe() && !fallback.healthy()
        && !pods.where(Candidate::ready).isEmpty()
        && (!traits.addressing().podsAreProbed() || pods.looksLikeAMesh());
  }

  private Watching with(Pods now) {
    return new Watching(traits, now, fallback, published);
  }

  private Watching with(Fallback now) {
    return new Watching(traits, pods, now, published);
  }
}
