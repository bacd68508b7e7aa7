package dev.activator.backend;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.backend.policy.ProbeVerdict;
import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.backend.policy.ProbePolicy;
import dev.activator.backend.policy.RevisionWatcherState;
import dev.activator.backend.policy.RevisionWatcherState.Addressed;
import dev.activator.backend.policy.RevisionWatcherState.EndedProbe;
import dev.activator.backend.policy.RevisionWatcherState.Probed;
import dev.activator.backend.policy.RevisionWatcherState.RequestWaits;
import dev.activator.backend.policy.RevisionWatcherState.Cancelled;
import dev.activator.backend.policy.RevisionWatcherState.Ended;
import dev.activator.backend.policy.RevisionWatcherState.Due;
import dev.activator.backend.policy.RevisionWatcherState.Effect;
import dev.activator.backend.policy.RevisionWatcherState.Event;
import dev.activator.backend.policy.RevisionWatcherState.Hurry;
import dev.activator.backend.policy.RevisionWatcherState.Listed;
import dev.activator.backend.policy.RevisionWatcherState.ProbeLater;
import dev.activator.backend.policy.RevisionWatcherState.ProbeNow;
import dev.activator.backend.policy.RevisionWatcherState.Publish;
import dev.activator.backend.policy.RevisionWatcherState.Stopped;
import dev.activator.backend.policy.RevisionWatcherState.Unreachable;
import dev.activator.backend.policy.RevisionWatcherState.WatchChanged;
import dev.activator.backend.policy.RevisionProbingState;
import dev.activator.backend.policy.RevisionProbingState.Attempts;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodTransport;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks which pods of one revision can take requests.
 *
 * <p>The first pod and each lost pod are published immediately. Further pods, and ends of
 * probes, are batched until the end of the loop's turn, so that thousands of them need only a few
 * publications.
 *
 * <p><b>Threads.</b> The revision's loop; any for {@link #view} and {@link #accepts}.
 *
 * <p><b>Units.</b> Pauses are randomly shortened by up to a fifth, so that pods are not probed at
 * the same time.
 *
 * <p><b>Errors.</b> A step that throws is a bug: the watcher ends and publishes that the revision
 * has no pods.
 *
 * <p><b>Source.</b> Knative's {@code checkDests} probes all pods that are not healthy at each tick
 * of 200 ms; here each pod has its own schedule.
 */
final class RevisionWatcher {
  private static final Logger log = LoggerFactory.getLogger(RevisionWatcher.class);
  private static final double SPREAD = 0.2;
  private static final ProbeVerdict NOT_SENT = new ProbeVerdict(Kind.NO_CONNECTION,
      "not sent");

  private final RevisionId revision;
  private final Loop loop;
  private final PodProber prober;
  private final ProbeRateLimiter rateLimiter;
  private final RandomGenerator random;
  private final Consumer<HealthyDestinations> listener;
  private final Map<Destination, Loop.Timer> pauses = new HashMap<>(4);
  private final List<EndedProbe> ended = new ArrayList<>(0);
  /** The origin of the watcher's times. Times since it can be compared without overflow. */
  private final long begunNanos;
  private boolean batchIsOpen;
  private Loop probesOn;
  /**
   * The last publication, while that of further pods is delayed until the end of this turn;
   * otherwise null.
   */
  private @Nullable HealthyDestinations behind;

  /** Written only by the loop. */
  private volatile RevisionWatcherState state;

  RevisionWatcher(ProbePolicy policy, Loop loop, PodProber prober, ProbeRateLimiter rateLimiter,
      RandomGenerator random, Consumer<HealthyDestinations> listener) {
    this.revision = policy.revision();
    this.loop = loop;
    this.prober = prober;
    this.rateLimiter = rateLimiter;
    this.random = random;
    this.listener = listener;
    this.begunNanos = loop.nanoTime();
    this.probesOn = loop;
    this.state = RevisionWatcherState.of(policy);
  }

  /** @param pods empty if scaled to zero */
  void listed(PodsByReadiness pods) {
    handle(new Listed(pods));
  }

  void addressed(@Nullable Destination clusterIp) {
    handle(new Addressed(clusterIp));
  }

  /** Call when a request could not be delivered. The pod is probed before it serves again. */
  void onUnreachable(Destination destination) {
    handle(new Unreachable(destination));
  }

  /** @param on the loop of the request that waits: probes are sent from there */
  void onRequestWaits(Loop on) {
    probesOn = on;
    handle(new RequestWaits());
  }

  /** @param now how the same pods are reached from now on */
  void transport(PodTransport now) {
    if (!now.equals(prober.transport())) {
      prober.setTransport(now);
      publishNow(state instanceof RevisionProbingState probing ? probing.published() : none());
    }
  }

  void watchChanged(boolean open) {
    handle(new WatchChanged(open));
  }

  /** Publishes that the revision has no pods. */
  void ended() {
    handle(new Ended());
  }

  /** Publishes nothing. */
  void cancelled() {
    handle(new Cancelled());
  }

  boolean hasEnded() {
    return state instanceof Stopped;
  }

  @Nullable RevisionBackendsView view() {
    return state instanceof RevisionProbingState now
        ? RevisionBackendsView.of(now, time())
        : null;
  }

  /** How long a pod has accepted connections; null if it does not. */
  @Nullable Duration accepts(Destination pod) {
    var known = state instanceof RevisionProbingState now ? now.pods().listed().get(pod) : null;
    var since = known == null ? null : known.accepts();
    return since == null ? null : time().minus(since);
  }

  private Duration time() {
    return Duration.ofNanos(loop.nanoTime() - begunNanos);
  }

