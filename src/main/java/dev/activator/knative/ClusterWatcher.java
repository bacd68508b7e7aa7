package dev.activator.knative;

import dev.activator.knative.decode.KnativeKinds;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ClusterStartup;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.kube.EventFetcher;
import dev.activator.kube.KubernetesClientFactory;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.TokenReviewAuthorizer;
import dev.activator.standalone.ScaledServiceResolver;
import dev.activator.kube.informer.InformerStatus;
import dev.activator.standalone.policy.ActivatorSlicePlanner;
import dev.activator.standalone.policy.ActivatorSlicePlanner.Activators;
import dev.activator.config.NamespaceHostRules;
import dev.activator.kube.policy.KubernetesVersion;
import dev.activator.knative.policy.StartingPodSet.GracePeriods;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.kube.reflector.SharedInformers;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.kube.reflector.ReflectorStatus;
import dev.activator.http.HeaderMap;
import dev.activator.loop.Topic;
import dev.activator.revision.PrivateClusterIp;
import dev.activator.revision.ContainerFailure;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.tls.CertificateListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Watches a Kubernetes cluster and publishes its revisions, pods and Services.
 *
 * <p><b>Threads.</b> Topics get their subscribers before the start, and publish on the cluster's loop:
 * each existing object, each change, and periodically each object again (resync). Lookups never wait.
 *
 * <p><b>Errors.</b> Malformed objects and lost connections are logged.
 */
public final class ClusterWatcher implements AutoCloseable {
  private static final Set<String> ADDRESSES = Set.of(KnativeKinds.ENDPOINTS.plural(),
      KnativeKinds.ENDPOINT_SLICES.plural());

  private final Supplier<ClusterAccess> access;
  private final KubernetesVersion minimum;
  private final Duration startTimeout;
  private final ReflectorSettings settings;
  private final RandomGenerator random;
  private final PodAddressPreference source;
  private final LiveRevisions live;
  private final KnativeInformers knative;
  private final MergedRevisions merged;
  private final RevisionChangePublisher<ContainerFailure> containerFailures = new RevisionChangePublisher<>(
      "pods that do not start");
  private final RevisionChangePublisher<RevisionStartProgress> podProgress = new RevisionChangePublisher<>(
      "pods that start");
  private final Topic<Boolean> endpointsWatch = new Topic<>("watch of Endpoints");
  /**
   * The leases of Endpoints or EndpointSlices that have no open watch. Used only on the cluster's
   * loop.
   */
  private final Set<SharedInformers.Lease<?>> unwatched = new HashSet<>();
  private final ConfigMapWatcher configMaps = new ConfigMapWatcher();
  private volatile Sources sources = Sources.KNATIVE;
  private volatile String domain = "";
  private volatile NamespaceHostRules domains = NamespaceHostRules.ANY;
  private volatile Set<String> namespaces = Set.of();
  private volatile @Nullable RevisionId activators;
  private volatile Supplier<Activators> alone = () -> Activators.NONE;
  private volatile @Nullable ScaledServiceResolver scaledServices;
  private volatile GracePeriods podGracePeriods = GracePeriods.DEFAULT;
  private volatile @Nullable CompletableFuture<Connection> connecting;
  private volatile @Nullable KubernetesSession session;
  private volatile @Nullable PodStatusWatcher podStatus;

  /**
   * @param live gets the revisions that exist; only this class changes it
   * @param access is called at the start, when the port of an embedded API is known
   * @param startTimeout for how long the start is retried
   * @param random jitter
   */
  public ClusterWatcher(LiveRevisions live, Supplier<ClusterAccess> access,
      KubernetesVersion minimum, Duration startTimeout,
      ReflectorSettings settings, RandomGenerator random, PodAddressPreference source) {
    this.live = live;
    this.access = access;
    this.minimum = minimum;
    this.startTimeout = startTimeout;
    this.settings = settings;
    this.random = random;
    this.source = source;
    this.knative = new KnativeInformers(source);
    this.merged = new MergedRevisions(live, knative, () -> scaledServices);
  }

