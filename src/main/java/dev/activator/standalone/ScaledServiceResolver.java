package dev.activator.standalone;

import dev.activator.kube.ClusterStartup;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.WorkQueue;
import dev.activator.loop.policy.Backoff;
import dev.activator.standalone.HpaWatcher.TargetName;
import dev.activator.standalone.policy.ActivatorEndpointSlice;
import dev.activator.standalone.policy.ActivatorSlicePlanner;
import dev.activator.standalone.policy.CaBundle;
import dev.activator.standalone.policy.ActivatorSlicePlanner.Activators;
import dev.activator.http.HeaderFieldList;
import dev.activator.discovery.RevisionSource.Sink;
import dev.activator.standalone.ScaledServices.Scope;
import dev.activator.standalone.policy.ScaledServiceRouteTable;
import dev.activator.kube.policy.IpFamily;
import dev.activator.standalone.policy.KubernetesService;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ResolvedScaledService.References;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.standalone.policy.ServiceEndpointSlice;
import dev.activator.standalone.policy.TcpPortTable;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.WakeSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resolves each ScaledService to its Service, EndpointSlices, workload and HPA, and publishes the
 * result when it changes.
 *
 * <p><b>Threads.</b> The session's loop. Any thread may call {@link #hosts}.
 */
final class ScaledServiceResolver {
  private static final Logger log = LoggerFactory.getLogger(ScaledServiceResolver.class);
  /** How long requests wait for a Service or workload that is replaced. */
  private static final Duration REPLACEMENT_TIMEOUT = Duration.ofSeconds(3);
  /** The pauses after a resolution that threw. */
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE = Duration.ofMinutes(1);
  /** The maximum time until authorities are read again that expire later. */
  private static final Duration MAX_DELAY = Duration.ofDays(1);
  /** The port of the activators' Service for requests without TLS. */
  private static final String REQUEST_PORT = "http";
  private final KubernetesSession session;
  private final IpFamily preferred;
  private final Scope scope;
  private final Supplier<InstalledExtensions> extensions;
  private final ScaledServiceStores stores;
  private final Sink sink;
  private final ScaledServicesListener listener;
  private final ScaledWorkloadWatcher kinds;
  private final HpaWatcher hpas;
  private final CaObjectWatcher authorities;
  private final InstantSource wall;
  private final WorkQueue<RevisionId> queue;
  /** The objects whose result is published even if it has not changed. */
  private final Set<RevisionId> publishedAgain = new HashSet<>();
  /** Since when the Service or the workload may be in replacement, in the loop's time. */
  private final Map<RevisionId, Long> replacedSince = new HashMap<>();
  /** The states whose pods this process has woken. */
  private final Map<RevisionId, IdleState> woken = new HashMap<>();
  /** The namespaces for which the log says that another installation handles them. */
  private final Set<String> leftOut = new HashSet<>();
  private boolean hostsAreStale;
  private volatile ScaledServiceRouteTable hosts;
  private boolean tcpPortsAreStale;
  private TcpPortTable tcpPorts;
  /** The ports of this activator that other programs have. */
  private final Set<Integer> takenPorts = new HashSet<>();

  /** Receives the resolved ScaledServices, on the loop. */
  interface ScaledServicesListener {
    /** The last resolved state; null if there is none. */
    @Nullable ResolvedScaledService find(RevisionId id);

    void changed(ResolvedScaledService now);

    /** Called before requests are routed to new ports, and before {@link #changed}. */
    void portsAdded(ResolvedScaledService before, ResolvedScaledService now);

    /** Reports a state even if it has not changed. */
    void again(ResolvedScaledService now);

    void gone(RevisionId id);

    /**
     * Reports the EndpointSlices that should catch requests to the Service. Called even if nothing
     * has changed.
     */
    void caught(ActivatorSlicePlanner now);
  }

  /** @param wall the clock of certificates */
  ScaledServiceResolver(KubernetesSession session, IpFamily preferred, Scope scope,
      Supplier<InstalledExtensions> extensions, Sink sink, ScaledServicesListener listener,
      InstantSource wall) {
    this.session = session;
    this.wall = wall;
    this.preferred = preferred;
    this.scope = scope;
    this.extensions = extensions;
    this.stores = new ScaledServiceStores(scope.namespaces());
    this.sink = sink;
    this.listener = listener;
    this.kinds = new ScaledWorkloadWatcher(session, this::targetChanged,
        kind -> stores.objects().anyMatch(one -> one.workload().kind().equals(kind)));
    this.hpas = new HpaWatcher(session, target -> stale(ScaledServiceStores.BY_TARGET, target));
    this.authorities = new CaObjectWatcher(session, name -> stale(ScaledServiceStores.BY_CA, name));
    // A resolution waits for nothing, so any number may be under way, and needs no jitter.
    this.queue = new WorkQueue<>(session.loop(), Integer.MAX_VALUE,
        () -> new Backoff(FIRST_PAUSE, MAX_PAUSE, 0, () -> 0),
        () -> true, _ -> {
        }, this::reconcile);
    this.tcpPorts = tcpPorts(List.of());
    this.hosts = ScaledServiceRouteTable.of(List.of(), scope.domain(), scope.hosts());
  }

