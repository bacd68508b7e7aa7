package dev.activator.cluster;

import dev.activator.cluster.informer.InformerStatus;
import dev.activator.cluster.policy.ActivatorSlicePlanner;
import dev.activator.cluster.policy.ActivatorSlicePlanner.Activators;
import dev.activator.cluster.policy.NamespaceHostRules;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.cluster.policy.StartingPodSet.GracePeriods;
import dev.activator.cluster.policy.ResolvedScaledService;
import dev.activator.cluster.decode.WatchedKind;
import dev.activator.cluster.reflector.SharedInformers;
import dev.activator.cluster.reflector.KubernetesApiClient;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.cluster.reflector.ReflectorStatus;
import dev.activator.http.HeaderMap;
import dev.activator.loop.Loop;
import dev.activator.revision.PrivateClusterIp;
import dev.activator.revision.ContainerFailure;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.PublicEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionLister;
import dev.activator.tls.CertificateListener;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Watches a Kubernetes cluster and publishes its revisions, pods and Services to consumers.
 *
 * <p><b>Threads.</b> Consumers are registered before the start. They are called one at a time on
 * the cluster's loop: with everything that exists, with each change, and periodically with
 * everything again. They must not block. Lookups never wait.
 *
 * <p><b>Errors.</b> Malformed objects, lost connections and consumers that throw are logged.
 */
public final class ClusterWatcher implements RevisionLister, AutoCloseable {
  private static final Set<String> ADDRESSES = Set.of(WatchedKind.ENDPOINTS.plural(),
      WatchedKind.ENDPOINT_SLICES.plural());

  private final Supplier<ClusterAccess> access;
  private final KubernetesVersion minimum;
  private final Duration startTimeout;
  private final ReflectorSettings settings;
  private final RandomGenerator random;
  private final PodAddressPreference source;
  private final KnativeInformers knative;
  private final MergedRevisions merged;
  /** The merged revisions. They are kept here, because each request reads one. */
  private final RevisionChangePublisher<Revision> revisions;
  private final RevisionChangePublisher<ContainerFailure> containerFailures = new RevisionChangePublisher<>(
      "pods that do not start");
  private final RevisionChangePublisher<RevisionStartProgress> podProgress = new RevisionChangePublisher<>(
      "pods that start");
  private final List<Consumer<Boolean>> onEndpointsWatch = new CopyOnWriteArrayList<>();
  /** Leases of Endpoints or EndpointSlices without an open watch; used on the cluster's loop. */
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
  private volatile @Nullable KubernetesSession session;
  private volatile @Nullable PodStatusWatcher podStatus;

  /**
   * @param access read at the start, when the port of an embedded API is known
   * @param startTimeout how long to retry at the start
   * @param random jitter
   */
  public ClusterWatcher(Supplier<ClusterAccess> access, KubernetesVersion minimum,
      Duration startTimeout,
      ReflectorSettings settings, RandomGenerator random, PodAddressPreference source) {
    this.access = access;
    this.minimum = minimum;
    this.startTimeout = startTimeout;
    this.settings = settings;
    this.random = random;
    this.source = source;
    this.knative = new KnativeInformers(source);
    this.merged = new MergedRevisions(knative, () -> scaledServices);
    this.revisions = merged.revisions;
  }

  /** Where revisions come from. */
  public enum Sources {
    KNATIVE,
    /** Without Knative: ConfigMaps may be missing, too. */
    SCALED_SERVICES,
    BOTH
  }

  /**
   * Call before the start.
   *
   * @param clusterDomain the suffix of the host names of ScaledServices
   */
  public void follows(Sources from, String clusterDomain) {
    sources = from;
    domain = clusterDomain;
  }

  /** Call before the start, to limit which namespace may claim which hosts by its ScaledServices. */
  public void limitHosts(NamespaceHostRules rules) {
    domains = rules;
  }

