package dev.activator.ext.console;

import dev.activator.ext.console.WaitingOverview.LeaderReport;
import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.backend.RevisionBackendsView;
import dev.activator.platform.ScalingReport;
import dev.activator.throttle.ThrottleView.SharedPermitsView;
import dev.activator.observability.ColdStarts.OngoingColdStart;
import dev.activator.revision.Destination;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.ColdStartRules.ColdStartFallback;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.ColdStartRules;
import dev.activator.revision.RevisionId;
import dev.activator.revision.WakingExplanations.Waking;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.ThrottleView.PodLoad;
import dev.activator.throttle.ThrottleView;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A report in JSON why requests of a revision wait: a sentence for people, and the data behind it.
 *
 * @param missing what would have to change, with a line for each
 * @param requests null if the revision does not exist, like all following components except
 *     {@code whatToDo}
 * @param pods the pods that Kubernetes lists
 * @param clusterIp null while the private Service has none
 * @param siblings the other revisions of the Service if this one was found by the Service's name;
 *     null if it was found by its own name
 * @param scaling null if this process does not know how it is scaled
 * @param leader which activator scales; null if no leader is elected in this mode
 * @param waking null if it neither wakes others nor was woken
 * @param rules the cold start rules; null if there are none
 * @param processes its processes on this machine; null if none was restarted
 * @param whatToDo a sentence
 */