  private void handle(Event event) {
    judgeProbes();
    step(event);
  }

  /**
   * Handles a probe that has ended: at once if it is the first of this turn or may make the first
   * pod healthy, otherwise at the end of the turn.
   */
  private void probed(EndedProbe probe) {
    ended.add(probe);
    boolean first = !batchIsOpen;
    if (first) {
      batchIsOpen = true;
      loop.execute(() -> {
        batchIsOpen = false;
        judgeProbes();
      });
    }
    if (first || probe.verdict().healthy() && published().pods().isEmpty()) {
      judgeProbes();
    }
  }

  private void judgeProbes() {
    if (!ended.isEmpty()) {
      var all = new Probed(ended);
      ended.clear();
      step(all);
    }
  }

  private void step(Event event) {
    log.trace("{}: {}", revision, event);
    try {
      var known = published();
      var step = state.on(event, time());
      state = step.next();
      step.effects().forEach(effect -> perform(effect, known));
    } catch (RuntimeException e) {
      fail(event, e);
    }
    if (hasEnded()) {
      pauses.values().forEach(Loop.Timer::cancel);
      pauses.clear();
    }
  }

  private void fail(Object doing, RuntimeException bug) {
    log.error("{}: a bug ended the watcher at {} in state {}; the next event of the Endpoints or"
        + " Revision starts another", revision, doing, state, bug);
    var known = published();
    state = new Stopped();
    if (!known.equals(none())) {
      publishNow(none());
    }
  }

  /** @param known the last publication */
  private void perform(Effect effect, HealthyDestinations known) {
    switch (effect) {
      case Publish(var destinations) -> publish(destinations, known);
      case ProbeNow(var destination, var urgency) -> probeNow(destination, urgency);
      case Hurry() -> rateLimiter.hurry(revision);
      case ProbeLater(var destination, var pause) -> probeLater(destination, pause);
    }
  }

  private void probeNow(Destination destination, Urgency urgency) {
    endPause(destination);
    if (urgency == Urgency.REFUSED) {
      send(destination, urgency);
    } else {
      rateLimiter.schedule(revision, urgency, loop, sentAs -> send(destination, sentAs));
    }
  }

  private void probeLater(Destination destination, Duration pause) {
    endPause(destination);
    var spread = Duration.ofNanos((long) (pause.toNanos() * (1 - SPREAD * random.nextDouble())));
    pauses.put(destination, loop.schedule(spread, () -> {
      pauses.remove(destination);
      handle(new Due(destination));
    }));
  }

  private void endPause(Destination destination) {
    var pause = pauses.remove(destination);
    if (pause != null) {
      pause.cancel();
    }
  }

  private void send(Destination destination, Urgency urgency) {
    if (!(state instanceof RevisionProbingState now && now.isProbing(destination))) {
      rateLimiter.notSent(revision, urgency);
      probed(new EndedProbe(destination, NOT_SENT, Duration.ZERO));
      return;
    }
    boolean awaited = urgency == Urgency.FIRST || urgency == Urgency.REFUSED;
    var attempts = awaited ? now.attempts(destination, time()) : null;
    if (attempts == null) {
      probe(destination, urgency);
    } else {
      awaitListener(destination, urgency, attempts);
    }
  }

  private void awaitListener(Destination destination, Urgency urgency, Attempts attempts) {
    long sent = loop.nanoTime();
    prober.awaitListener(destination, probesOn, attempts, refused -> {
      rateLimiter.ended(revision, urgency);
      probed(new EndedProbe(destination, refused, since(sent)));
    }, () -> {
      if (state instanceof RevisionProbingState now && now.isProbing(destination)) {
        probe(destination, urgency);
      } else {
        rateLimiter.ended(revision, urgency);
        probed(new EndedProbe(destination, NOT_SENT, Duration.ZERO));
      }
    });
  }

  private void probe(Destination destination, Urgency urgency) {
    long sent = loop.nanoTime();
    try {
      prober.probe(destination, probesOn, verdict -> {
        rateLimiter.ended(revision, urgency);
        probed(new EndedProbe(destination, verdict, since(sent)));
      });
    } catch (RuntimeException e) {
      rateLimiter.notSent(revision, urgency);
      fail(destination, e);
    }
  }

  private Duration since(long nanos) {
    return Duration.ofNanos(loop.nanoTime() - nanos);
  }

  private HealthyDestinations none() {
    return HealthyDestinations.pods(revision, DestinationSet.NONE);
  }

  /** The last publication. */
  private HealthyDestinations published() {
    if (behind != null) {
      return behind;
    }
    return state instanceof RevisionProbingState now ? now.published() : none();
  }

  private void publish(HealthyDestinations destinations, HealthyDestinations known) {
    if (!destinations.onlyAddsTo(known)) {
      publishNow(destinations);
    } else if (behind == null) {
      behind = known;
      loop.execute(this::publishAdded);
    }
  }

  private void publishAdded() {
    var known = behind;
    behind = null;
    if (known != null && state instanceof RevisionProbingState now
        && !now.published().equals(known)) {
      publishNow(now.published());
    }
  }

  private void publishNow(HealthyDestinations destinations) {
    behind = null;
    log.debug("{}: requests can go to {}", revision, text(destinations));
    listener.accept(destinations.over(prober.transport()));
  }

  private static String text(HealthyDestinations destinations) {
    int count = destinations.pods().size();
    if (destinations.clusterIp() != null) {
      return destinations.clusterIp() + ", the ClusterIP of " + count + " ready pods";
    }
    if (destinations.givenUp()) {
      return "no pod: those that served accept no connections any more, and no other pod starts";
    }
    return count == 0 ? "no pod" : count + " pods that answer";
  }
}