  /**
   * Call before the start, if other installations have the ScaledServices of other namespaces.
   *
   * @param ours empty for all
   */
  public void limitNamespaces(Set<String> ours) {
    namespaces = Set.copyOf(ours);
  }

  /**
   * Call before the start, if several activators share the pods of ScaledServices.
   *
   * @param service their own, by namespace and name
   */
  public void activatorsAre(RevisionId service) {
    activators = service;
  }

  /**
   * Call before the start, if this is the only activator.
   *
   * @param where the addresses where it takes requests
   */
  public void activatorIsAlone(Supplier<Activators> where) {
    alone = where;
  }

  /** Called with who gets the requests to the ScaledService's own Service. */
  public void onCaught(Consumer<ActivatorSlicePlanner> consumer) {
    merged.caught.add(consumer);
  }

  /** Called before the consumers of its revision and its pods. */
  public void onScaledService(Consumer<ResolvedScaledService> consumer) {
    merged.scaledServiceStates.add(consumer);
  }

  /** Called with its last state. */
  public void onScaledServiceGone(Consumer<ResolvedScaledService> consumer) {
    merged.scaledServiceStates.addGone(consumer);
  }

  /**
   * The revision of a ScaledService that gets a request; null if none does.
   *
   * @param target path and query
   */
  public @Nullable RevisionId ofHost(String host, String target, HeaderMap fields) {
    var known = scaledServices;
    var id = known == null ? null : known.hosts().find(host, target, fields);
    return id == null || merged.isNameTaken(id.withoutPort()) ? null : id;
  }

  /** Whether a ScaledService has a host, for some requests at least. */
  public boolean hasHost(String host) {
    var known = scaledServices;
    return known != null && known.hosts().has(host);
  }

  /** The ScaledService of this name, or of a revision of one of its ports; null if there is none. */
  public @Nullable ResolvedScaledService scaledService(RevisionId id) {
    return merged.scaledServiceStates.find(id.withoutPort());
  }

  public void onRevision(Consumer<Revision> consumer) {
    revisions.add(consumer);
  }

  public void onRevisionGone(Consumer<RevisionId> consumer) {
    revisions.addGone(last -> consumer.accept(last.id()));
  }

  /** The revision may still be unknown. */
  public void onPods(Consumer<PrivateEndpoints> consumer) {
    merged.pods.add(consumer);
  }

  /** The pods that are listed now; null if the revision has no Endpoints. */
  public @Nullable PrivateEndpoints pods(RevisionId id) {
    return merged.pods.find(id);
  }

  public void onPodsGone(Consumer<RevisionId> consumer) {
    merged.pods.addGone(last -> consumer.accept(last.revision()));
  }

  /** The addresses are empty when the public Endpoints are deleted. */
  public void onPublicAddresses(Consumer<PublicEndpoints> consumer) {
    merged.publicAddresses.add(consumer);
    merged.publicAddresses.addGone(
        last -> consumer.accept(new PublicEndpoints(last.revision(), List.of(), List.of())));
  }

  /** Called with false when Endpoints have not been watched for seconds, with true when they are again. */
  public void onEndpointsWatch(Consumer<Boolean> consumer) {
    onEndpointsWatch.add(consumer);
  }

  /** The address is null when the private Service is deleted. */
  public void onClusterIp(Consumer<PrivateClusterIp> consumer) {
    merged.clusterIps.add(consumer);
    merged.clusterIps
        .addGone(last -> consumer.accept(new PrivateClusterIp(last.revision(), null, null)));
  }

  /** The ConfigMap must exist at the start; its consumer is called before all others. */
  public void onConfigMap(String namespace, String name, Consumer<Map<String, String>> consumer) {
    configMaps.want(namespace, name, consumer);
  }

  /** The ConfigMap may be missing; the consumer gets an empty map once it is deleted. */
  public void onOptionalConfigMap(String namespace, String name,
      Consumer<Map<String, String>> consumer) {
    configMaps.wantIfPresent(namespace, name, consumer);
  }

