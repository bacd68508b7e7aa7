package dev.activator.discovery;

import dev.activator.revision.KnownLabels;
import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ClusterStartup;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.kube.KubernetesClientFactory;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.informer.Informer.InformerStatus;
import dev.activator.kube.policy.KubernetesVersion;
import dev.activator.kube.reflector.SharedInformers;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.kube.reflector.ReflectorStatus;
import dev.activator.loop.Topic;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
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
  private final PodAddressPreference addresses;
  private final LiveRevisions live;
  private final KnativeInformers knative;
  private final MergedRevisions merged;
  private final PodStarts podStarts = new PodStarts();
  private final Topic<Boolean> endpointsWatch = new Topic<>("watch of Endpoints");
  /**
   * The leases of Endpoints or EndpointSlices that have no open watch. Used only on the cluster's
   * loop.
   */
  private final Set<SharedInformers.Lease<?>> unwatched = new HashSet<>();
  private final ConfigMapWatcher configMaps = new ConfigMapWatcher();
  private volatile boolean hasKnative = true;
  private volatile @Nullable RevisionSource other;
  private volatile @Nullable CompletableFuture<Connection> connecting;
  private volatile @Nullable KubernetesSession session;

  /**
   * @param live gets the revisions that exist
   * @param access is called at the start, when the port of an embedded API is known
   * @param startTimeout for how long the start is retried
   * @param random jitter
   */
  public ClusterWatcher(LiveRevisions live, Supplier<ClusterAccess> access,
      KubernetesVersion minimum, Duration startTimeout,
      ReflectorSettings settings, RandomGenerator random, PodAddressPreference addresses) {
    this.live = live;
    this.access = access;
    this.minimum = minimum;
    this.startTimeout = startTimeout;
    this.settings = settings;
    this.random = random;
    this.addresses = addresses;
    this.knative = new KnativeInformers(addresses);
    this.merged = new MergedRevisions(live, knative, () -> other);
  }

  /** Sets the source of revisions in addition to Knative's objects. Call before the start. */
  public void setSource(RevisionSource source) {
    other = source;
  }

  /** Follows no objects of Knative, whose ConfigMaps may be missing, too. Call before the start. */
  public void leaveOutKnative() {
    hasKnative = false;
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

  /** The starts of pods for which requests wait. */
  public PodStarts podStarts() {
    return podStarts;
  }

  /**
   * @param isChecked whether the API was tried
   * @param problem why the API could not be used, in one line
   */
  record Connection(KubernetesSession session, boolean isChecked, @Nullable String problem) {}

  /**
   * Begins to connect on another thread, while the process makes other preparations. {@link #start} waits for
   * it.
   */
  public void connect() {
    connecting = CompletableFuture.supplyAsync(() -> {
      var now = KubernetesSession.open(access.get(), settings, random);
      return new Connection(now, true, KubernetesClientFactory.problem(now.api(), minimum));
    }, task -> Thread.ofPlatform().daemon().name("connect").start(task));
  }

  /** The connection that was begun, or a new one. */
  Connection connection() throws InterruptedException {
    var begun = connecting;
    if (begun == null) {
      return new Connection(KubernetesSession.open(access.get(), settings, random), false, null);
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
      var isChecked = new AtomicBoolean(connection.isChecked());
      startup(now, () -> {
        var problem = isChecked.getAndSet(false)
            ? connection.problem()
            : KubernetesClientFactory.problem(now.api(), minimum);
        return problem == null && hasKnative ? knative.problem(now) : problem;
      }, () -> configMaps.follow(now));
      if (hasKnative) {
        configMaps.requireAll();
      }
      startup(now, () -> null, () -> follow(now));
      var more = other;
      if (more != null) {
        startup(now, () -> null, more::followMore);
      }
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

  List<KubernetesSession.Followed> follow(KubernetesSession now) {
    var all = new ArrayList<KubernetesSession.Followed>();
    if (hasKnative) {
      all.addAll(knative.follow(now, merged::uidOf, merged.pods, merged.publicAddresses,
          merged::knativeChanged, merged::serviceChanged));
    }
    var from = other;
    if (from != null) {
      all.addAll(from.follow(now, addresses.preferred(), merged));
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

  /** The connection to the API; null before the start. */
  public @Nullable KubernetesSession session() {
    return session;
  }

  /** The client of the API; null before the start. */
  public @Nullable KubernetesApiClient api() {
    var now = session;
    return now == null ? null : now.api();
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

  /** The label selector of a revision's pods. Called on the session's loop. */
  public String podSelector(RevisionId id) {
    var from = other;
    var own = from == null ? "" : from.podSelector(id);
    return own.isEmpty() ? KnownLabels.REVISION + "=" + id.name() : own;
  }

  /** @param service the namespace and name of a Knative Service */
  public List<RevisionId> revisionsOf(RevisionId service) {
    return merged.ofService(service).map(Revision::id).toList();
  }

  /**
   * The revision with this name. Otherwise the newest routed revision of the
   * Knative Service with this name; null if there is none.
   */
  public @Nullable RevisionId named(RevisionId name) {
    return merged.named(name);
  }

  /** Stops watching. No consumer is called afterwards. Idempotent. */
  @Override
  public void close() {
    var now = session;
    if (now != null) {
      now.close();
    }
    var begun = connecting;
    if (begun != null) {
      begun.thenAccept(connection -> connection.session().close());
    }
  }
}