  /** The kinds of objects that revisions are read from. */
  public enum Sources {
    KNATIVE,
    /** Only ScaledServices. Without Knative, its ConfigMapWatcher may be missing, too. */
    SCALED_SERVICES,
    BOTH
  }

  /**
   * Sets the sources of revisions. Call before the start.
   *
   * @param clusterDomain the suffix of the host names of ScaledServices
   */
  public void follows(Sources from, String clusterDomain) {
    sources = from;
    domain = clusterDomain;
  }

  /** Limits the hosts that the ScaledServices of a namespace may claim. Call before the start. */
  public void limitHosts(NamespaceHostRules rules) {
    domains = rules;
  }

  /**
   * Limits the namespaces whose ScaledServices this installation handles, if there are other
   * installations. Call before the start.
   *
   * @param ours the namespaces; empty for all
   */
  public void limitNamespaces(Set<String> ours) {
    namespaces = Set.copyOf(ours);
  }

  /**
   * Sets the activators' own Service, by which several activators share the pods of ScaledServices.
   * Call before the start.
   *
   * @param service its namespace and name
   */
  public void activatorsAre(RevisionId service) {
    activators = service;
  }

  /**
   * Declares that this is the only activator. Call before the start.
   *
   * @param where returns the addresses and the port where it takes requests
   */
  public void activatorIsAlone(Supplier<Activators> where) {
    alone = where;
  }

  /** Publishes the EndpointSlices that should catch requests to the Service of a ScaledService. */
  public Topic<ActivatorSlicePlanner> caught() {
    return merged.caught;
  }

  /** Publishes ScaledServices, each before its revisions and pods. */
  public Topic<ResolvedScaledService> scaledServices() {
    return merged.scaledServiceStates.changes();
  }

  /** Publishes the last state of deleted ScaledServices. */
  public Topic<ResolvedScaledService> scaledServicesGone() {
    return merged.scaledServiceStates.ends();
  }

  /**
   * The revision of the ScaledService to which a request is routed; null if there is none.
   *
   * @param target the path and query
   */
  public @Nullable RevisionId ofHost(String host, String target, HeaderMap fields) {
    var known = scaledServices;
    var id = known == null ? null : known.hosts().find(host, target, fields);
    return id == null || merged.isNameTaken(id.withoutPort()) ? null : id;
  }

  /** Whether a ScaledService gets at least some requests for a host. */
  public boolean hasHost(String host) {
    var known = scaledServices;
    return known != null && known.hosts().has(host);
  }

  /**
   * The ScaledService of a revision, which may belong to any of its ports; null if there is none.
   */
  public @Nullable ResolvedScaledService scaledService(RevisionId id) {
    return merged.scaledServiceStates.find(id.withoutPort());
  }

  /** The revisions that exist. A part that keeps something for each declares a slot there. */
  public LiveRevisions live() {
    return live;
  }

  /** Publishes the beginnings and the changes of revisions. The values of slots notice the ends. */
  public Topic<LiveRevision> revisions() {
    return merged.revisions;
  }

  /**
   * Publishes the pods of revisions. The revision may not be known yet; when it is, they are published
   * again.
   */
  public Topic<PrivateEndpoints> pods() {
    return merged.pods.changes();
  }

  /** The pods in the revision's Endpoints; null if it has none. */
  public @Nullable PrivateEndpoints pods(RevisionId id) {
    return merged.pods.find(id);
  }

  /** Publishes the last pods of revisions whose Endpoints are deleted. */
  public Topic<PrivateEndpoints> podsGone() {
    return merged.pods.ends();
  }

  /** Publishes public Endpoints. The addresses are empty after they are deleted. */
  public Topic<PublicEndpointAddresses> publicAddresses() {
    return merged.publicAddresses.changes();
  }

  /**
   * Publishes false when no watch of Endpoints has been open for some seconds, and true when one is open
   * again.
   */
  public Topic<Boolean> endpointsWatch() {
    return endpointsWatch;
  }

  /** Publishes ClusterIPs of private Services. The addresses are null after the Service is deleted. */
  public Topic<PrivateClusterIp> clusterIps() {
    return merged.clusterIps.changes();
  }