  List<KubernetesSession.Followed> follow() {
    session.loop().execute(queue::start);
    hpas.follow();
    return stores.follow(session, this::serviceChanged, this::sliceChanged, this::objectChanged);
  }

  /**
   * What ScaledServices name: the kinds of the workloads, and authorities. They are listed after the
   * ScaledServices, and before the activator takes requests.
   */
  List<ClusterStartup.Beginning> named() {
    return CompletableFuture.supplyAsync(() -> {
      stores.objects().forEach(object -> {
        workload(object);
        authorities(object);
      });
      return Stream.concat(kinds.beginnings().stream(), authorities.beginnings().stream())
          .toList();
    }, session.loop()).join();
  }

  ScaledServiceRouteTable hosts() {
    return hosts;
  }

  /** The revision to which a request is routed; null if there is none. */
  @Nullable RevisionId revision(String host, String target, HeaderFieldList fields) {
    var id = hosts.find(host, target, fields);
    return id == null || sink.isNameTaken(id.withoutPort()) ? null : id;
  }

  /**
   * Resolves the ScaledServices again that refer to this name. Called on the loop when an object
   * with this name may have been created or deleted.
   */
  void onNameChange(RevisionId id) {
    stale(ScaledServiceStores.BY_OTHER, id);
  }

  /**
   * Resolves the ScaledService with this name again. Called on the loop when a Knative revision
   * with this name was created or deleted.
   */
  void onRevisionChange(RevisionId id) {
    onNameChange(id);
    if (stores.object(id) != null) {
      // It is published again, because the addresses of its activators differ from those of the
      // revision.
      publishedAgain.add(id);
      queue.add(id);
    }
  }

  /** Says whether another program has a port of this activator. Any thread may call. */
  void portTaken(int port, boolean taken) {
    session.loop().execute(() -> {
      if (taken ? takenPorts.add(port) : takenPorts.remove(port)) {
        tcpPortsAreStale = true;
        stores.objects().filter(object -> object.status().ports().containsValue(port))
            .map(ScaledService::id).forEach(queue::add);
      }
    });
  }

  /**
   * The label selector of a ScaledService's pods; empty if it does not exist, or its Service has no
   * selector.
   */
  String podSelector(RevisionId id) {
    var object = stores.object(id.withoutPort());
    var service = object == null ? null : stores.service(object);
    return service == null
        ? ""
        : service.selector().entrySet().stream()
            .map(one -> String.join("=", one.getKey(), one.getValue())).sorted()
            .collect(Collectors.joining(","));
  }

  /** As {@code IdleMethod.Environment}. */
  CompletableFuture<@Nullable PodsByReadiness> pods(RevisionId id) {
    return CompletableFuture.supplyAsync(() -> {
      var state = listener.find(id);
      var object = stores.object(id);
      if (state == null || object == null) {
        return null;
      }
      var service = stores.service(object);
      if (service == null) {
        return null;
      }
      var port = service.port(object.port());
      return port == null
          ? null
          : state.pods(service, port.name(), workload(object), stores.slices(object), preferred);
    }, session.loop());
  }

  /** As {@code IdleMethod.Environment}. Any thread may call. */
  void woken(RevisionId id, @Nullable IdleState state) {
    session.loop().execute(() -> {
      if (state == null) {
        woken.remove(id);
      } else {
        woken.put(id, state);
      }
      queue.add(id);
    });
  }

  private void objectChanged(@Nullable ScaledService before, @Nullable ScaledService now) {
    var one = now == null ? before : now;
    if (one != null && !stores.isOurs(one)) {
      if (leftOut.add(one.id().namespace())) {
        log.info("ScaledServices in the namespace {} are left to another installation:"
            + " activator.standalone.namespaces does not name it", one.id().namespace());
      }
      return;
    }
    if (before != null) {
      if (!before.caObjects().isEmpty()) {
        authorities.closeUnused(
            name -> stores.objectsBy(ScaledServiceStores.BY_CA, name).findAny().isPresent());
      }
      if (before != now) {
        // An edit, or the end, does not wait for a pause after a failure.
        queue.forget(before.id());
      }
      queue.add(before.id());
      // Another ScaledService may scale the workload now.
      stale(ScaledServiceStores.BY_TARGET, ScaledServiceStores.targetOf(before));
    }
    if (now != null) {
      if (before == now) {
        // A resync: a consumer may have failed.
        publishedAgain.add(now.id());
      }
      queue.add(now.id());
      stale(ScaledServiceStores.BY_TARGET, ScaledServiceStores.targetOf(now));
    }
    if (one != null && (before == null || now == null)) {
      onNameChange(one.id());
    }
    tcpPortsAreStale |= before != null && !before.tcp().names().isEmpty()
        || now != null && !now.tcp().names().isEmpty();
    hostsAreStale |= before == null || now == null || !before.hosts().equals(now.hosts())
        || before.catchService() != now.catchService()
        || !before.service().equals(now.service())
        || before.tcp().besideHttp() != now.tcp().besideHttp()
        || !before.routes().equals(now.routes())
        || !before.routeProblems().equals(now.routeProblems()) || !before.port().equals(now.port())
        || !before.created().equals(now.created());
  }

