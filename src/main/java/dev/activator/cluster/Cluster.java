package dev.activator.cluster;

import dev.activator.cluster.informer.InformerView;
import dev.activator.cluster.policy.CatchState;
import dev.activator.cluster.policy.CatchState.Activators;
import dev.activator.cluster.policy.DomainRules;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.cluster.policy.PodFailures.GracePeriods;
import dev.activator.cluster.policy.ScaledServiceState;
import dev.activator.cluster.policy.ScaledServiceState.Backend;
import dev.activator.cluster.decode.ResourceKind;
import dev.activator.cluster.reflector.Informers;
import dev.activator.cluster.reflector.KubernetesApi;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.cluster.reflector.ReflectorView;
import dev.activator.http.Fields;
import dev.activator.loop.Loop;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.ContainerFailure;
import dev.activator.revision.PodListing;
import dev.activator.revision.PodProgress;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import dev.activator.tls.CertificateListener;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The revisions of a cluster, their pods and their Services.
 *
 * <p><b>Threads.</b> Consumers are registered before the start. They are called one at a time on the
 * cluster's loop, with everything, each change, and periodically everything again; they must not
 * block. Lookups never wait.
 *
 * <p><b>Errors.</b> Malformed objects, lost connections and consumers that throw are logged.
 */
public final class Cluster implements Revisions, AutoCloseable {
  private static final Set<String> ADDRESSES = Set.of(ResourceKind.ENDPOINTS.plural(),
      ResourceKind.ENDPOINT_SLICES.plural());

  private static final String ROUTING_STATE = "serving.knative.dev/routingState";
  private static final String ROUTED = "active";
  private static final String GENERATION = "serving.knative.dev/configurationGeneration";

  private final Supplier<ClusterAccess> access;
  private final KubernetesVersion minimum;
  private final Duration startTimeout;
  private final ReflectorSettings settings;
  private final RandomGenerator random;
  private final AddressSource source;
  private final KnativeInformers knative;
  /** The ids of Knative's revisions. */
  private final Set<RevisionId> knativeRevisions = ConcurrentHashMap.newKeySet();
  private final Listeners<Revision> revisions = new Listeners<>("Revision");
  /** By their Knative Service. */
  private final Map<RevisionId, Set<RevisionId>> byService = new ConcurrentHashMap<>();
  private final Listeners<PodListing> pods = new Listeners<>("pods");
  private final Listeners<PublicAddresses> publicAddresses = new Listeners<>("public Endpoints");
  private final Listeners<ClusterIp> clusterIps = new Listeners<>("private Service");
  private final Listeners<ContainerFailure> containerFailures = new Listeners<>(
      "pods that do not start");
  private final Listeners<PodProgress> podProgress = new Listeners<>("pods that start");
  private final Listeners<ScaledServiceState> scaledServiceStates = new Listeners<>(
      "ScaledService");
  private final List<Consumer<CatchState>> caught = new CopyOnWriteArrayList<>();
  private final List<Consumer<Boolean>> onEndpointsWatch = new CopyOnWriteArrayList<>();
  /** Leases of Endpoints or EndpointSlices without an open watch; used on the cluster's loop. */
  private final Set<Informers.Lease<?>> unwatched = new HashSet<>();
  private final ConfigMaps configMaps = new ConfigMaps();
  private volatile Sources sources = Sources.KNATIVE;
  private volatile String domain = "";
  private volatile DomainRules domains = DomainRules.ANY;
  private volatile @Nullable RevisionId activators;
  private volatile Supplier<Activators> alone = () -> Activators.NONE;
  private volatile @Nullable ScaledServices scaledServices;
  private volatile GracePeriods podGracePeriods = GracePeriods.DEFAULT;
  private volatile @Nullable KubernetesSession session;
  private volatile @Nullable PodStatusWatcher podStatus;