  /**
   * Adds a consumer of a ConfigMap that must exist at the start. It is called before all other
   * consumers.
   */
  public void onConfigMap(String namespace, String name, Consumer<Map<String, String>> consumer) {
    configMaps.want(namespace, name, consumer);
  }

  /**
   * Adds a consumer of a ConfigMap that may be missing. It gets an empty map after the ConfigMap is
   * deleted.
   */
  public void onOptionalConfigMap(String namespace, String name,
      Consumer<Map<String, String>> consumer) {
    configMaps.wantIfPresent(namespace, name, consumer);
  }

  /** Publishes that no pod of a revision with waiting requests can start, and that one may start again. */
  public Topic<ContainerFailure> containerFailures() {
    return containerFailures.changes();
  }

  /** Publishes the start progress of revisions with waiting requests, while their pods are watched. */
  public Topic<RevisionStartProgress> podProgress() {
    return podProgress.changes();
  }

  /** Publishes the last progress of a revision when its pods are no longer watched. */
  public Topic<RevisionStartProgress> podProgressEnded() {
    return podProgress.ends();
  }

  /** Sets the grace period of unschedulable pods. Call before the start. */
  public void waitOutUnschedulable(Duration length) {
    podGracePeriods = new GracePeriods(GracePeriods.DEFAULT.retried(), length);
  }

  /** @param problem why the API could not be used, in one line */
  record Connection(KubernetesSession session, @Nullable String problem) {}

  /**
   * Begins to connect on another thread, while the process makes other preparations. {@link #start} waits for
   * it.
   */
  public void connect() {
    connecting = CompletableFuture.supplyAsync(() -> {
      var now = KubernetesSession.open(access.get(), settings, random);
      return new Connection(now, KubernetesClientFactory.problem(now.api(), minimum));
    }, task -> Thread.ofPlatform().daemon().name("connect").start(task));
  }

  /** The connection that was begun, or a new one. */
  Connection connection() throws InterruptedException {
    var begun = connecting;
    if (begun == null) {
      return new Connection(KubernetesSession.open(access.get(), settings, random), null);
    }
    try {
      return begun.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof ClusterUnavailableException known
          ? known
          : new IllegalStateException(e.getCause());
    }
  }

