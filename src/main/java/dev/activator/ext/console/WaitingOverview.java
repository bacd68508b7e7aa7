package dev.activator.ext.console;

import dev.activator.kube.LeadershipStatus;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.reflector.ReflectorStatus;
import dev.activator.ext.console.RevisionWaitReport.LinkReport;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.stats.AutoscalerLink;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A report in JSON of all revisions for which requests wait.
 *
 * @param waiting the longest wait first; at most a hundred
 * @param leader which activator scales; null if no leader is elected in this mode
 * @param peers the other activators
 */
public record WaitingOverview(String summary, int revisions, int queued, List<Waiting> waiting,
    LinkReport autoscaler, ApiState kubernetes, @Nullable LeaderReport leader,
    List<PeerReport> peers) {
  private static final int MAX_WAITING = 100;

  public record Waiting(String revision, WaitState state, int queued, double oldestWaitSeconds,
      String summary, String whatToDo) {
    private static Waiting of(RevisionSnapshot now) {
      var diagnosis = WaitDiagnosis.of(now);
      return new Waiting(now.revision().toString(), diagnosis.state(), now.queued(),
          RevisionWaitReport.seconds(now.queue().now().oldestWait()), diagnosis.summary(),
          diagnosis.whatToDo());
    }
  }

  static WaitingOverview of(int revisions, List<RevisionSnapshot> found, AutoscalerLink.View link,
      ApiState api, @Nullable LeaderReport leader, List<PeerSnapshot> peers) {
    int queued = found.stream().mapToInt(RevisionSnapshot::queued).sum();
    var waiting = found.stream()
        .sorted(Comparator.comparing(one -> one.queue().now().oldestWait().negated()))
        .limit(MAX_WAITING)
        .map(Waiting::of).toList();
    return new WaitingOverview(summary(queued, found.size(), link, api, leader, peers), revisions,
        queued, waiting, LinkReport.of(link), api, leader,
        peers.stream().map(PeerReport::of).toList());
  }

  private static String summary(int queued, int revisions, AutoscalerLink.View link,
      ApiState api, @Nullable LeaderReport leader, List<PeerSnapshot> peers) {
    var text = new StringBuilder(WaitDiagnosis.waiting(queued));
    if (queued > 0) {
      text.append(" for ").append(revisions).append(revisions == 1 ? " revision" : " revisions");
    }
    text.append(WaitDiagnosis.link(leader == null
        ? WaitState.Kind.REVISION
        : WaitState.Kind.SCALED_SERVICE, RevisionSnapshot.problem(link)));
    if (leader != null) {
      text.append("; ").append(leader.summary());
    }
    if (!peers.isEmpty()) {
      text.append("; ").append(PeerReport.summary(peers));
    }
    if (!api.synced()) {
      text.append("; the first lists of the Kubernetes API are not complete");
    } else if (!api.problems().isEmpty()) {
      text.append("; news from the Kubernetes API may be missing: ")
          .append(String.join("; ", api.problems()));
    }
    return text.append('.').toString();
  }

  /**
   * A report of the watches of the Kubernetes API.
   *
   * @param synced whether the first lists are complete
   */
  public record ApiState(boolean synced, List<Watched> watches) {
    private static final Set<String> ADDRESSES = Set.of("endpoints", "endpointslices");

    public ApiState {
      watches = List.copyOf(watches);
    }

    /** A watch that ends regularly is open again sooner. */
    private static final double MAX_GAP_SECONDS = 2;
    private static final String NOT_OPEN = "no watch is open";

    /**
     * @param alarmed whether no watch has been open for too long
     * @param closedSeconds how long no watch has been open, or the API has not answered; otherwise
     *     zero
     * @param error the last failure; null if it works again
     */
    public record Watched(String resource, boolean watching, boolean alarmed, double closedSeconds,
        @Nullable String error) {
      boolean isClosed() {
        return closedSeconds >= MAX_GAP_SECONDS;
      }

      @Nullable String problem() {
        return error == null && (alarmed || isClosed()) ? NOT_OPEN : error;
      }

      /** It is open, but the API does not answer. */
      private Watched silent(ApiSilence.Silence silence, long nowNanos) {
        return new Watched(resource, false, alarmed,
            RevisionWaitReport.seconds(Duration.ofNanos(nowNanos - silence.sinceNanos())),
            silence.problem());
      }

      private static Watched of(ReflectorStatus view, long nowNanos) {
        var health = view.health();
        var gap = health.gap();
        double closed = gap == null
            ? 0
            : RevisionWaitReport.seconds(Duration.ofNanos(nowNanos - gap.sinceNanos()));
        var error = health.error() == null && gap != null && closed >= MAX_GAP_SECONDS
            ? gap.failure()
            : health.error();
        return new Watched(view.resource(), health.watching(), health.alarmed(), closed, error);
      }
    }

    /** @param silence null while the API answers */
    static ApiState of(ClusterWatcher cluster, ApiSilence.@Nullable Silence silence,
        long nowNanos) {
      return new ApiState(cluster.synced(), cluster.reflectors().stream()
          .map(view -> Watched.of(view, nowNanos))
          .map(watch -> silence == null || watch.closedSeconds > 0
              ? watch
              : watch.silent(silence, nowNanos))
          .toList());
    }

    /** The time since the last event about the addresses of pods; {@link ChronoUnit#FOREVER} before the first. */
    static Duration sinceAddressEvent(ClusterWatcher cluster, long nowNanos) {
      return cluster.reflectors().stream()
          .filter(view -> ADDRESSES.contains(view.resource()) && view.lastEventNanos() != 0)
          .map(view -> Duration.ofNanos(nowNanos - view.lastEventNanos())).min(Duration::compareTo)
          .orElse(ChronoUnit.FOREVER.getDuration());
    }

    /** The watch of pods' addresses that has been closed for longest; null if they are open. */
    @Nullable Watched closedAddresses() {
      return watches.stream().filter(watch -> ADDRESSES.contains(watch.resource))
          .filter(Watched::isClosed).max(Comparator.comparingDouble(Watched::closedSeconds))
          .orElse(null);
    }

    /** The distinct problems of all resources. */
    List<String> problems() {
      SequencedMap<String, Set<String>> resources = Collections.emptySortedMap();
      for (var watch : watches) {
        var problem = watch.problem();
        if (problem != null) {
          resources = resources.isEmpty() ? new LinkedHashMap<>() : resources;
          resources.computeIfAbsent(problem, _ -> new LinkedHashSet<>()).add(watch.resource);
        }
      }
      return resources.entrySet().stream()
          .map(each -> String.join(", ", each.getValue()) + ": " + each.getKey()).toList();
    }
  }

  /**
   * A report of another activator.
   *
   * @param pod null until it is linked
   * @param state linked, legacy, unauthorised or unreachable
   * @param problem why it is not linked; null if it is
   * @param roundTripMillis null until it is measured
   */
  public record PeerReport(String address, @Nullable String pod, String state,
      @Nullable String problem, @Nullable Double roundTripMillis) {
    private static final double NANOS_A_MILLI = 1e6;

    static PeerReport of(PeerSnapshot view) {
      return new PeerReport(view.address(), view.pod().isEmpty() ? null : view.pod(),
          view.state().name().toLowerCase(Locale.ROOT),
          view.problem().isEmpty() ? null : view.problem(),
          view.roundTrip().isZero() ? null : view.roundTrip().toNanos() / NANOS_A_MILLI);
    }

    static String summary(List<PeerSnapshot> peers) {
      long linked = peers.stream().filter(view -> view.state() == PeerSnapshot.State.LINKED)
          .count();
      var text = "linked with " + linked + " of " + peers.size()
          + (peers.size() == 1 ? " other activator" : " other activators");
      return peers.stream().filter(view -> view.state() != PeerSnapshot.State.LINKED).findFirst()
          .map(view -> text + " (" + view.address() + ": " + view.problem() + ")").orElse(text);
    }
  }

  /**
   * A report of which activator scales.
   *
   * @param pod the pod of the leader; null if there is none, or if it is unknown
   * @param here whether it is this activator
   * @param transitions how many times the lease has changed hands
   * @param renewedSecondsAgo the time since the last known renewal of the lease
   * @param problem why the lease could not be read or written the last time; null if it could
   */
  public record LeaderReport(@Nullable String pod, boolean here, int transitions,
      double renewedSecondsAgo, @Nullable String problem) {
    public static LeaderReport of(LeadershipStatus now) {
      return new LeaderReport(now.pod().isEmpty() ? null : now.pod(), now.here(), now.transitions(),
          RevisionWaitReport.seconds(now.leaseAge()),
          now.problem().isEmpty() ? null : now.problem());
    }

    /** A sentence without a full stop. */
    String summary() {
      var who = here
          ? "this activator scales"
          : pod == null ? "no activator scales" : pod + " scales";
      return problem == null ? who : who + " (" + problem + ")";
    }

    String sentence() {
      var text = summary() + ".";
      return here || pod == null
          ? text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1)
          : text;
    }
  }
}