  /**
   * @param access read at the start, when the port of an embedded API is known
   * @param startTimeout how long to retry at the start
   * @param random jitter
   */
  public Cluster(Supplier<ClusterAccess> access, KubernetesVersion minimum, Duration startTimeout,
      ReflectorSettings settings, RandomGenerator random, AddressSource source) {
    this.access = access;
    this.minimum = minimum;
    this.startTimeout = startTimeout;
    this.settings = settings;
    this.random = random;
    this.source = source;
    this.knative = new KnativeInformers(source);
    // First, so that other consumers find it.
    revisions.add(now -> ofService(now, Set::add));
    revisions.addGone(last -> ofService(last, Set::remove));
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
  public void limitHosts(DomainRules rules) {
    domains = rules;
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
   * @param where it takes requests
   */
  public void activatorIsAlone(Supplier<Activators> where) {
    alone = where;
  }

  /** Who gets the requests to the own Service of a ScaledService. */
  public void onCaught(Consumer<CatchState> consumer) {
    caught.add(consumer);
  }

  /** Called before the consumers of its revision and its pods. */
  public void onScaledService(Consumer<ScaledServiceState> consumer) {
    scaledServiceStates.add(consumer);
  }

  /** Called with its last state. */
  public void onScaledServiceGone(Consumer<ScaledServiceState> consumer) {
    scaledServiceStates.addGone(consumer);
  }

  /**
   * The revision of a ScaledService that gets a request; null if none does.
   *
   * @param target path and query
   */
  public @Nullable RevisionId ofHost(String host, String target, Fields fields) {
    var known = scaledServices;
    var id = known == null ? null : known.hosts().find(host, target, fields);
    return id == null || knativeRevisions.contains(id.withoutPort()) ? null : id;
  }

  /** Whether a ScaledService has a host, for some requests at least. */
  public boolean hasHost(String host) {
    var known = scaledServices;
    return known != null && known.hosts().has(host);
  }

  /** Null if there is none of this name; of a port: its ScaledService. */
  public @Nullable ScaledServiceState scaledService(RevisionId id) {
    return scaledServiceStates.find(id.withoutPort());
  }

  public void onRevision(Consumer<Revision> consumer) {
    revisions.add(consumer);
  }

  public void onRevisionGone(Consumer<RevisionId> consumer) {
    revisions.addGone(last -> consumer.accept(last.id()));
  }

  /** The revision may still be unknown. */
  public void onPods(Consumer<PodListing> consumer) {
    pods.add(consumer);
  }

  /** Those that are listed now; null if the revision has no Endpoints. */
  public @Nullable PodListing pods(RevisionId id) {
    return pods.find(id);
  }

  public void onPodsGone(Consumer<RevisionId> consumer) {
    pods.addGone(last -> consumer.accept(last.revision()));
  }

  /** The addresses are empty when the public Endpoints are deleted. */
  public void onPublicAddresses(Consumer<PublicAddresses> consumer) {
    publicAddresses.add(consumer);
    publicAddresses.addGone(
        last -> consumer.accept(new PublicAddresses(last.revision(), List.of(), List.of())));
  }

  /** Called with false when Endpoints have not been watched for seconds, with true when they are again. */
  public void onEndpointsWatch(Consumer<Boolean> consumer) {
    onEndpointsWatch.add(consumer);
  }

  /** The address is null when the private Service is deleted. */
  public void onClusterIp(Consumer<ClusterIp> consumer) {
    clusterIps.add(consumer);
    clusterIps.addGone(last -> consumer.accept(new ClusterIp(last.revision(), null, null)));
  }

  /** The ConfigMap must exist at the start; its consumer is called before all others. */
  public void onConfigMap(String namespace, String name, Consumer<Map<String, String>> consumer) {
    configMaps.want(namespace, name, consumer);
  }

  /** May be missing; empty once it is deleted. */
  public void onOptionalConfigMap(String namespace, String name,
      Consumer<Map<String, String>> consumer) {
    configMaps.wantIfPresent(namespace, name, consumer);
  }

  /** No pod of a revision with waiting requests will start, or one may start again. */
  public void onContainerFailure(Consumer<ContainerFailure> consumer) {
    containerFailures.add(consumer);
  }

  /** How far the pods of a revision with waiting requests are, while they are read. */
  public void onPodProgress(Consumer<PodProgress> consumer) {
    podProgress.add(consumer);
  }

  /** The pods of a revision are not read any more. */
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
      Supplier<? extends List<? extends Startup.Beginning>> begin) throws InterruptedException {
    new Startup(now.api().url(), check, begin, startTimeout).run();
  }

  private @Nullable String problem(KubernetesSession now) {
    var problem = Connection.problem(now.api(), minimum);
    return problem == null && sources != Sources.SCALED_SERVICES ? knative.problem(now) : problem;
  }

  List<KubernetesSession.Followed> follow(KubernetesSession now) {
    var all = new ArrayList<KubernetesSession.Followed>();
    if (sources != Sources.SCALED_SERVICES) {
      all.addAll(knative.follow(now, this::uidOf, pods, publicAddresses, this::knativeChanged,
          this::serviceChanged));
    }
    if (sources != Sources.KNATIVE) {
      var scaled = new ScaledServices(now, source.preferred(), domain, domains,
          activators, alone,
          new Forwarder());
      scaledServices = scaled;
      now.selectPods(id -> scaled.podSelector(id));
      all.addAll(scaled.follow());
    }
    all.stream().map(KubernetesSession.Followed::lease)
        .filter(lease -> ADDRESSES.contains(lease.view().resource()))
        .forEach(lease -> lease.onWatchChange(open -> watchChanged(lease, open)));
    return all;
  }

  private void watchChanged(Informers.Lease<?> lease, boolean open) {
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
    var certificates = new Certificates(namespace, listener);
    startup(now, () -> null, () -> certificates.follow(now));
    certificates.requireSecret();
  }

  /** @param leads whether this activator may write */
  public ScaledServiceWriter writer(Loop loop, InstantSource clock, BooleanSupplier leads) {
    return new ScaledServiceWriter(loop, this::api, clock, leads, random);
  }

  /**
   * Writes the EndpointSlices that catch requests.
   *
   * @param leads whether this activator may write
   * @param warnings gets a sentence for an Event
   */
  public ServiceCatcher catcher(Loop loop, BooleanSupplier leads,
      BiConsumer<RevisionId, String> warnings) {
    return new ServiceCatcher(loop, this::api, leads, warnings, random);
  }

  public EventReader eventReader(LongSupplier nanoTime) {
    return new EventReader(this::api, nanoTime, EventReader.TIMEOUT);
  }

  /** @param url the non-resource URL that the bearers must be permitted to get */
  public TokenAuthorizer tokenAuthorizer(String url, LongSupplier nanoTime) {
    return new TokenAuthorizer(this::api, url, nanoTime, TokenAuthorizer.TIMEOUT);
  }

  /** The key of the activators, in their namespace. */
  public PeerSecret peerSecret(String namespace) {
    return new PeerSecret(this::api, namespace);
  }

  private @Nullable KubernetesApi api() {
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

  public List<ReflectorView> reflectors() {
    var now = session;
    return now == null ? List.of() : now.informers().reflectors();
  }

  public List<InformerView> informers() {
    var now = session;
    return now == null ? List.of() : now.informers().informers();
  }

  @Override
  public @Nullable Revision find(RevisionId id) {
    return revisions.find(id);
  }

  /** @param service namespace and name of a Knative Service */
  public List<RevisionId> revisionsOf(RevisionId service) {
    return List.copyOf(byService.getOrDefault(service, Set.of()));
  }

  /** Its label never changes. */
  private void ofService(Revision revision, BiConsumer<Set<RevisionId>, RevisionId> change) {
    var service = serviceOf(revision);
    if (service != null) {
      byService.compute(service, (_, known) -> {
        Set<RevisionId> all = known == null ? ConcurrentHashMap.newKeySet() : known;
        change.accept(all, revision.id());
        return all.isEmpty() ? null : all;
      });
    }
  }

  private static @Nullable RevisionId serviceOf(Revision revision) {
    var service = revision.labels().get("serving.knative.dev/service");
    return service == null ? null : new RevisionId(revision.id().namespace(), service);
  }

  /**
   * The revision or ScaledService of this name, or else the newest revision of the Knative Service that
   * its Route names; null if there is none.
   */
  public @Nullable RevisionId named(RevisionId name) {
    return find(name) != null
        ? name
        : revisionsOf(name).stream().map(revisions::find).filter(Objects::nonNull)
            .max(Comparator.comparing(Cluster::isRouted).thenComparing(Cluster::generation))
            .map(Revision::id).orElse(null);
  }

  /** Knative sets the label; a revision without it counts as routed. */
  private static boolean isRouted(Revision revision) {
    return revision.labels().getOrDefault(ROUTING_STATE, ROUTED).equals(ROUTED);
  }

  private static long generation(Revision revision) {
    try {
      return Long.parseLong(revision.labels().getOrDefault(GENERATION, "0"));
    } catch (NumberFormatException e) {
      return 0;
    }
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

  private String uidOf(RevisionId id) {
    var revision = revisions.find(id);
    return revision == null ? "" : revision.uid();
  }

  /** A ScaledService of the same name gives way until the revision is gone. */
  private void knativeChanged(@Nullable Revision before, @Nullable Revision now) {
    var scaled = scaledServices;
    if (now != null && knativeRevisions.add(now.id()) && scaled != null) {
      withdraw(scaledServiceStates.find(now.id()), now.id());
      scaled.named(now.id());
    }
    if (now == null && before != null) {
      revisions.gone(before.id());
    } else if (now != null && before == now) {
      revisions.again(now.id(), now);
    } else if (now != null) {
      revisionChanged(now);
    }
    if (before != null && now == null && knativeRevisions.remove(before.id()) && scaled != null) {
      scaled.named(before.id());
    }
    if (scaled != null && (before == null || now == null)) {
      Stream.concat(Stream.ofNullable(before), Stream.ofNullable(now))
          .flatMap(one -> Stream.ofNullable(serviceOf(one))).forEach(scaled::known);
    }
  }

  /** Withdraws those of all ports. */
  private void withdraw(@Nullable ScaledServiceState last, RevisionId id) {
    if (last != null) {
      last.ports().forEach(one -> withdraw(one.id()));
    }
    withdraw(id);
  }

  /** Reports the revision, pods and addresses of a ScaledService of this name as gone. */
  private void withdraw(RevisionId id) {
    if (revisions.find(id) != null) {
      revisions.gone(id);
      pods.gone(id);
      publicAddresses.gone(id);
    }
  }

  private void revisionChanged(Revision now) {
    var before = revisions.find(now.id());
    boolean isAnother = before == null || !before.uid().equals(now.uid());
    if (isAnother) {
      // A revision recreated under the same name is a different one.
      revisions.gone(now.id());
      knative.recreated(now.id(), now.uid());
    }
    revisions.changed(now.id(), now);
    var addresses = publicAddresses.find(now.id());
    if (isAnother && addresses != null) {
      // The addresses were reported before the revision.
      publicAddresses.again(now.id(), addresses);
    }
  }

  private void serviceChanged(@Nullable ClusterIp before, @Nullable ClusterIp now) {
    if (before != null && (now == null || !now.revision().equals(before.revision()))) {
      clusterIps.gone(before.revision());
    }
    if (now != null && before == now) {
      clusterIps.again(now.revision(), now);
    } else if (now != null) {
      clusterIps.changed(now.revision(), now);
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
    public void progress(PodProgress now) {
      podProgress.changed(now.revision(), now);
    }

    @Override
    public void progressEnded(RevisionId revision) {
      podProgress.gone(revision);
    }
  }

  private final class Forwarder implements ScaledServices.ScaledServicesListener {
    @Override
    public @Nullable ScaledServiceState find(RevisionId id) {
      return scaledServiceStates.find(id);
    }

    @Override
    public void changed(ScaledServiceState now) {
      var id = now.object().id();
      var before = scaledServiceStates.find(id);
      scaledServiceStates.changed(id, now);
      if (!knativeRevisions.contains(id)) {
        now.backends().forEach(this::changed);
        portsGone(before, now);
      }
    }

    private void changed(Backend one) {
      revisionChanged(one.revision());
      pods.changed(one.id(), one.pods());
    }

    @Override
    public void portsAdded(ScaledServiceState before, ScaledServiceState now) {
      if (!knativeRevisions.contains(now.object().id())) {
        var known = before.ports().stream().map(Backend::id).toList();
        now.ports().stream().filter(one -> !known.contains(one.id())).forEach(this::changed);
      }
    }

    @Override
    public void again(ScaledServiceState now) {
      var id = now.object().id();
      var before = scaledServiceStates.find(id);
      scaledServiceStates.again(id, now);
      if (!knativeRevisions.contains(id)) {
        portsGone(before, now);
        now.backends().forEach(one -> {
          revisionChanged(one.revision());
          revisions.again(one.id(), one.revision());
          pods.again(one.id(), one.pods());
        });
      }
    }

    private void portsGone(@Nullable ScaledServiceState before, ScaledServiceState now) {
      if (before != null) {
        var kept = now.ports().stream().map(Backend::id).toList();
        before.ports().stream().map(Backend::id).filter(id -> !kept.contains(id))
            .forEach(Cluster.this::withdraw);
      }
    }

    @Override
    public void caught(CatchState now) {
      caught.forEach(consumer -> consumer.accept(now));
    }

    @Override
    public boolean isNameTaken(RevisionId id) {
      return knativeRevisions.contains(id);
    }

    @Override
    public boolean isKnown(RevisionId id) {
      return knativeRevisions.contains(id) || !revisionsOf(id).isEmpty();
    }

    @Override
    public void shared(RevisionId id, List<String> addresses) {
      if (!knativeRevisions.contains(id.withoutPort())) {
        publicAddresses.changed(id, new PublicAddresses(id, addresses, addresses));
      }
    }

    @Override
    public void gone(RevisionId id) {
      var last = scaledServiceStates.find(id);
      scaledServiceStates.gone(id);
      if (!knativeRevisions.contains(id)) {
        withdraw(last, id);
      }
    }
  }
}