  /**
   * Starts watching. Returns when consumers have handled all existing objects. Closes this watcher
   * if it fails.
   *
   * @throws ClusterUnavailableException if the API cannot be used within the start timeout, or the
   *     access is invalid
   */
  public void start() throws InterruptedException {
    var connection = connection();
    var now = connection.session();
    session = now;
    boolean started = false;
    try {
      var first = new AtomicReference<>(connection.problem());
      startup(now, () -> {
        var known = first.getAndSet(null);
        return known == null ? problem(now) : known;
      }, () -> configMaps.follow(now));
      if (sources != Sources.SCALED_SERVICES) {
        configMaps.requireAll();
      }
      startup(now, () -> null, () -> follow(now));
      var scaled = scaledServices;
      if (scaled != null) {
        startup(now, () -> null, scaled::kinds);
      }
      podStatus = new PodStatusWatcher(live, now.loop(),
          new RevisionPods(now, this::podSelector), podGracePeriods,
          new StartingPods());
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  private String podSelector(RevisionId id) {
    var scaled = scaledServices;
    return scaled == null ? "" : scaled.podSelector(id);
  }

  private void startup(KubernetesSession now, Supplier<@Nullable String> check,
      Supplier<? extends List<? extends ClusterStartup.Beginning>> begin)
      throws InterruptedException {
    new ClusterStartup(now.api().url(), check, begin, startTimeout).run();
  }

  private @Nullable String problem(KubernetesSession now) {
    var problem = KubernetesClientFactory.problem(now.api(), minimum);
    return problem == null && sources != Sources.SCALED_SERVICES ? knative.problem(now) : problem;
  }

  List<KubernetesSession.Followed> follow(KubernetesSession now) {
    var all = new ArrayList<KubernetesSession.Followed>();
    if (sources != Sources.SCALED_SERVICES) {
      all.addAll(knative.follow(now, merged::uidOf, merged.pods, merged.publicAddresses,
          merged::knativeChanged, merged::serviceChanged));
    }
    if (sources != Sources.KNATIVE) {
      var scaled = new ScaledServiceResolver(now, source.preferred(), domain, domains,
          namespaces, activators, alone, merged);
      scaledServices = scaled;
      all.addAll(scaled.follow());
    }
    all.stream().map(KubernetesSession.Followed::lease)
        .filter(lease -> ADDRESSES.contains(lease.view().resource()))
        .forEach(lease -> lease.onWatchChange(open -> watchChanged(lease, open)));
    return all;
  }

  private void watchChanged(SharedInformers.Lease<?> lease, boolean open) {
    boolean before = unwatched.isEmpty();
    if (open) {
      unwatched.remove(lease);
    } else {
      unwatched.add(lease);
    }
    if (unwatched.isEmpty() != before) {
      endpointsWatch.publish(open);
    }
  }

  /**
   * Watches certificates. Call after the start. Returns when the listener has the certificates.
   *
   * @throws ClusterUnavailableException if there is no certificate, or it cannot be listed
   */
  public void followCertificates(String namespace, CertificateListener listener)
      throws InterruptedException {
    var now = session;
    if (now == null) {
      throw new IllegalStateException("not started");
    }
    var certificates = new DataPlaneCertificateWatcher(namespace, listener);
    startup(now, () -> null, () -> certificates.follow(now));
    certificates.requireSecret();
  }

  public EventFetcher eventReader(LongSupplier nanoTime) {
    return new EventFetcher(this::api, nanoTime, EventFetcher.TIMEOUT);
  }

  /** @param url the non-resource URL that the bearers must be permitted to get */
  public TokenReviewAuthorizer tokenAuthorizer(String url, LongSupplier nanoTime) {
    return new TokenReviewAuthorizer(this::api, url, nanoTime, TokenReviewAuthorizer.TIMEOUT);
  }

  /** The client of the API; null before the start. */
  public @Nullable KubernetesApiClient api() {
    var now = session;
    return now == null ? null : now.api();
  }

  /** Watches the revision's pods for ten seconds. Repeat the call while requests wait. */
  public void requestsWaitFor(RevisionId revision) {
    var now = podStatus;
    if (now != null) {
      now.requestsWaitFor(revision);
    }
  }

  /** Whether consumers have handled all objects that existed at the start. */
  public boolean synced() {
    var now = session;
    return now != null && now.synced();
  }

  public List<ReflectorStatus> reflectors() {
    var now = session;
    return now == null ? List.of() : now.informers().reflectors();
  }

  public List<InformerStatus> informers() {
    var now = session;
    return now == null ? List.of() : now.informers().informers();
  }

  /** @param service the namespace and name of a Knative Service */
  public List<RevisionId> revisionsOf(RevisionId service) {
    return merged.ofService(service).map(Revision::id).toList();
  }

  /**
   * The revision or ScaledService with this name. Otherwise the newest routed revision of the
   * Knative Service with this name; null if there is none.
   */
  public @Nullable RevisionId named(RevisionId name) {
    return merged.named(name);
  }

  /** Stops watching. No consumer is called afterwards. Idempotent. */
  @Override
  public void close() {
    var watcher = podStatus;
    podStatus = null;
    if (watcher != null) {
      watcher.close();
    }
    var now = session;
    if (now != null) {
      now.close();
    }
    var begun = connecting;
    if (begun != null) {
      begun.thenAccept(connection -> connection.session().close());
    }
  }

  private final class StartingPods implements PodStatusWatcher.Listener {
    @Override
    public void failure(ContainerFailure now) {
      containerFailures.changed(now.revision(), now);
      if (now.failure() == null) {
        containerFailures.gone(now.revision());
      }
    }

    @Override
    public void progress(RevisionStartProgress now) {
      podProgress.changed(now.revision(), now);
    }

    @Override
    public void progressEnded(RevisionId revision) {
      podProgress.gone(revision);
    }
  }
}