  /** Called when no pod of a revision with waiting requests will start, or one may start again. */
  public void onContainerFailure(Consumer<ContainerFailure> consumer) {
    containerFailures.add(consumer);
  }

  /** Called with how far the pods of a revision with waiting requests are, while they are read. */
  public void onPodProgress(Consumer<RevisionStartProgress> consumer) {
    podProgress.add(consumer);
  }

  /** Called when the pods of a revision are not read any more. */
  public void onPodProgressEnded(Consumer<RevisionId> consumer) {
    podProgress.addGone(last -> consumer.accept(last.revision()));
  }

  /** The grace period of unschedulable pods; call before the start. */
  public void waitOutUnschedulable(Duration length) {
    podGracePeriods = new GracePeriods(GracePeriods.DEFAULT.retried(), length);
  }

  /**
   * Returns once consumers have handled everything that exists; closes after a failure.
   *
   * @throws ClusterUnavailableException if the API cannot be used within the start timeout, or the
   * access is invalid
   */
  public void start() throws InterruptedException {
    var now = new KubernetesSession(access.get(), settings, random);
    session = now;
    boolean started = false;
    try {
      startup(now, () -> problem(now), () -> configMaps.follow(now));
      if (sources != Sources.SCALED_SERVICES) {
        configMaps.requireAll();
      }
      startup(now, () -> null, () -> follow(now));
      var scaled = scaledServices;
      if (scaled != null) {
        startup(now, () -> null, scaled::kinds);
      }
      podStatus = new PodStatusWatcher(now.loop(), now, podGracePeriods, new StartingPods());
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
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
      now.selectPods(id -> scaled.podSelector(id));
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
      onEndpointsWatch.forEach(consumer -> consumer.accept(open));
    }
  }

  /**
   * Call after the start; returns once the listener has the certificates.
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

  /** @param leads whether this activator may write */
  public ScaledServiceStatusWriter writer(Loop loop, InstantSource clock, BooleanSupplier leads) {
    return new ScaledServiceStatusWriter(loop, this::api, clock, leads, random);
  }

  /**
   * Writes the EndpointSlices that catch requests.
   *
   * @param leads whether this activator may write
   * @param warnings gets a sentence for an Event
   */
  public ActivatorEndpointSliceWriter catcher(Loop loop, BooleanSupplier leads,
      BiConsumer<RevisionId, String> warnings) {
    return new ActivatorEndpointSliceWriter(loop, this::api, leads, warnings, random);
  }

  public EventFetcher eventReader(LongSupplier nanoTime) {
    return new EventFetcher(this::api, nanoTime, EventFetcher.TIMEOUT);
  }

  /** @param url the non-resource URL that the bearers must be permitted to get */
  public TokenReviewAuthorizer tokenAuthorizer(String url, LongSupplier nanoTime) {
    return new TokenReviewAuthorizer(this::api, url, nanoTime, TokenReviewAuthorizer.TIMEOUT);
  }

  /** The key of the activators, in their namespace. */
  public PeerSecret peerSecret(String namespace) {
    return new PeerSecret(this::api, namespace);
  }

  private @Nullable KubernetesApiClient api() {
    var now = session;
    return now == null ? null : now.api();
  }

  /** Watches the revision's pods for ten seconds; call again while requests wait. */
  public void requestsWaitFor(RevisionId revision) {
    var now = podStatus;
    if (now != null) {
      now.requestsWaitFor(revision);
    }
  }

  /** Whether consumers have handled everything that existed at the start. */
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

  @Override
  public @Nullable Revision find(RevisionId id) {
    return revisions.find(id);
  }

  /** @param service namespace and name of a Knative Service */
  public List<RevisionId> revisionsOf(RevisionId service) {
    return merged.revisionsOf(service);
  }

  /**
   * The revision or ScaledService of this name, or else the newest revision of the Knative Service that
   * its Route names; null if there is none.
   */
  public @Nullable RevisionId named(RevisionId name) {
    return merged.named(name);
  }

  /** No consumer is called after this. Idempotent. */
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