  private Set<RevisionId> unknown(ScaledService object) {
    return object.others().stream()
        .filter(id -> stores.object(id) == null && !sink.isKnown(id))
        .collect(Collectors.toSet());
  }

  private void serviceChanged(@Nullable KubernetesService before, @Nullable KubernetesService now) {
    var one = now == null ? before : now;
    if (one != null) {
      var name = new RevisionId(one.namespace(), one.name());
      tcpPortsAreStale |= stores.objectsBy(ScaledServiceStores.BY_SERVICE, name)
          .anyMatch(object -> !object.tcp().names().isEmpty());
      stale(ScaledServiceStores.BY_SERVICE, name);
    }
  }

  private void sliceChanged(@Nullable ServiceEndpointSlice before,
      @Nullable ServiceEndpointSlice now) {
    if (before != null) {
      stale(ScaledServiceStores.BY_SERVICE, before.service());
    }
    if (now != null) {
      stale(ScaledServiceStores.BY_SERVICE, now.service());
    }
    catcherStale(before);
    catcherStale(now);
    var known = now == null ? before : now;
    if (known != null && known.service().equals(scope.service())) {
      stores.objects().map(object -> listener.find(object.id())).filter(Objects::nonNull)
          .forEach(this::reportActivators);
      stores.objects().filter(ScaledService::catchService).map(ScaledService::id).toList()
          .forEach(queue::add);
    }
  }

  private void catcherStale(@Nullable ServiceEndpointSlice slice) {
    var own = slice == null ? null : slice.own();
    if (own != null) {
      queue.add(own.of());
    }
  }

  private void reportActivators(ResolvedScaledService state) {
    var activators = scope.service();
    if (activators != null) {
      var addresses = stores.slicesOf(activators)
          .flatMap(one -> one.ready(preferred)).toList();
      state.backends().forEach(one -> sink.shared(one.id(), addresses));
    }
  }

  private void targetChanged(String kind, @Nullable RevisionId object) {
    if (object == null) {
      stores.objects().filter(one -> one.workload().kind().equals(kind)).map(ScaledService::id)
          .forEach(queue::add);
    } else {
      stale(ScaledServiceStores.BY_TARGET, new TargetName(object.namespace(), kind, object.name()));
    }
  }

  private void stale(String index, Object value) {
    stores.objectsBy(index, value).map(ScaledService::id).forEach(queue::add);
  }

  private CompletableFuture<WorkQueue.Result> reconcile(RevisionId id) {
    if (hostsAreStale) {
      replaceHosts();
      hostsAreStale = false;
    }
    if (tcpPortsAreStale) {
      tcpPortsAreStale = false;
      var before = tcpPorts;
      tcpPorts = tcpPorts(stores.objects().toList());
      tcpPorts.differences(before).forEach(queue::add);
    }
    boolean again = publishedAgain.remove(id);
    try {
      update(id, again);
    } catch (RuntimeException e) {
      publishedAgain.add(id);
      throw e;
    }
    return CompletableFuture.completedFuture(WorkQueue.Done.NOW);
  }

  private TcpPortTable tcpPorts(List<ScaledService> objects) {
    return TcpPortTable.of(objects, scope.tcp(), takenPorts, stores::service);
  }

  private void replaceHosts() {
    var next = ScaledServiceRouteTable.of(stores.objects().toList(), scope.domain(), scope.hosts());
    // Requests are routed to a new port only after its revision is published, and to an old port
    // until its revision is withdrawn.
    stores.objects().filter(object -> !object.otherPorts().isEmpty())
        .forEach(object -> addPorts(object, next));
    var before = hosts;
    hosts = next;
    stores.objects().map(ScaledService::id).filter(id -> !before.taken(id).equals(next.taken(id)))
        .forEach(queue::add);
  }

