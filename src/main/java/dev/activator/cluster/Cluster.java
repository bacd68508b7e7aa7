package dev.activator.cluster;

import dev.activator.cluster.decode.Labels;
import dev.activator.cluster.decode.ResourceKind;
import dev.activator.cluster.informer.InformerView;
import dev.activator.cluster.policy.EndpointSet;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.cluster.policy.PodFailures.GracePeriods;
import dev.activator.cluster.reflector.AccessCheck;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.cluster.reflector.ReflectorView;
import dev.activator.cluster.reflector.ResourceQuery;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.PodListing;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import dev.activator.revision.StartTrouble;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The revisions of a cluster, their pods and their Services, as the Kubernetes API has them.
 * Consumers are registered before the start; then each is told of everything there is and of every
 * change, and now and then of everything again.
 *
 * <p>
 * <b>Threads.</b> Consumers are called one at a time, in order, on a loop of its own, and must not
 * block. Lookups never wait.
 *
 * <p>
 * <b>Errors.</b> A malformed object is skipped, and a lost connection is made again, each with a line
 * in the log. A consumer that throws is logged.
 *
 * <p>
 * <b>Source.</b> The informers of {@code cmd/activator/main.go} in Knative Serving; here the server
 * selects by label.
 */
public final class Cluster implements Revisions, AutoCloseable {
  private static final String OF_REVISIONS = Labels.SERVICE_TYPE + " in (" + Labels.PRIVATE + ","
      + Labels.PUBLIC + ")";
  private static final ResourceQuery<EndpointSet> ENDPOINTS = ResourceQuery
      .everywhere(ResourceKind.ENDPOINTS, OF_REVISIONS);
  private static final ResourceQuery<EndpointSet> ENDPOINT_SLICES = ResourceQuery
      .everywhere(ResourceKind.ENDPOINT_SLICES, OF_REVISIONS);
  private static final ResourceQuery<Revision> REVISIONS = ResourceQuery
      .everywhere(ResourceKind.REVISIONS, "");
  private static final ResourceQuery<ClusterIp> SERVICES = ResourceQuery
      .everywhere(ResourceKind.SERVICES, Labels.SERVICE_TYPE + "=" + Labels.PRIVATE);
  private static final Logger log = LoggerFactory.getLogger(Cluster.class);

  private final Supplier<ClusterAccess> access;
  private final KubernetesVersion minimum;
  private final Duration patience;
  private final ReflectorSettings settings;
  private final RandomGenerator random;
  private final AddressSource source;
  private final Map<RevisionId, Revision> revisions = new ConcurrentHashMap<>();
  private final Listeners<Revision> onRevision = new Listeners<>("Revision");
  private final Listeners<RevisionId> onRevisionGone = new Listeners<>("deletion");
  private final Listeners<PodListing> onPods = new Listeners<>("pods");
  private final Listeners<RevisionId> onPodsGone = new Listeners<>("deleted Endpoints");
  private final Listeners<PublicAddresses> onPublicAddresses = new Listeners<>("public Endpoints");
  private final Listeners<ClusterIp> onClusterIp = new Listeners<>("private Service");
  private final Listeners<StartTrouble> onStartTrouble = new Listeners<>(
      "pods that do not start");
  private final ConfigMaps configMaps = new ConfigMaps();
  private volatile GracePeriods podGracePeriods = GracePeriods.DEFAULT;
  private volatile @Nullable KubernetesSession session;
  private volatile @Nullable PodStatusWatcher podStatus;
  /** Which objects addresses are read from; null until that is decided. */
  private volatile @Nullable ResourceQuery<EndpointSet> addressQuery;
  private volatile @Nullable EndpointsEvents endpoints;

  /**
   * One that is connected to nothing yet.
   *
   * @param access asked at the start, when a port that was free before is known
   * @param minimum the oldest API server to work with
   * @param patience how long one that does not answer is waited for at the start
   * @param settings how closely lists and watches are looked after
   * @param random spreads the requests of many activators
   */
  public Cluster(Supplier<ClusterAccess> access, KubernetesVersion minimum, Duration patience,
      ReflectorSettings settings, RandomGenerator random) {
    this(access, minimum, patience, settings, random, AddressSource.DEFAULT);
  }

