package dev.activator.backend;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.backend.policy.ProbeTarget;
import dev.activator.backend.policy.Traits;
import dev.activator.backend.policy.WatcherEffect;
import dev.activator.backend.policy.WatcherEffect.Probe;
import dev.activator.backend.policy.WatcherEffect.ProbeLater;
import dev.activator.backend.policy.WatcherEffect.Publish;
import dev.activator.backend.policy.WatcherEvent;
import dev.activator.backend.policy.WatcherEvent.Addressed;
import dev.activator.backend.policy.WatcherEvent.Answered;
import dev.activator.backend.policy.WatcherEvent.Cancelled;
import dev.activator.backend.policy.WatcherEvent.Deleted;
import dev.activator.backend.policy.WatcherEvent.Due;
import dev.activator.backend.policy.WatcherEvent.Listed;
import dev.activator.backend.policy.WatcherEvent.Suspected;
import dev.activator.backend.policy.WatcherState;
import dev.activator.backend.policy.WatcherState.Step;
import dev.activator.backend.policy.WatcherState.Stopped;
import dev.activator.backend.policy.Watching;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out which pods of one revision can take requests, and says so whenever that changes.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. The state belongs to {@code loop}, which also makes every
 * call to {@code out}: updates come one at a time, in order, and there is no lock.
 *
 * <p>
 * <b>Errors.</b> None are thrown. A probe that fails or times out means "does not answer". A step
 * that throws is a bug: it is logged, and the watcher goes on from the last listing.
 *
 * <p>
 * <b>Source.</b> {@code checkDests} in Knative Serving's {@code revision_backends.go}, which probes
 * whatever is not yet healthy on one 200 ms tick. Here each pod has its own clock.
 */
final class RevisionWatcher {
  private static final Logger log = LoggerFactory.getLogger(RevisionWatcher.class);

  private final Loop loop;
  private final Prober prober;
  private final Consumer<HealthyDestinations> out;
  private final BiFunction<WatcherState, WatcherEvent, Step> policy;
  private final Map<ProbeTarget, Loop.Timer> pauses = new HashMap<>();
  private final Set<ProbeTarget> underWay = new HashSet<>();
  private Listing lastListing = Listing.NONE;
  private @Nullable Destination lastClusterIp;

  /** Written by the loop alone; read by whoever wants a view. */
  private volatile WatcherState state;

  RevisionWatcher(Traits traits, Loop loop, Prober prober, Consumer<HealthyDestinations> out) {
    this(traits, loop, prober, out, WatcherState::on);
  }

  /** With another policy: how the watcher survives a wrong one can be seen only so. */
  RevisionWatcher(Traits traits, Loop loop, Prober prober, Consumer<HealthyDestinations> out,
      BiFunction<WatcherState, WatcherEvent, Step> policy) {
    this.loop = loop;
    this.prober = prober;
    this.out = out;
    this.policy = policy;
    this.state = WatcherState.of(traits);
  }

  /** Kubernetes lists these pods now; none means scaled to zero. */
  void listed(Listing pods) {
    handle(new Listed(pods));
  }

  /** The private Service has this address now; null when it has none. */
  void addressed(@Nullable Destination clusterIp) {
    handle(new Addressed(clusterIp));
  }

  /** A request could not be delivered there; it is probed before it serves again. */
  void suspected(Destination destination) {
    handle(new Suspected(destination));
  }

  /** The revision is gone: what was published is taken back, and nothing follows. */
  void deleted() {
    handle(new Deleted());
  }

  /** Nothing is published any more. */
  void cancelled() {
    handle(new Cancelled());
  }

  /** What is known now, or null when the watcher has ended. */
  @Nullable BackendsView view() {
    return state instanceof Watching now ? BackendsView.of(now) : null;
  }

  private void handle(WatcherEvent event) {
    loop.execute(() -> apply(event));
  }

  private void apply(WatcherEvent event) {
    remember(event);
    step(event).forEach(this::perform);
    if (state instanceof Stopped) {
      stopPauses();
    }
  }

  private void remember(WatcherEvent event) {
    switch (event) {
      case Listed(var pods) -> lastListing = pods;
      case Addressed(var clusterIp) -> lastClusterIp = clusterIp;
      case Answered(var target, var outcome) -> underWay.remove(target);
      default -> {
        // nothing of it outlives the step
      }
    }
  }

  private List<WatcherEffect> step(WatcherEvent event) {
    try {
      var step = policy.apply(state, event);
      state = step.next();
      return step.effects();
    } catch (RuntimeException bug) {
      log.error("{} in state {} broke a watcher, which starts again from the last listing", event,
          state, bug);
      return rebuild();
    }
  }

  /** The state may be what breaks the step, so it is made anew from what is known for certain. */
  private List<WatcherEffect> rebuild() {
    if (!(state instanceof Watching broken)) {
      return List.of();
    }
    stopPauses();
    var probed = underWay.stream().filter(ProbeTarget.Pod.class::isInstance)
        .map(ProbeTarget::destination).toList();
    var effects = new ArrayList<WatcherEffect>();
    WatcherState next = broken.rebuilt(Destinations.of(probed));
    for (var fact : List.of(new Listed(lastListing), new Addressed(lastClusterIp))) {
      var step = next.on(fact);
      next = step.next();
      effects.addAll(step.effects());
    }
    state = next;
    return effects;
  }

  private void perform(WatcherEffect effect) {
    switch (effect) {
      case Publish(var destinations) -> publish(destinations);
      case Probe(var target) -> probe(target);
      case ProbeLater(var target, var pause) -> {
        stopPause(target);
        pauses.put(target, loop.schedule(pause, () -> {
          pauses.remove(target);
          apply(new Due(target));
        }));
      }
    }
  }

  private void publish(HealthyDestinations destinations) {
    log.info("{}: requests can go to {}", destinations.revision(), inWords(destinations));
    try {
      out.accept(destinations);
    } catch (RuntimeException bug) {
      log.error("{}: the news was not taken", destinations.revision(), bug);
    }
  }

  private static String inWords(HealthyDestinations destinations) {
    int count = destinations.pods().size();
    if (destinations.clusterIp() != null) {
      return destinations.clusterIp() + ", the ClusterIP of " + count + " ready pods";
    }
    return count == 0 ? "no pod" : count + " pods that answer";
  }

  private void probe(ProbeTarget target) {
    stopPause(target);
    underWay.add(target);
    try {
      prober.probe(target.destination(), outcome -> handle(new Answered(target, outcome)));
    } catch (RuntimeException bug) {
      log.error("The probe of {} was not sent", target.destination(), bug);
      handle(new Answered(target, ProbeOutcome.noAnswer("not sent")));
    }
  }

  private void stopPause(ProbeTarget target) {
    var pause = pauses.remove(target);
    if (pause != null) {
      pause.cancel();
    }
  }

  private void stopPauses() {
    pauses.values().forEach(Loop.Timer::cancel);
    pauses.clear();
  }
}
