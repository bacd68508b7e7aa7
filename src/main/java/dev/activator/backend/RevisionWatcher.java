package dev.activator.backend;

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
import dev.activator.backend.policy.WatcherEvent.Listed;
import dev.activator.backend.policy.WatcherEvent.PodAnswer;
import dev.activator.backend.policy.WatcherEvent.PodsAnswered;
import dev.activator.backend.policy.WatcherEvent.Suspected;
import dev.activator.backend.policy.WatcherState;
import dev.activator.backend.policy.WatcherState.Stopped;
import dev.activator.backend.policy.Watching;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out which pods of one revision can take requests, and says so whenever that changes.
 *
 * <p>
 * <b>Threads.</b> Any thread may call in. The state belongs to {@code loop}, which also makes every
 * call to {@code out}: updates come one at a time, in order, and there is no lock. The first pod, and
 * that one is lost, is said at once; what only adds to what was said waits for what is in the loop's
 * queue already, so that thousands of pods that answer together are a few updates. Their answers are
 * judged together likewise.
 *
 * <p>
 * <b>Errors.</b> None are thrown. A probe that fails or times out means "does not answer". A step
 * that throws is a bug: it is logged, and the watcher goes on from the last listing.
 *
 * <p>
 * <b>Source.</b> {@code checkDests} in Knative Serving's {@code revision_backends.go}, which probes
 * whatever is not yet healthy on one 200 ms tick. Here each pod has its own clock.
 */
final class RevisionWatcher implements Probing.Asker {
  private static final Logger log = LoggerFactory.getLogger(RevisionWatcher.class);
  private static final Duration RECOVERY = Duration.ofSeconds(1);

  private final Loop loop;
  private final Shared shared;
  private final Probing probing;
  private final Consumer<HealthyDestinations> out;
  private Listing lastListing = Listing.NONE;
  private @Nullable Destination lastClusterIp;
  /** Those that came since the last was judged, and are at the end of this turn. */
  private final List<PodAnswer> answers = new ArrayList<>();
  private boolean gathering;
  private boolean recovering;
  private boolean brokenAgain;
  private HealthyDestinations said;
  /** What only adds to {@code said}, and is said at the end of this turn; null if nothing does. */
  private @Nullable HealthyDestinations further;

  /** Written by the loop alone; read by whoever wants a view. */
  private volatile WatcherState state;

  RevisionWatcher(Traits traits, Loop loop, Prober prober, Shared shared,
      Consumer<HealthyDestinations> out) {
    this.loop = loop;
    this.shared = shared;
    this.probing = new Probing(traits.revision(), loop, prober, shared, this);
    this.out = out;
    this.said = HealthyDestinations.pods(traits.revision(), Destinations.NONE);
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
    return state instanceof Watching now
        ? BackendsView.of(now, Duration.ofNanos(loop.nanoTime()))
        : null;
  }

  private void handle(WatcherEvent event) {
    loop.execute(() -> on(event));
  }

  @Override
  public boolean awaits(ProbeTarget target) {
    return state instanceof Watching now && now.awaits(target);
  }

  @Override
  public void on(WatcherEvent event) {
    if (event instanceof Answered(ProbeTarget.Pod(var pod), var outcome, var took)) {
      answered(new PodAnswer(pod, outcome, took));
    } else {
      judgeAnswers();
      happened(event);
    }
  }

  /** The first one counts at once, and so does the first that lets a request run. */
  private void answered(PodAnswer answer) {
    answers.add(answer);
    boolean first = !gathering;
    if (first) {
      gathering = true;
      loop.execute(() -> {
        gathering = false;
        judgeAnswers();
      });
    }
    if (first || answer.outcome().healthy() && said.pods().isEmpty()) {
      judgeAnswers();
    }
  }

  private void judgeAnswers() {
    if (!answers.isEmpty()) {
      var all = new PodsAnswered(answers);
      answers.clear();
      happened(all);
    }
  }

  private void happened(WatcherEvent event) {
    remember(event);
    step(event).forEach(this::perform);
    if (state instanceof Stopped) {
      probing.endPauses();
    }
  }

  private void remember(WatcherEvent event) {
    switch (event) {
      case Listed(var pods) -> lastListing = pods;
      case Addressed(var clusterIp) -> lastClusterIp = clusterIp;
      default -> {
        // nothing of it outlives the step
      }
    }
  }

  private List<WatcherEffect> step(WatcherEvent event) {
    try {
      return take(event);
    } catch (RuntimeException bug) {
      shared.policyFailures().increment();
      log.error("{} in state {} broke a watcher, which starts again from the last listing", event,
          state, bug);
      brokenAgain = recovering;
      return recovering ? List.of() : rebuild();
    }
  }

  private List<WatcherEffect> take(WatcherEvent event) {
    var step = shared.policy().step(state, event, Duration.ofNanos(loop.nanoTime()));
    state = step.next();
    return step.effects();
  }

  /**
   * The state may be what breaks the step, so it is made anew from what is known for certain. Where
   * even that fails, what was published stays. What is broken for good is made anew each second,
   * and not as often as it can be.
   */
  private List<WatcherEffect> rebuild() {
    if (!(state instanceof Watching broken)) {
      return List.of();
    }
    recovering = true;
    loop.schedule(RECOVERY, this::recovered);
    probing.endPauses();
    answers.clear();
    state = broken.rebuilt(probing.podsUnderWay());
    var effects = new ArrayList<WatcherEffect>();
    try {
      effects.addAll(take(new Listed(lastListing)));
      effects.addAll(take(new Addressed(lastClusterIp)));
    } catch (RuntimeException again) {
      shared.policyFailures().increment();
      log.error("A watcher cannot start again from {}", lastListing, again);
      brokenAgain = true;
    }
    return effects;
  }

  private void recovered() {
    recovering = false;
    if (brokenAgain) {
      brokenAgain = false;
      rebuild().forEach(this::perform);
    }
  }

  private void perform(WatcherEffect effect) {
    switch (effect) {
      case Publish(var destinations) -> publish(destinations);
      case Probe(var target, var urgency) -> probing.now(target, urgency);
      case ProbeLater(var target, var pause) -> probing.later(target, pause);
    }
  }

  private void publish(HealthyDestinations destinations) {
    if (!destinations.onlyAddsTo(said)) {
      further = null;
      say(destinations);
      return;
    }
    if (further == null) {
      loop.execute(this::sayFurther);
    }
    further = destinations;
  }

  private void sayFurther() {
    var now = further;
    further = null;
    if (now != null && !now.equals(said) && !(state instanceof Stopped)) {
      say(now);
    }
  }

  private void say(HealthyDestinations destinations) {
    said = destinations;
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
}
