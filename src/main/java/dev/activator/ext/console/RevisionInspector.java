package dev.activator.ext.console;

import dev.activator.ext.console.WaitingOverview.LeaderReport;
import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.loop.Loop;
import dev.activator.observability.ColdStarts.OngoingColdStart;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.platform.ScalingReport;
import dev.activator.revision.RevisionId;
import dev.activator.revision.WakingExplanations;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.ThrottleView;
import dev.activator.throttle.Throttler;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads the state of the throttler, the backends and the links, from which it is explained why
 * requests wait.
 *
 * <p><b>Threads.</b> Any may call; no call blocks. A revision is read in one task on its own loop,
 * so that its parts are consistent.
 */
public final class RevisionInspector {
  private final RevisionBackendsManager backends;
  private final Throttler throttler;
  private final Sources sources;

  /**
   * What neither the throttler nor the backends know. <b>Threads.</b> Any may call; no call blocks.
   */
  public interface Sources {
    CompletableFuture<AutoscalerLink.View> link();

    ApiState api();

    Loop loop(RevisionId id);

    /** The revisions of a Service, which is given by namespace and name. */
    default Collection<RevisionId> revisionsOf(RevisionId service) {
      return List.of();
    }

    /** The revision with this name that can be a fallback; null if there is none. */
    @Nullable RevisionId named(RevisionId id);

    /** Whether the revision is a ScaledService, and not a Knative Revision. */
    default boolean isScaledService(RevisionId id) {
      return false;
    }

    /** Why no request is sent to pods that exist; empty if there is no such reason. */
    default String hiddenPods(RevisionId id) {
      return "";
    }

    /** The problems of a revision's processes on this machine. */
    default LocalProcessProblems processes(RevisionId id) {
      return LocalProcessProblems.NONE;
    }

    /** How a revision is scaled; null if this process does not know. */
    default @Nullable ScalingReport scaling(RevisionId id) {
      return null;
    }

    /** Which activator scales; null if no leader is elected in this mode. */
    default @Nullable LeaderReport leader() {
      return null;
    }

    default WakingExplanations waking() {
      return WakingExplanations.NONE;
    }

    /** The other activators. */
    default List<PeerSnapshot> peers() {
      return List.of();
    }

    /** The start of a revision; null while a pod answers, and if starts are not observed. */
    default @Nullable OngoingColdStart start(RevisionId id) {
      return null;
    }
  }

  public RevisionInspector(RevisionBackendsManager backends, Throttler throttler, Sources sources) {
    this.backends = backends;
    this.throttler = throttler;
    this.sources = sources;
  }

  /**
   * @param id the name of a revision, or of a Service, which stands for its revision with the most
   *     requests
   */
  public CompletableFuture<RevisionWaitReport> revision(RevisionId id) {
    if (throttler.view(id) != null) {
      return report(id, null);
    }
    var found = sources.revisionsOf(id).stream().map(throttler::view).filter(Objects::nonNull)
        .sorted(Comparator.comparing(ThrottleView::queued).thenComparing(ThrottleView::inFlight)
            .thenComparing(ThrottleView::revision).reversed())
        .map(ThrottleView::revision).toList();
    return found.isEmpty()
        ? report(id, null)
        : report(found.getFirst(), found.subList(1, found.size()));
  }

  private CompletableFuture<RevisionWaitReport> report(RevisionId id,
      @Nullable List<RevisionId> siblings) {
    return snapshot(id).thenApply(now -> now == null
        ? RevisionWaitReport.unknown(id, sources.scaling(id), sources.leader())
        : RevisionWaitReport.of(now, siblings, sources.scaling(id), sources.leader(),
            sources.waking().of(id), sources::named));
  }

  CompletableFuture<@Nullable RevisionSnapshot> snapshot(RevisionId id) {
    return sources.link().thenCompose(
        view -> CompletableFuture.supplyAsync(() -> read(id, view, sources.api()),
            sources.loop(id)));
  }

  public CompletableFuture<WaitingOverview> overview() {
    return everything(queue -> queue.queued() > 0).thenApply(Everything::overview);
  }

  /** @param revisions those that were read */
  record Everything(WaitingOverview overview, List<RevisionSnapshot> revisions) {}

  CompletableFuture<Everything> everything() {
    return everything(_ -> true);
  }

  private CompletableFuture<Everything> everything(Predicate<ThrottleView> filter) {
    return sources.link().thenCompose(view -> {
      var state = sources.api();
      var known = throttler.revisions();
      return snapshots(known, view, state, filter).thenApply(all -> new Everything(
          WaitingOverview.of(known.size(), all.stream().filter(now -> now.queued() > 0).toList(),
              view, state, sources.leader(), sources.peers()),
          all));
    });
  }

  boolean isSynced() {
    return sources.api().synced();
  }

  /**
   * The inputs of the alerts.
   *
   * @param unscalable the number of workloads that cannot be scaled, by reason
   */
  public CompletableFuture<Alerts.Inputs> alertInputs(List<ThrottleView> views,
      RevisionHourHistory hours, double saturation, Map<String, Integer> unscalable) {
    var revisions = views.stream().map(view -> new Alerts.Load(view.revision(), view.inFlight(),
        view.queued(), hours.of(view.revision()))).toList();
    return sources.link().thenApply(view -> new Alerts.Inputs(RevisionSnapshot.problem(view),
        sources.leader(), sources.api(), saturation, revisions, hours.rejects(), unscalable));
  }

  Set<RevisionId> revisions() {
    return throttler.revisions();
  }

  CompletableFuture<List<RevisionSnapshot>> snapshots(Collection<RevisionId> ids) {
    return sources.link().thenCompose(view -> snapshots(ids, view, sources.api(), _ -> true));
  }

  /** Reads revisions in one task for each loop. */
  private CompletableFuture<List<RevisionSnapshot>> snapshots(Collection<RevisionId> ids,
      AutoscalerLink.View view, ApiState state, Predicate<ThrottleView> filter) {
    var found = new ConcurrentLinkedQueue<RevisionSnapshot>();
    var byLoop = new IdentityHashMap<Loop, List<RevisionId>>();
    ids.forEach(id -> byLoop.computeIfAbsent(sources.loop(id), _ -> new ArrayList<>()).add(id));
    var tasks = byLoop.entrySet().stream().map(each -> CompletableFuture.runAsync(
        () -> each.getValue().forEach(id -> {
          var queue = throttler.view(id);
          var now = queue == null || !filter.test(queue) ? null : read(id, view, state);
          if (now != null) {
            found.add(now);
          }
        }), each.getKey()));
    return CompletableFuture.allOf(tasks.toArray(CompletableFuture<?>[]::new))
        .thenApply(_ -> List.copyOf(found));
  }

  /** Reads a revision. Call on its loop. */
  private @Nullable RevisionSnapshot read(RevisionId id, AutoscalerLink.View view, ApiState state) {
    var queue = throttler.inspect(id);
    return queue == null
        ? null
        : new RevisionSnapshot(id, sources.isScaledService(id)
            ? WaitState.Kind.SCALED_SERVICE
            : WaitState.Kind.REVISION, backends.view(id), queue, view, state,
            sources.processes(id), sources.hiddenPods(id),
            queue.start().requested() == null ? null : sources.start(id));
  }
}
