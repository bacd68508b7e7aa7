package dev.activator.console;

import dev.activator.backend.BackendsView;
import dev.activator.console.RevisionReport.ActivatorReport;
import dev.activator.console.RevisionReport.FailureReport;
import dev.activator.console.RevisionReport.LinkReport;
import dev.activator.console.RevisionReport.PodReport;
import dev.activator.console.RevisionReport.ProbeReport;
import dev.activator.console.RevisionReport.Requests;
import dev.activator.console.RevisionReport.StartReport;
import dev.activator.console.policy.Diagnosis;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.ThrottleView.PodView;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Words and figures of what was found. */
final class Reports {
  private static final double NANOS_A_SECOND = 1e9;
  private static final double NANOS_A_MILLI = 1e6;

  private Reports() {}

  /** That of a revision which does not exist. */
  static RevisionReport unknown(RevisionId revision) {
    var diagnosis = Diagnosis.unknown(revision);
    return new RevisionReport(diagnosis.summary(), diagnosis.state(), diagnosis.missing(),
        revision.toString(), null, null, null, null, null, null, null);
  }

  static RevisionReport of(Findings found, AutoscalerLink.View link, ApiState api) {
    var diagnosis = Diagnosis.of(found.situation(link, api));
    var queue = found.queue();
    var backends = found.backends();
    var clusterIp = backends == null ? null : backends.clusterIp();
    return new RevisionReport(diagnosis.summary(), diagnosis.state(), diagnosis.missing(),
        found.revision().toString(), requests(queue),
        backends == null
            ? List.of()
            : backends.pods().stream().map(pod -> pod(pod, queue)).toList(),
        clusterIp == null ? null : pod(clusterIp, queue), start(queue.start()),
        activator(queue), link(link), api);
  }

  private static Requests requests(ThrottleView.Details queue) {
    var now = queue.now();
    var timeout = queue.queue().timeout();
    return new Requests(now.inFlight(), now.queued(), queue.queue().capacity(),
        seconds(now.oldestWait()), queue.queue().heldBytes(),
        timeout.isZero() ? null : seconds(timeout),
        now.capacity() == Integer.MAX_VALUE ? null : now.capacity(), now.containerConcurrency());
  }

  private static PodReport pod(BackendsView.Address known, ThrottleView.Details queue) {
    var probe = known.probe();
    var took = probe.took();
    return new PodReport(known.destination().toString(), known.ready(), known.answers(),
        known.serves(), known.suspected() || queue.ejected().contains(known.destination()),
        inFlight(queue, known.destination()),
        new ProbeReport(probe.outcome(), secondsOrNull(probe.ago()),
            took == null ? null : took.toNanos() / NANOS_A_MILLI, known.failures(),
            probe.underWay()));
  }

  private static int inFlight(ThrottleView.Details queue, Destination destination) {
    return queue.now().pods().stream().filter(pod -> pod.destination().equals(destination))
        .mapToInt(PodView::inFlight).sum();
  }

  private static StartReport start(ThrottleView.Start start) {
    var failure = start.failure();
    return new StartReport(secondsOrNull(start.asked()),
        start.usual().isZero() ? null : seconds(start.usual()),
        failure == null ? null : new FailureReport(failure.reason(), failure.message()));
  }

  private static ActivatorReport activator(ThrottleView.Details queue) {
    var activator = queue.activator();
    return new ActivatorReport(activator.index() < 0 ? null : activator.index(),
        activator.activators() == 0 ? null : activator.activators());
  }

  static LinkReport link(AutoscalerLink.View link) {
    return new LinkReport(link.connected(), link.url(), seconds(link.since()), link.failures(),
        link.problem());
  }

  private static @Nullable Double secondsOrNull(@Nullable Duration length) {
    return length == null ? null : seconds(length);
  }

  static double seconds(Duration length) {
    return length.toNanos() / NANOS_A_SECOND;
  }
}
