package dev.activator.cluster;

import dev.activator.cluster.decode.Items;
import dev.activator.cluster.decode.Labels;
import dev.activator.cluster.endpoints.AddressSource;
import dev.activator.cluster.endpoints.EndpointSliceAggregator;
import dev.activator.cluster.endpoints.EndpointsEvents;
import dev.activator.cluster.informer.InformerView;
import dev.activator.cluster.podstatus.ClusterPods;
import dev.activator.cluster.podstatus.PodStatusWatcher;
import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.cluster.policy.PodFailures.Patience;
import dev.activator.cluster.reflector.ApiErrors;
import dev.activator.cluster.reflector.Query;
import dev.activator.cluster.reflector.ReflectorSettings;
import dev.activator.cluster.reflector.ReflectorView;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.PodListing;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import dev.activator.revision.StartTrouble;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The revisions of a cluster, their pods and their Services, as the Kubernetes API tells of them.
 * Consumers are registered before the start; then each is told of what there is, and of every
 * change.
 *
 * <p>
 * <b>Threads.</b> Consumers are called one at a time, in order, on a thread that does nothing else. A
 * slow one holds up the others, but nothing behind them: what changes meanwhile becomes one change.
 * Lookups never wait.
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
  private static final Query<Items.OfRevision, Items.RevisionList> REVISIONS = Query
      .everywhere(Items.OfRevision.class, Items.RevisionList.class, "revisions", "");
  private static final Query<Items.OfService, Items.ServiceList> SERVICES = Query.everywhere(
      Items.OfService.class, Items.ServiceList.class, "services",
      Labels.SERVICE_TYPE + "=" + Labels.PRIVATE);

  private static final String OF_REVISIONS = Labels.SERVICE_TYPE + " in (" + Labels.PRIVATE + ","
      + Labels.PUBLIC + ")";
  private static final Query<Items.OfEndpoints, Items.EndpointsList> ENDPOINTS = Query
      .everywhere(Items.OfEndpoints.class, Items.EndpointsList.class, "endpoints", OF_REVISIONS);
  private static final Query<Items.OfEndpointSlice, Items.EndpointSliceList> SLICES = Query
      .everywhere(Items.OfEndpointSlice.class, Items.EndpointSliceList.class, "endpointslices",
          OF_REVISIONS);
  private static final Logger log = LoggerFactory.getLogger(Cluster.class);

  private final Supplier<ClusterAccess> access;
  private final KubernetesVersion minimum;
  private final Duration patience;
  private final ReflectorSettings settings;
  private final RandomGenerator random;
  private final Map<RevisionId, Revision> revisions = new ConcurrentHashMap<>();
  private final Listeners<Revision> onRevision = new Listeners<>("Revision");
  private final Listeners<RevisionId> onRevisionGone = new Listeners<>("deletion");
  private final EndpointsEvents addresses = new EndpointsEvents();
  private final AddressSource from;
  private final EndpointSliceAggregator slices;
  /** Whether addresses are read from EndpointSlices; null until that is known. */
  private volatile @Nullable Boolean readsSlices;
  private final Listeners<ClusterIp> onClusterIp = new Listeners<>("private Service");
  private final ConfigMaps configMaps = new ConfigMaps();
  private final Listeners<StartTrouble> onStartTrouble = new Listeners<>("pods that do not start");
  private volatile Patience patienceWithPods = Patience.DEFAULT;
  private volatile @Nullable KubernetesSession lookout;
  private volatile @Nullable PodStatusWatcher ward;

  /**
   * Nothing is connected yet.
   *
   * @param access asked at the start, when a port that was free before is known
   * @param minimum the oldest API server to work with
   * @param patience how long one that does not answer is waited for at the start
   * @param settings how closely lists and watches are looked after
   * @param random spreads the reconnects of many activators
   */
  public Cluster(Supplier<ClusterAccess> access, KubernetesVersion minimum, Duration patience,
      ReflectorSettings settings, RandomGenerator random) {
    this(access, minimum, patience, settings, random, AddressSource.DEFAULT);
  }

  /** The same, with a say in where addresses come from. */
  public Cluster(Supplier<ClusterAccess> access, KubernetesVersion minimum, Duration patience,
      ReflectorSettings settings, RandomGenerator random, AddressSource from) {
    this.from = from;
    this.slices = new EndpointSliceAggregator(from.preferred(), this::uidOf, addresses::changed);
    this.access = access;
    this.minimum = minimum;
    this.patience = patience;
    this.settings = settings;
    this.random = random;
  }

  /** A revision exists, or has changed. */
  public void onRevision(Consumer<Revision> consumer) {
    onRevision.add(consumer);
  }

  /** A revision is deleted. */
  public void onRevisionGone(Consumer<RevisionId> consumer) {
    onRevisionGone.add(consumer);
  }

  /** Kubernetes lists these pods of a revision now. */
  public void onPods(Consumer<PodListing> consumer) {
    addresses.onPods(consumer);
  }

  /** The Endpoints of a revision's pods are deleted. */
  public void onPodsGone(Consumer<RevisionId> consumer) {
    addresses.onPodsGone(consumer);
  }

  /** A revision's public Endpoints hold these addresses now; none when they are deleted. */
  public void onPublicAddresses(Consumer<PublicAddresses> consumer) {
    addresses.onPublicAddresses(consumer);
  }

  /** A revision's private Service has this address now; none when it is deleted. */
  public void onClusterIp(Consumer<ClusterIp> consumer) {
    onClusterIp.add(consumer);
  }

  /** What a ConfigMap says; it must exist at the start, and is told before all else. */
  public void onConfigMap(String namespace, String name, Consumer<Map<String, String>> consumer) {
    configMaps.want(namespace, name, consumer);
  }

  /** The pods of a revision that is waited for will not start as things are, or that is not so. */
  public void onStartTrouble(Consumer<StartTrouble> consumer) {
    onStartTrouble.add(consumer);
  }

  /** How long pods that no node takes are waited out before that is told; before the start. */
  public void waitOutUnschedulable(Duration length) {
    patienceWithPods = new Patience(Patience.DEFAULT.passing(), length);
  }

  /**
   * Connects, and returns once everything there is has been told. After a failure all is closed.
   *
   * @throws ClusterUnavailableException if the API cannot be used, after the patience is over, or if
   *     the access is not configured
   * @throws InterruptedException if the thread is interrupted meanwhile
   */
  public void start() throws InterruptedException {
    var now = KubernetesSession.open(access.get(), settings, random);
    lookout = now;
    boolean started = false;
    try {
      new Startup(now.url(), () -> problem(now), () -> configMaps.follow(now), patience).run();
      configMaps.requireAll();
      new Startup(now.url(), () -> null, () -> follow(now), patience).run();
      ward = new PodStatusWatcher(now.telling(), new ClusterPods(now), patienceWithPods,
          trouble -> onStartTrouble.tell(trouble.revision(), trouble));
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  private @Nullable String problem(KubernetesSession now) {
    var problem = Connection.problem(now.client(), minimum);
    return problem == null ? sourceProblem(now) : problem;
  }

  /** Decides once, by rights alone. */
  private @Nullable String sourceProblem(KubernetesSession now) {
    try {
      if (readsSlices == null) {
        readsSlices = switch (from.source()) {
          case ENDPOINTSLICES -> true;
          case ENDPOINTS -> false;
          case AUTO -> maySeeSlices(now);
        };
      }
      return null;
    } catch (KubernetesClientException failure) {
      return new ApiErrors(now.url()).about("list", "endpointslices", failure);
    }
  }

  private static boolean maySeeSlices(KubernetesSession now) {
    var found = AccessCheck.of(now.client(), SLICES);
    log.info("Pods are read from {}", switch (found) {
      case ALLOWED -> "EndpointSlices";
      case FORBIDDEN -> "Endpoints: we may not list endpointslices (403)";
      case NOT_SERVED -> "Endpoints: the API does not serve discovery.k8s.io/v1";
    });
    return found == AccessCheck.Found.ALLOWED;
  }

  private KubernetesSession.Followed followAddresses(KubernetesSession now) {
    return Boolean.TRUE.equals(readsSlices)
        ? now.follow(SLICES, slices)
        : now.follow(ENDPOINTS, addresses::changed);
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
    var now = lookout;
    if (now == null) {
      throw new IllegalStateException("not started");
    }
    var certificates = new Certificates(namespace, listener);
    new Startup(now.url(), () -> null, () -> certificates.follow(now), patience).run();
    certificates.requireSecret();
  }

  private List<KubernetesSession.Followed> follow(KubernetesSession now) {
    return List.of(now.follow(REVISIONS, this::revisionChanged), followAddresses(now),
        now.follow(SERVICES, this::serviceChanged));
  }

  /**
   * Requests have waited for this revision for a second or so, and nothing takes them: for the next
   * seconds its pods are looked at. To be said again for as long as that is so.
   */
  public void waitedFor(RevisionId revision) {
    var now = ward;
    if (now != null) {
      now.waitedFor(revision);
    }
  }

  /** Whether everything there was at the start has been told. */
  public boolean synced() {
    var now = lookout;
    return now != null && now.synced();
  }

  /** How each list and watch is doing; none before the start. */
  public List<ReflectorView> reflectors() {
    var now = lookout;
    return now == null ? List.of() : now.informers().reflectors();
  }

  /** What is stored and who is told, a line a kind; none before the start. */
  public List<InformerView> informers() {
    var now = lookout;
    return now == null ? List.of() : now.informers().informers();
  }

  @Override
  public @Nullable Revision find(RevisionId id) {
    return revisions.get(id);
  }

  /** Ends all watching; nothing is told after this. Twice is once. */
  @Override
  public void close() {
    var looking = ward;
    ward = null;
    if (looking != null) {
      looking.close();
    }
    var now = lookout;
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
      // One that was made anew under the same name is another one.
      revisions.remove(before.id());
      onRevisionGone.tell(before.id(), before.id());
    }
    if (now != null) {
      revisions.put(now.id(), now);
      if (isAnother) {
        slices.madeAnew(now.id());
      }
      onRevision.tell(now.id(), now);
      if (isAnother) {
        // They were told first, or of the one before, and are not told again by themselves.
        addresses.repeatActivators(now.id());
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
}
