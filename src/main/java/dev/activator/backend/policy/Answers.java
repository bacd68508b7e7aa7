package dev.activator.backend.policy;

import dev.activator.backend.policy.Candidate.Belief;
import dev.activator.backend.policy.Candidate.Phase;
import dev.activator.backend.policy.WatcherEffect.ProbeLater;
import dev.activator.backend.policy.WatcherEvent.PodAnswer;
import dev.activator.backend.policy.WatcherState.Step;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What answers of pods change, one after the other. What is known of all pods is copied once, not
 * once an answer: where thousands answer, that is what it costs.
 */
final class Answers {
  private final Watching before;
  private final SortedMap<Destination, Candidate> listed;
  private final List<Destination> left = new ArrayList<>();
  private final List<WatcherEffect> pauses = new ArrayList<>();
  private @Nullable Estimate start;
  private boolean changed;

  Answers(Watching before) {
    this.before = before;
    this.listed = new TreeMap<>(before.pods().listed());
    this.start = before.start();
  }

  void take(PodAnswer answer) {
    var known = listed.get(answer.pod());
    if (known == null) {
      left.add(answer.pod());
      return;
    }
    switch (known.phase()) {
      case RESTING, WAITING -> {
        // Nobody asked.
      }
      case ASKED_IN_VAIN -> put(answer, known.in(Phase.RESTING));
      case ASKED -> judge(known, answer);
    }
  }

  private void judge(Candidate known, PodAnswer answer) {
    var probed = new Probed(answer.outcome(), before.now(), answer.took());
    if (answer.outcome().healthy()) {
      if (known.tellsItsStart()) {
        start = Estimate.after(start, age(known));
      }
      put(answer, known.succeeded(probed));
    } else if (before.traits().wantsProbe(known)) {
      put(answer, known.failed(probed));
      pauses.add(new ProbeLater(new ProbeTarget.Pod(answer.pod()), pause(known, answer.took())));
    } else {
      put(answer, known.in(Phase.RESTING));
    }
  }

  private void put(PodAnswer answer, Candidate now) {
    listed.put(answer.pod(), now);
    changed = true;
  }

  private Duration age(Candidate known) {
    return before.now().minus(known.since());
  }

  private Duration pause(Candidate failing, Duration took) {
    var pauses = before.traits().pauses();
    var pause = before.published().clusterIp() == null
        ? pauses.after(age(failing), failing.belief() == Belief.STARTING ? start : null)
        : pauses.viaClusterIp(age(failing));
    return pauses.rest(pause, took);
  }

  /** What holds then, and what follows. */
  Step step() {
    var pods = before.pods();
    var leaving = left.isEmpty() ? pods.leaving() : pods.leaving().minus(Destinations.of(left));
    var next = before.after(new Pods(listed, leaving, pods.ending()), start);
    return changed ? next.settle(pauses.toArray(WatcherEffect[]::new)) : Step.to(next);
  }
}
