package dev.activator.backend;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.backend.policy.ProbeTarget;
import dev.activator.backend.policy.Urgency;
import dev.activator.backend.policy.WatcherEvent;
import dev.activator.backend.policy.WatcherEvent.Answered;
import dev.activator.backend.policy.WatcherEvent.Due;
import dev.activator.loop.Loop;
import dev.activator.revision.Destinations;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The probes of one revision: those that pause, that wait for their turn, and that are under way.
 *
 * <p>
 * <b>Threads.</b> All calls are made on the revision's loop, and all events come there, each in a
 * task of its own.
 *
 * <p>
 * <b>Units.</b> A pause is shortened by up to a fifth, at random: pods that were listed together are
 * not asked together for ever.
 */
final class Probing {
  /** Who wants to know. */
  interface Asker {
    /** Whether it still does, now that the probe's turn has come. */
    boolean awaits(ProbeTarget target);

    /** A pause or a probe has ended. */
    void on(WatcherEvent event);
  }

  private static final Logger log = LoggerFactory.getLogger(Probing.class);
  private static final double SPREAD = 0.2;
  private static final ProbeOutcome NOT_SENT = ProbeOutcome.noAnswer("not sent");

  private final RevisionId revision;
  private final Loop loop;
  private final Prober prober;
  private final Shared shared;
  private final Asker asker;
  private final Map<ProbeTarget, Loop.Timer> pauses = new HashMap<>(4);
  private final Set<ProbeTarget> underWay = new HashSet<>(4);
  private final Map<ProbeTarget, Urgency> again = new HashMap<>(1);

  Probing(RevisionId revision, Loop loop, Prober prober, Shared shared, Asker asker) {
    this.revision = revision;
    this.loop = loop;
    this.prober = prober;
    this.shared = shared;
    this.asker = asker;
  }

  /**
   * Probes as soon as it is its turn; a pause that still runs is over. Where a probe is under way
   * that nobody remembers, it is waited for, and its answer does not count.
   */
  void now(ProbeTarget target, Urgency urgency) {
    endPause(target);
    if (underWay.add(target)) {
      shared.turns().ask(revision, urgency, loop, () -> turn(target, urgency));
    } else {
      again.put(target, urgency);
    }
  }

  void later(ProbeTarget target, Duration pause) {
    endPause(target);
    var spread = Duration
        .ofNanos((long) (pause.toNanos() * (1 - SPREAD * shared.random().nextDouble())));
    pauses.put(target, loop.schedule(spread, () -> {
      pauses.remove(target);
      asker.on(new Due(target));
    }));
  }

  /** The pods whose probe was wanted and has not ended. */
  Destinations podsUnderWay() {
    return Destinations.of(underWay.stream().filter(ProbeTarget.Pod.class::isInstance)
        .map(ProbeTarget::destination).toList());
  }

  void endPauses() {
    pauses.values().forEach(Loop.Timer::cancel);
    pauses.clear();
  }

  private void endPause(ProbeTarget target) {
    var pause = pauses.remove(target);
    if (pause != null) {
      pause.cancel();
    }
  }

  private void turn(ProbeTarget target, Urgency urgency) {
    if (asker.awaits(target)) {
      send(target, urgency);
    } else {
      shared.turns().unused(revision, urgency);
      ended(target, NOT_SENT, Duration.ZERO);
    }
  }

  private void send(ProbeTarget target, Urgency urgency) {
    long sent = loop.nanoTime();
    try {
      prober.probe(target.destination(), outcome -> {
        shared.turns().ended(revision, urgency);
        ended(target, outcome, Duration.ofNanos(loop.nanoTime() - sent));
      });
    } catch (RuntimeException bug) {
      log.error("The probe of {} was not sent", target.destination(), bug);
      shared.turns().ended(revision, urgency);
      loop.execute(() -> ended(target, NOT_SENT, Duration.ZERO));
    }
  }

  private void ended(ProbeTarget target, ProbeOutcome outcome, Duration took) {
    underWay.remove(target);
    var next = again.remove(target);
    if (next == null) {
      asker.on(new Answered(target, outcome, took));
    } else {
      now(target, next);
    }
  }
}