public record RevisionWaitReport(String summary, WaitState state, List<String> missing,
    String revision,
    @Nullable Requests requests, @Nullable List<PodReport> pods, @Nullable PodReport clusterIp,
    @Nullable StartReport start, @Nullable ActivatorReport activator,
    @Nullable LinkReport autoscaler, @Nullable ApiState kubernetes,
    @Nullable List<String> siblings, @Nullable ScalingReport scaling,
    @Nullable LeaderReport leader, @Nullable Waking waking, @Nullable RulesReport rules,
    @Nullable ProcessesReport processes, String whatToDo) {
  private static final double NANOS_A_SECOND = 1e9;
  private static final double NANOS_A_MILLI = 1e6;

  static RevisionWaitReport unknown(RevisionId revision, @Nullable ScalingReport scaling,
      @Nullable LeaderReport leader) {
    var diagnosis = WaitDiagnosis.unknown(revision,
        leader == null ? WaitState.Kind.REVISION : WaitState.Kind.SCALED_SERVICE);
    return new RevisionWaitReport(summary(diagnosis, scaling, leader, null), diagnosis.state(),
        diagnosis.missing(), revision.toString(), null, null, null, null, null, null, null, null,
        scaling, leader, null, null, null, diagnosis.whatToDo());
  }

  /** @param named returns the revision with this name; null if there is none */
  static RevisionWaitReport of(RevisionSnapshot now, @Nullable List<RevisionId> siblings,
      @Nullable ScalingReport scaling, @Nullable LeaderReport leader,
      @Nullable Waking waking,
      Function<RevisionId, @Nullable RevisionId> named) {
    var diagnosis = WaitDiagnosis.of(now);
    var queue = now.queue();
    var rules = RulesReport.of(queue.rules(), now.revision(), named);
    var clusterIp = now.clusterIp();
    return new RevisionWaitReport(summary(diagnosis, scaling, leader, waking)
        + (rules == null ? "" : rules.sentence()), diagnosis.state(),
        diagnosis.missing(), now.revision().toString(), Requests.of(queue),
        now.pods().stream().map(pod -> PodReport.of(pod, queue)).toList(),
        clusterIp == null ? null : PodReport.of(clusterIp, queue),
        StartReport.of(queue.start(), now.start()),
        ActivatorReport.of(queue), LinkReport.of(now.link()), now.api(),
        siblings == null ? null : siblings.stream().map(RevisionId::toString).toList(), scaling,
        leader, waking, rules, ProcessesReport.of(now.processes()), diagnosis.whatToDo());
  }

  /** @param output the last lines that the processes printed */
  public record ProcessesReport(List<RestartReport> restarts, List<String> output) {
    private static @Nullable ProcessesReport of(LocalProcessProblems processes) {
      return processes.pods().isEmpty()
          ? null
          : new ProcessesReport(processes.pods().stream().map(RestartReport::of).toList(),
              processes.output());
    }
  }

  /**
   * @param times how often it was restarted
   * @param nextTry when it will be restarted; null while its process runs
   * @param lastEnd how its process ended
   */
  public record RestartReport(String pod, int times, @Nullable String nextTry, String lastEnd) {
    private static RestartReport of(LocalProcessProblems.Restarted pod) {
      return new RestartReport(pod.pod(), pod.times(),
          pod.nextTry() == null ? null : pod.nextTry().truncatedTo(ChronoUnit.SECONDS).toString(),
          pod.lastEnd());
    }
  }

  private static String summary(WaitDiagnosis diagnosis, @Nullable ScalingReport scaling,
      @Nullable LeaderReport leader, @Nullable Waking waking) {
    return diagnosis.summary()
        + (scaling == null || scaling.conflict().isEmpty()
            ? ""
            : " It is " + scaling.state() + ": " + scaling.conflict() + ".")
        + (scaling == null || leader == null ? "" : " " + leader.sentence())
        + (waking == null || waking.wokenBecause() == null
            ? ""
            : " It was last woken because " + waking.wokenBecause() + ".");
  }

  /**
   * @param doNotWake which requests start no pod, and the response that they get
   * @param fallback the fallback for requests that wait for a start; null if there is none
   * @param ignoresIdleAfterSeconds the time after which a silent upgraded connection is not
   *     counted; null if it is always counted
   * @param problems a sentence for each invalid setting, which is ignored
   */
  public record RulesReport(List<String> doNotWake, @Nullable String fallback,
      @Nullable Double ignoresIdleAfterSeconds,
      List<String> problems) {
    private static final String MISSING = ", which does not exist: requests wait";

    /**
     * A sentence about a rule that names a revision that does not exist; empty if there is none.
     */
    private String sentence() {
      return fallback != null && fallback.endsWith(MISSING)
          ? " Its fallback " + fallback + "."
          : "";
    }

    /** The fallback as text, with a remark if its revision does not exist. */
    static String text(ColdStartFallback fallback, String namespace,
        Function<RevisionId, @Nullable RevisionId> named) {
      var service = fallback.service();
      return service == null || named.apply(new RevisionId(namespace, service)) != null
          ? fallback.toString()
          : fallback + MISSING;
    }

    private static @Nullable RulesReport of(@Nullable ColdStartRules rules, RevisionId id,
        Function<RevisionId, @Nullable RevisionId> named) {
      return rules == null
          ? null
          : new RulesReport(rules.doNotWake().stream().map(DoNotWakeRule::toString).toList(),
              rules.fallback() == null
                  ? null
                  : text(rules.fallback(), id.namespace(), named),
              secondsOrNull(rules.ignoreIdleAfter()), rules.problems());
    }
  }

  /**
   * @param queueTimeoutSeconds null if only the revision's own timeouts apply
   * @param startTimeoutSeconds null if the queue timeout also counts while there is no pod
   * @param capacity null if unlimited
   * @param containerConcurrency 0 if unlimited
   * @param queuedByPod how many may run on one pod only, by its address; null if none
   */
  public record Requests(int inFlight, int queued, int queueCapacity, double oldestWaitSeconds,
      boolean newestFirst,
      long heldBytes, @Nullable Double queueTimeoutSeconds, @Nullable Double startTimeoutSeconds,
      @Nullable Integer capacity,
      int containerConcurrency, @Nullable Map<String, Integer> queuedByPod) {
    private static Requests of(ThrottleView.Details queue) {
      var now = queue.now();
      var limits = queue.queue().limits();
      return new Requests(now.inFlight(), now.queued(), queue.queue().capacity(),
          seconds(now.oldestWait()), now.newestFirst(), queue.queue().heldBytes(),
          limits.full().isZero() ? null : seconds(limits.full()),
          limits.start().isZero() ? null : seconds(limits.start()),
          now.capacity() == Integer.MAX_VALUE ? null : now.capacity(), now.containerConcurrency(),
          queue.queue().bound().byPod().isEmpty()
              ? null
              : byAddress(queue.queue().bound().byPod()));
    }

    private static Map<String, Integer> byAddress(Map<Destination, Integer> queued) {
      var all = new LinkedHashMap<String, Integer>();
      queued.forEach((pod, count) -> all.put(pod.toString(), count));
      return all;
    }
  }

  /**
   * @param ready whether Kubernetes reports it as ready
   * @param answers whether it has answered our probe
   * @param serves whether requests may be sent to it
   * @param ejected whether a request recently failed to reach it
   */
  public record PodReport(String address, boolean ready, boolean answers, boolean serves,
      boolean ejected, int inFlight, @Nullable PermitsReport permits, ProbeReport probe) {
    private static PodReport of(RevisionBackendsView.Address known, ThrottleView.Details queue) {
      var destination = known.destination();
      int inFlight = queue.now().pods().stream()
          .filter(pod -> pod.destination().equals(destination)).mapToInt(PodLoad::inFlight).sum();
      return new PodReport(destination.toString(), known.ready(), known.answers(), known.serves(),
          known.ejected() || queue.ejected().contains(destination), inFlight,
          PermitsReport.of(queue.lending(), destination), ProbeReport.of(known));
    }
  }

  /**
   * The permits of a pod that several activators share.
   *
   * @param owner the activator that lends them; null if they are divided by Knative's rule
   * @param held the number that this activator may use now
   * @param lent the number that is lent, if this activator is the owner
   */
  public record PermitsReport(@Nullable String owner, int held, int lent) {
    private static @Nullable PermitsReport of(SharedPermitsView lending, Destination pod) {
      return lending.pods().stream().filter(share -> share.pod().equals(pod)).findFirst()
          .map(share -> new PermitsReport(share.owner(), share.permits(), share.lent()))
          .orElse(null);
    }
  }

  /**
   * @param secondsAgo null before the first probe ended
   * @param roundTripMillis null before the first probe ended
   * @param failuresInARow the number of failed probes since it last answered, or since its state
   *     changed
   */
  public record ProbeReport(String outcome, @Nullable Double secondsAgo,
      @Nullable Double roundTripMillis, int failuresInARow, boolean underWay) {
    private static ProbeReport of(RevisionBackendsView.Address known) {
      var probe = known.probe();
      var took = probe.took();
      return new ProbeReport(probe.outcome(), secondsOrNull(probe.ago()),
          took == null ? null : took.toNanos() / NANOS_A_MILLI, known.failures(),
          probe.underWay());
    }
  }

  /**
   * @param requestedSecondsAgo the time since the first request found no capacity; null while there
   *     is capacity
   * @param usualSeconds how long a start usually takes; null if unknown
   * @param failure null if no container has failed to start
   * @param waitsFor a sentence without a full stop; null unless a request waits for a start
   * @param phaseSeconds the phases of this start, in order; the last one is in progress
   */
  public record StartReport(@Nullable Double requestedSecondsAgo, @Nullable Double usualSeconds,
      @Nullable FailureReport failure, @Nullable String waitsFor,
      @Nullable Map<String, Double> phaseSeconds) {
    private static StartReport of(ThrottleView.Start start, @Nullable OngoingColdStart view) {
      var failure = start.failure();
      var requested = start.requested();
      return new StartReport(secondsOrNull(requested),
          start.usual().isZero() ? null : seconds(start.usual()),
          failure == null ? null : new FailureReport(failure.reason(), failure.message()),
          requested == null || view == null ? null : WaitDiagnosis.waitsFor(view, requested),
          requested == null || view == null ? null : phases(view, requested));
    }

    private static Map<String, Double> phases(OngoingColdStart view, Duration requested) {
      var phases = new LinkedHashMap<String, Double>();
      view.phases(requested)
          .forEach((phase, nanos) -> phases.put(phase.toString(), nanos / NANOS_A_SECOND));
      return phases;
    }
  }

  public record FailureReport(String reason, String message) {}

  /**
   * This activator's index among those that serve the revision.
   *
   * @param index from 0; null while unknown
   */
  public record ActivatorReport(@Nullable Integer index, @Nullable Integer count) {
    private static ActivatorReport of(ThrottleView.Details queue) {
      var activator = queue.activator();
      return new ActivatorReport(activator.index() < 0 ? null : activator.index(),
          activator.activators() == 0 ? null : activator.activators());
    }
  }

  /** @param forSeconds for how long the link has been in this state */
  public record LinkReport(boolean connected, String url, double forSeconds, int failedAttempts,
      @Nullable String problem) {
    static LinkReport of(AutoscalerLink.View link) {
      return new LinkReport(link.connected(), link.url(), seconds(link.since()), link.failures(),
          link.problem());
    }
  }

  private static @Nullable Double secondsOrNull(@Nullable Duration length) {
    return length == null ? null : seconds(length);
  }

  static double seconds(Duration length) {
    return length.toNanos() / NANOS_A_SECOND;
  }
}
