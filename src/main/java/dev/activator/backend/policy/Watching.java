package dev.activator.backend.policy;

import dev.activator.backend.policy.Candidate.Belief;
import dev.activator.backend.policy.Candidate.Phase;
import dev.activator.backend.policy.WatcherEffect.Probe;
import dev.activator.backend.policy.WatcherEffect.ProbeLater;
import dev.activator.backend.policy.WatcherEffect.Publish;
import dev.activator.backend.policy.WatcherEvent.PodAnswer;
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
 * @param start how long its pods took to start; null before the first did
 * @param now when the last event came, since some origin
 */
public record Watching(Traits traits, Pods pods, Fallback fallback, HealthyDestinations published,
    @Nullable Estimate start, Duration now) implements WatcherState {

  static Watching of(Traits traits) {
    return new Watching(traits, Pods.NONE, Fallback.NONE,
        HealthyDestinations.pods(traits.revision(), Destinations.NONE), null, Duration.ZERO);
  }

  Watching at(Duration next) {
    return new Watching(traits, pods, fallback, published, start, next);
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
      known.put(pod, Candidate.fresh(true, now).believed(Belief.DOUBTED, now).in(phase));
    }
    var leaving = underWay.minus(Destinations.of(known.keySet()));
    return new Watching(traits, new Pods(known, leaving, Destinations.NONE), Fallback.NONE,
        published,
        start, now);
  }

  private Destinations directlyPublished() {
    return published.clusterIp() == null ? published.pods() : Destinations.NONE;
  }

  Step relist(Listing listing) {
    var next = with(pods.relist(listing, traits, now));
    return (next.pods.listed().isEmpty() ? next.with(fallback.forgotten(now)) : next).settle();
  }

  Step moveClusterIp(@Nullable Destination clusterIp) {
    return with(fallback.moved(clusterIp, now)).settle();
  }

  /** One conclusion is drawn from all of them. */
  Step podsAnswered(List<PodAnswer> answers) {
    var judged = new Answers(this);
    answers.forEach(judged::take);
    return judged.step();
  }

  Watching after(Pods judged, @Nullable Estimate learned) {
    return new Watching(traits, judged, fallback, published, learned, now);
  }

  private Duration age(Candidate known) {
    return now.minus(known.since());
  }

  Step clusterIpAnswered(Destination asked, ProbeOutcome outcome, Duration took) {
    var known = fallback.known();
    if (!fallback.isAt(asked) || !known.isUnderWay()) {
      return Step.to(this);
    }
    if (known.phase() == Phase.ASKED_IN_VAIN || !wantsFallback()) {
      return with(fallback.with(known.in(Phase.RESTING))).settle();
    }
    if (outcome.healthy()) {
      return with(fallback.with(known.succeeded(new Probed(outcome, now, took)))).settle();
    }
    var pause = traits.pauses().rest(traits.pauses().after(age(known), null), took);
    return with(fallback.with(known.failed(new Probed(outcome, now, took))))
        .settle(new ProbeLater(new ProbeTarget.ClusterIp(asked), pause));
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

  /** Whether the target is still to be probed: much may happen between the wish and its turn. */
  public boolean awaits(ProbeTarget target) {
    return switch (target) {
      case ProbeTarget.Pod(var pod) -> isAsked(pods.find(pod));
      case ProbeTarget.ClusterIp(var ip) -> fallback.isAt(ip) && isAsked(fallback.known());
    };
  }

  private static boolean isAsked(@Nullable Candidate known) {
    return known != null && known.phase() == Phase.ASKED;
  }

  /** It serves no more until it has answered a probe that begins now, or soon. */
  Step suspect(Destination destination) {
    var known = pods.find(destination);
    if (known != null && traits.serves(known)) {
      return distrust(destination, known);
    }
    return fallback.isAt(destination) && fallback.healthy()
        ? backToPods().settle()
        : Step.to(this);
  }

  /**
   * One that answers probes but not requests would come back as often as it is asked. So it comes
   * back at once only if it has been good for a while.
   */
  private Step distrust(Destination pod, Candidate known) {
    var bad = known.believed(Belief.UNHEALTHY, now).afresh();
    var pause = traits.pauses().frequency();
    return bad.isUnderWay() || age(known).compareTo(pause) >= 0
        ? with(pods.with(pod, bad)).settle()
        : with(pods.with(pod, bad.in(Phase.WAITING)))
            .settle(new ProbeLater(new ProbeTarget.Pod(pod), pause));
  }

  Step delete() {
    var none = HealthyDestinations.pods(traits.revision(), Destinations.NONE);
    return published.equals(none)
        ? Step.to(new Stopped())
        : Step.to(new Stopped(), new Publish(none));
  }

  /** What follows from what is known: first what is published, then who is probed. */
  Step settle(WatcherEffect... already) {
    var serving = pods.serving(traits);
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
    return new Step(
        new Watching(traits, probed.pods, probed.fallback, route, start, now),
        List.copyOf(effects));
  }

  /** The ClusterIP serves no more, and so the long pauses of the pods are over. */
  private Watching backToPods() {
    return with(fallback.forgotten(now)).with(pods.each(Candidate::awake));
  }

  private HealthyDestinations route(Destinations serving) {
    if (!serving.isEmpty() || !fallback.healthy() || !pods.any(Candidate::ready)) {
      return HealthyDestinations.pods(traits.revision(), serving);
    }
    return new HealthyDestinations(traits.revision(), fallback.clusterIp(),
        pods.where(Candidate::ready));
  }

  private Watching probePods(List<WatcherEffect> effects) {
    if (!pods.any(this::isNext)) {
      return this;
    }
    pods.listed().forEach((pod, known) -> {
      if (isNext(known)) {
        effects.add(new Probe(new ProbeTarget.Pod(pod), known.urgency(now)));
      }
    });
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
    var target = new ProbeTarget.ClusterIp(clusterIp);
    effects.add(new Probe(target, fallback.known().urgency(now)));
    return with(fallback.with(fallback.known().asked(now)));
  }

  /**
   * Whether the ClusterIP is to be probed. While no pod is ready it leads nowhere, and while one
   * answers, or answered as no mesh does, it is not needed.
   */
  private boolean wantsFallback() {
    return traits.addressing().clusterIpMayServe() && !fallback.healthy()
        && pods.any(Candidate::ready)
        && (!traits.addressing().podsAreProbed() || pods.looksLikeAMesh());
  }

  private Watching with(Pods next) {
    return new Watching(traits, next, fallback, published, start, now);
  }

  private Watching with(Fallback next) {
    return new Watching(traits, pods, next, published, start, now);
  }
}
