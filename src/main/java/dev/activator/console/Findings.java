package dev.activator.console;

import dev.activator.backend.BackendsView;
import dev.activator.console.policy.Situation;
import dev.activator.console.policy.Situation.Demand;
import dev.activator.console.policy.Situation.Pod;
import dev.activator.console.policy.Situation.Probe;
import dev.activator.console.policy.Situation.Room;
import dev.activator.console.policy.Situation.Routing;
import dev.activator.console.policy.Situation.Signals;
import dev.activator.console.policy.Situation.Start;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.ThrottleView;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the stages say of one revision, taken together on its loop.
 *
 * @param revision which
 * @param backends its pods; null where they are not followed
 * @param queue its throttle
 */
record Findings(RevisionId revision, @Nullable BackendsView backends, ThrottleView.Details queue) {
  /** As the diagnosis wants it. */
  Situation situation(AutoscalerLink.View link, ApiState api) {
    var now = queue.now();
    var activator = queue.activator();
    return new Situation(revision,
        new Demand(now.inFlight(), now.queued(), queue.queue().capacity(), now.oldestWait()),
        new Room(now.capacity(), now.containerConcurrency(), queue.destinations(),
            activator.index(),
            activator.activators(), queue.ejected()),
        pods(), routing(),
        new Start(queue.start().asked(), queue.start().usual(), queue.start().failure()),
        new Signals(api.synced(), api.problems(), problem(link)));
  }

  private static @Nullable String problem(AutoscalerLink.View link) {
    return link.connected() ? null : Objects.requireNonNullElse(link.problem(), "not open yet");
  }

  private List<Pod> pods() {
    return backends == null ? List.of() : backends.pods().stream().map(Findings::pod).toList();
  }

  private Routing routing() {
    if (backends == null) {
      return new Routing(true, true, null, false);
    }
    var clusterIp = backends.clusterIp();
    return new Routing(backends.addressing().podsAreProbed(), backends.probesBeforeReady(),
        clusterIp == null ? null : pod(clusterIp), backends.published().clusterIp() != null);
  }

  private static Pod pod(BackendsView.Address known) {
    var probe = known.probe();
    return new Pod(known.destination(), known.ready(), known.answers(), known.serves(),
        known.suspected(), known.failures(), new Probe(probe.outcome(), probe.ago(), probe.took()));
  }
}