  private void addPorts(ScaledService object, ScaledServiceRouteTable next) {
    var before = listener.find(object.id());
    if (before != null && object.uid().equals(before.object().uid())) {
      try {
        var now = join(object, next);
        if (now != null) {
          listener.portsAdded(before, now);
        }
      } catch (RuntimeException e) {
        log.error("Ports of the ScaledService {} could not be added yet", object.id(), e);
        publishedAgain.add(object.id());
        queue.add(object.id());
      }
    }
  }

  private void update(RevisionId id, boolean again) {
    var object = stores.object(id);
    var before = listener.find(id);
    if (before != null && (object == null || !object.uid().equals(before.object().uid()))) {
      // An object that was created again under the same name is a different one.
      before = null;
      listener.gone(id);
    }
    if (object == null) {
      replacedSince.remove(id);
      woken.remove(id);
      return;
    }
    var joined = join(object, hosts);
    if (joined == null) {
      // The kind or its authorities are being read. The answer resolves the object again.
      return;
    }
    var now = (inReplacement(joined) ? joined.withRequestsWaiting() : joined).after(before);
    if (before == null || !before.remarks().equals(now.remarks())) {
      now.remarks().forEach(remark -> log.warn("Left out of {}: {}", object.workload(), remark));
    }
    if (again) {
      listener.again(now);
    } else {
      listener.changed(now);
    }
    listener.caught(caught(now));
    if (again || before == null || before.ports().size() != now.ports().size()) {
      reportActivators(now);
    }
  }

  private boolean inReplacement(ResolvedScaledService state) {
    var id = state.object().id();
    if (!state.mayBeReplaced()) {
      replacedSince.remove(id);
      return false;
    }
    long now = session.loop().nanoTime();
    long left = replacedSince.computeIfAbsent(id, _ -> now) + REPLACEMENT_TIMEOUT.toNanos() - now;
    if (left > 0) {
      queue.addAfter(id, Duration.ofNanos(left));
    }
    return left > 0;
  }

  /** The resolved state; null while the kind of the workload, or its authorities, are unknown. */
  private @Nullable ResolvedScaledService join(ScaledService object,
      ScaledServiceRouteTable table) {
    var id = object.id();
    var workload = workload(object);
    var bundle = authorities(object);
    return workload == null || object.tls() != null && bundle == null
        ? null
        : extensions.get().idle(object, known -> ResolvedScaledService.of(known,
            new References(stores.service(object), stores.slices(object), workload,
                table.taken(id), stores.older(object), sink.isNameTaken(id),
                hpas.find(ScaledServiceStores.targetOf(object)),
                unknown(object), preferred, scope.maxTimeout(), bundle, woken.get(id)),
            tcpPorts.of(object))
            .withExtensions(extensions.get().names()));
  }

  /** Null without {@code tls}, and while its objects are unknown; then they are read. */
  private @Nullable CaBundle authorities(ScaledService object) {
    var tls = object.tls();
    if (tls == null) {
      return null;
    }
    var now = wall.instant();
    var bundle = CaBundle.of(tls, object.id().namespace(), authorities::find, now);
    if (bundle != null && bundle.end().isBefore(Instant.MAX)) {
      // Java would trust an authority after its end.
      var left = Duration.between(now, bundle.end());
      queue.addAfter(object.id(), left.compareTo(MAX_DELAY) < 0 ? left : MAX_DELAY);
    }
    return bundle;
  }

  /** Null while the kind is unknown; then it is looked up. */
  private @Nullable WorkloadState workload(ScaledService object) {
    return switch (object.workload()) {
      case WakeSpec wake -> extensions.get().wake(wake,
          (woken, refusal) -> kinds.findWoken(object.id().namespace(), woken, refusal));
      case ScaleTargetRef scaled -> kinds.find(object.id().namespace(), scaled);
      case ScaleTarget other -> throw new IllegalStateException("nothing can scale " + other);
    };
  }

  private ActivatorSlicePlanner caught(ResolvedScaledService state) {
    var object = state.object();
    var service = stores.service(object);
    var present = new HashMap<String, ActivatorEndpointSlice>();
    stores.caughtFor(object.id()).forEach(slice -> {
      var own = slice.own();
      if (own != null) {
        present.put(own.name(), slice.caught(object.id()));
      }
    });
    return ActivatorSlicePlanner.of(state, service,
        object.catchService() ? activators() : Activators.NONE, present);
  }

  private Activators activators() {
    var activators = scope.service();
    if (activators == null) {
      return scope.alone().get();
    }
    var all = stores.slicesOf(activators).toList();
    int port = all.stream().map(one -> one.ports().getOrDefault(REQUEST_PORT, 0))
        .filter(one -> one > 0).findFirst().orElse(0);
    return new Activators(port, Stream.of(IpFamily.values())
        .flatMap(family -> all.stream().flatMap(one -> one.ready(family))).distinct().toList());
  }
}