  /** @param source where addresses are read from */
  public Cluster(Supplier<ClusterAccess> access, KubernetesVersion minimum, Duration patience,
      ReflectorSettings settings, RandomGenerator random, AddressSource source) {
    this.access = access;
    this.minimum = minimum;
    this.patience = patience;
    this.settings = settings;
    this.random = random;
    this.source = source;
  }

  /** A revision exists, or has changed. */
  public void onRevision(Consumer<Revision> consumer) {
    onRevision.add(consumer);
  }

  /** A revision is deleted. */
  public void onRevisionGone(Consumer<RevisionId> consumer) {
    onRevisionGone.add(consumer);
  }

  /** Kubernetes lists these pods of a revision now, which need not be known yet. */
  public void onPods(Consumer<PodListing> consumer) {
    onPods.add(consumer);
  }

  /** The Endpoints of a revision's pods are deleted. */
  public void onPodsGone(Consumer<RevisionId> consumer) {
    onPodsGone.add(consumer);
  }

  /** A revision's public Endpoints hold these addresses now; none when they are deleted. */
  public void onPublicAddresses(Consumer<PublicAddresses> consumer) {
    onPublicAddresses.add(consumer);
  }

  /** A revision's private Service has this address now; none when it is deleted. */
  public void onClusterIp(Consumer<ClusterIp> consumer) {
    onClusterIp.add(consumer);
  }

  /** What a ConfigMap says; it must exist at the start, and is told before all else. */
  public void onConfigMap(String namespace, String name, Consumer<Map<String, String>> consumer) {
    configMaps.want(namespace, name, consumer);
  }

  /** No pod of a revision with waiting requests will start; or one may again. */
  public void onStartTrouble(Consumer<StartTrouble> consumer) {
    onStartTrouble.add(consumer);
  }

  /** How long pods that no node takes are waited for before that is told; before the start. */
  public void waitOutUnschedulable(Duration length) {
    podGracePeriods = new GracePeriods(GracePeriods.DEFAULT.retried(), length);
  }

