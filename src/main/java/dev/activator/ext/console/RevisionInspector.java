package dev.activator.ext.console;

import dev.activator.ext.console.WaitingOverview.LeaderReport;
import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.loop.Loop;
import dev.activator.observability.OngoingColdStart;
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
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
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
  private final Supplier<CompletableFuture<AutoscalerLink.View>> link;
  private final Supplier<ApiState> api;
  private final Function<RevisionId, ? extends Loop> loops;
  private final Function<RevisionId, ? extends Collection<RevisionId>> services;
  private final Predicate<RevisionId> scaledServices;
  private final Function<RevisionId, LocalProcessProblems> processes;
  private final Function<RevisionId, @Nullable ScalingReport> scaling;
  private final Supplier<@Nullable LeaderReport> leader;
  private final WakingExplanations waking;
  private final Function<RevisionId, @Nullable RevisionId> named;
  private volatile Supplier<List<PeerSnapshot>> peers = List::of;
  private volatile Function<RevisionId, @Nullable OngoingColdStart> starts = _ -> null;

  /**
   * @param services returns the revisions of a Service, which is given by namespace and name
   * @param scaledServices whether a revision is a ScaledService, and not a Knative Revision
   * @param processes returns the problems of a revision's processes on this machine
   * @param scaling returns how a revision is scaled; null if this process does not know
   * @param leader returns which activator scales; null if no leader is elected in this mode
   * @param named returns the revision of a fallback with this name; null if there is none
   */
  public RevisionInspector(RevisionBackendsManager backends, Throttler throttler,
      Supplier<CompletableFuture<AutoscalerLink.View>> link, Supplier<ApiState> api,
      Function<RevisionId, ? extends Loop> loops,
      Function<RevisionId, ? extends Collection<RevisionId>> services,
      Predicate<RevisionId> scaledServices, Function<RevisionId, LocalProcessProblems> processes,
      Function<RevisionId, @Nullable ScalingReport> scaling,
      Supplier<@Nullable LeaderReport> leader,
      WakingExplanations waking,
      Function<RevisionId, @Nullable RevisionId> named) {
    this.named = named;
    this.waking = waking;
    this.scaling = scaling;
    this.leader = leader;
    this.backends = backends;
    this.throttler = throttler;
    this.link = link;
    this.api = api;
    this.loops = loops;
    this.services = services;
    this.scaledServices = scaledServices;
    this.processes = processes;
  }

  /**
   * Sets the source of the other activators; without it, none are shown. <b>Threads.</b> Any may
   * call.
   */
  public void peers(Supplier<List<PeerSnapshot>> views) {
    peers = views;
  }

  /**
   * @param views returns null while a pod answers; any thread may call. Without it, the phases of
   *     starts are not shown in detail
   */
  public void starts(Function<RevisionId, @Nullable OngoingColdStart> views) {
    starts = views;
  }

  /**
   * @param id the name of a revision, or of a Service, which stands for its revision with the most
   *     requests
   */
  public CompletableFuture<RevisionWaitReport> revision(RevisionId id) {
    if (throttler.view(id) != null) {
      return report(id, null);
    }
    var found = services.apply(id).stream().map(throttler::view).filter(Objects::nonNull)
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
        ? RevisionWaitReport.unknown(id, scaling.apply(id), leader.get())
        : RevisionWaitReport.of(now, siblings, scaling.apply(id), leader.get(), waking.of(id),
            named));
  }

  CompletableFuture<@Nullable RevisionSnapshot> snapshot(RevisionId id) {
    return link.get().thenCompose(
        view -> CompletableFuture.supplyAsync(() -> read(id, view, api.get()), loops.apply(id)));
  }

  public CompletableFuture<WaitingOverview> overview() {
    return link.get().thenCompose(this::overview);
  }

  record Everything(WaitingOverview overview, List<RevisionSnapshot> revisions) {}

  CompletableFuture<Everything> everything() {
    return link.get().thenCompose(view -> {
      var state = api.get();
      return snapshots(throttler.revisions(), view, state, _ -> true)
          .thenApply(all -> new Everything(
              WaitingOverview.of(all.size(), all.stream().filter(now -> now.queued() > 0).toList(),
                  view,
                  state, leader.get(), peers.get()),
              all));
    });
  }

  private CompletableFuture<WaitingOverview> overview(AutoscalerLink.View view) {
    var state = api.get();
    var known = throttler.revisions();
    return snapshots(known, view, state, queue -> queue.queued() > 0)
        .thenApply(found -> WaitingOverview.of(known.size(), found, view, state, leader.get(),
            peers.get()));
  }

  boolean isSynced() {
    return api.get().synced();
  }

  /**
   * The inputs of the alerts.
   *
   * @param unscalable the number of workloads that cannot be scaled, by reason
   */
  public CompletableFuture<Alerts.Inputs> alertInputs(List<ThrottleView> views,
      RevisionHourHistory hours,
      double saturation, Map<String, Integer> unscalable) {
    var revisions = views.stream().map(view -> new Alerts.Load(view.revision(), view.inFlight(),
        view.queued(), hours.of(view.revision()))).toList();
    return link.get().thenApply(view -> new Alerts.Inputs(RevisionSnapshot.problem(view),
        leader.get(), api.get(), saturation, revisions, hours.rejects(), unscalable));
  }

  Set<RevisionId> revisions() {
    return throttler.revisions();
  }

  CompletableFuture<List<RevisionSnapshot>> snapshots(Collection<RevisionId> ids) {
    return link.get().thenCompose(view -> snapshots(ids, view, api.get(), _ -> true));
  }

  /** Reads revisions in one task for each loop. */
  private CompletableFuture<List<RevisionSnapshot>> snapshots(Collection<RevisionId> ids,
      AutoscalerLink.View view, ApiState state, Predicate<ThrottleView> filter) {
    var found = new ConcurrentLinkedQueue<RevisionSnapshot>();
    var byLoop = new IdentityHashMap<Loop, List<RevisionId>>();
    ids.forEach(id -> byLoop.computeIfAbsent(loops.apply(id), _ -> new ArrayList<>()).add(id));
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
  private @Nullable RevisionSnapshot read(RevisionId id, AutoscalerLink.View view,
      ApiState state) {
    var queue = throttler.inspect(id);
    return queue == null
        ? null
        : new RevisionSnapshot(id, scaledServices.test(id)
            ? WaitDiagnosis.Kind.SCALED_SERVICE
            : WaitDiagnosis.Kind.REVISION, backends.view(id), queue, view, state,
            processes.apply(id),
            queue.start().requested() == null ? null : starts.apply(id));
  }
}