  /**
   * Connects, and returns once everything there is has been told. After a failure all is closed.
   *
   * @throws ClusterUnavailableException if the API cannot be used, after the patience is over, or if
   *     the access is not configured
   * @throws InterruptedException if the thread is interrupted meanwhile
   */
  public void start() throws InterruptedException {
    var now = new KubernetesSession(access.get(), settings, random);
    session = now;
    boolean started = false;
    try {
      startup(now, () -> problem(now), () -> configMaps.follow(now));
      configMaps.requireAll();
      startup(now, () -> null, () -> follow(now, addressQuery));
      podStatus = new PodStatusWatcher(now.loop(), now, podGracePeriods,
          trouble -> onStartTrouble.tell(trouble.revision(), trouble));
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  private void startup(KubernetesSession now, Supplier<@Nullable String> check,
      Supplier<List<KubernetesSession.Followed>> begin) throws InterruptedException {
    new Startup(now.api().url(), check, begin, patience).run();
  }

  private @Nullable String problem(KubernetesSession now) {
    var problem = Connection.problem(now.api(), minimum);
    return problem == null ? sourceProblem(now) : problem;
  }

  /** Decides where addresses are read from, once and by rights alone. */
  private @Nullable String sourceProblem(KubernetesSession now) {
    try {
      addressQuery = switch (source.source()) {
        case ENDPOINTSLICES -> ENDPOINT_SLICES;
        case ENDPOINTS -> ENDPOINTS;
        case AUTO -> allowed(AccessCheck.ofListAndWatch(now.api(), ENDPOINT_SLICES).get());
      };
      return null;
    } catch (ExecutionException failure) {
      return now.errors().about("list", ENDPOINT_SLICES.plural(), failure);
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private static ResourceQuery<EndpointSet> allowed(AccessCheck slices) {
    log.info("Pods are read from {}", switch (slices) {
      case ALLOWED -> "EndpointSlices";
      case FORBIDDEN -> "Endpoints: EndpointSlices may not be listed and watched (403)";
      case NOT_SERVED -> "Endpoints: the API does not serve discovery.k8s.io/v1";
    });
    return slices == AccessCheck.ALLOWED ? ENDPOINT_SLICES : ENDPOINTS;
  }

  /** @param query of EndpointSlices or of Endpoints; null for the latter */
  List<KubernetesSession.Followed> follow(KubernetesSession now,
      @Nullable ResourceQuery<EndpointSet> query) {
    var addresses = now.followStored(query == null ? ENDPOINTS : query, store -> {
      var events = new EndpointsEvents(store, source.preferred(), this::uidOf,
          new EndpointsForwarder());
      endpoints = events;
      return events;
    });
    return List.of(addresses, now.followAgain(REVISIONS, this::revisionChanged),
        now.followAgain(SERVICES, this::serviceChanged));
  }

  /**
   * Follows the activators' certificate and the trust bundles of this namespace as well, and returns
   * once they have been told. After the start.
   *
   * @throws ClusterUnavailableException if there is no certificate, or it cannot be listed
   * @throws InterruptedException if the thread is interrupted meanwhile
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

  /**
   * Requests have waited for this revision for a second or so: watches its pods for ten seconds. To be
   * called again while requests wait.
   */
  public void requestsWaitFor(RevisionId revision) {
    var now = podStatus;
    if (now != null) {
      now.requestsWaitFor(revision);
    }
  }

  /** Whether everything there was at the start has been told. */
  public boolean synced() {
    var now = session;
    return now != null && now.synced();
  }

  /** The state of each list and watch; none before the start. */
  public List<ReflectorView> reflectors() {
    var now = session;
    return now == null ? List.of() : now.informers().reflectors();
  }

  /** The store and the handlers of each kind; none before the start. */
  public List<InformerView> informers() {
    var now = session;
    return now == null ? List.of() : now.informers().informers();
  }

  @Override
  public @Nullable Revision find(RevisionId id) {
    return revisions.get(id);
  }

  /** Ends all watching; nothing is told after this. Idempotent. */
  @Override
  public void close() {
    var looking = podStatus;
    podStatus = null;
    if (looking != null) {
      looking.close();
    }
    var now = session;
    if (now != null) {
      now.close();
    }
  }

  private String uidOf(RevisionId id) {
    var revision = revisions.get(id);
    return revision == null ? "" : revision.uid();
  }

  private void revisionChanged(@Nullable Revision before, @Nullable Revision now) {
    boolean isAnother = now != null && (before == null || !before.uid().equals(now.uid()));
    if (before != null && (now == null || isAnother)) {
      // A recreated revision of the same name is another one.
      revisions.remove(before.id());
      onRevisionGone.tell(before.id(), before.id());
    }
    if (now != null) {
      revisions.put(now.id(), now);
      var listed = endpoints;
      if (isAnother && listed != null) {
        listed.recreated(now.id());
      }
      onRevision.tell(now.id(), now);
      if (isAnother && listed != null) {
        // They came before this revision was known, and do not come again by themselves.
        listed.repeatPublicAddresses(now.id());
      }
    }
  }

  private void serviceChanged(@Nullable ClusterIp before, @Nullable ClusterIp now) {
    if (before != null && (now == null || !now.revision().equals(before.revision()))) {
      onClusterIp.tell(before.revision(), new ClusterIp(before.revision(), null, null));
    }
    if (now != null) {
      onClusterIp.tell(now.revision(), now);
    }
  }

  /** Passes listings on to consumers. */
  private final class EndpointsForwarder implements EndpointsEvents.Listener {
    @Override
    public void pods(PodListing now) {
      onPods.tell(now.revision(), now);
    }

    @Override
    public void podsGone(RevisionId revision) {
      onPodsGone.tell(revision, revision);
    }

    @Override
    public void publicAddresses(PublicAddresses now) {
      onPublicAddresses.tell(now.revision(), now);
    }
  }
}
