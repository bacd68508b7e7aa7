package dev.activator.cluster;

import dev.activator.cluster.policy.KubernetesVersion;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.PodListing;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.Revisions;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The revisions of a cluster, their pods and their Services, as the Kubernetes API tells of them.
 * Consumers are registered before the start; then each is told of what there is, and of every
 * change.
 *
 * <p>
 * <b>Threads.</b> What is said of a revision by one kind of object comes in order, one at a time, on
 * a thread of the client library; a consumer should only pass it on. Lookups never wait.
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
  private final Supplier<ClusterAccess> access;
  private final KubernetesVersion minimum;
  private final Duration patience;
  private final RandomGenerator random;
  private final Map<RevisionId, Revision> revisions = new ConcurrentHashMap<>();
  private final List<Consumer<Revision>> onRevision = new CopyOnWriteArrayList<>();
  private final List<Consumer<RevisionId>> onRevisionGone = new CopyOnWriteArrayList<>();
  private final List<Consumer<PodListing>> onPods = new CopyOnWriteArrayList<>();
  private final List<Consumer<RevisionId>> onPodsGone = new CopyOnWriteArrayList<>();
  private final List<Consumer<PublicAddresses>> onPublicAddresses = new CopyOnWriteArrayList<>();
  private final List<Consumer<ClusterIp>> onClusterIp = new CopyOnWriteArrayList<>();
  private volatile @Nullable Running running;

  /** What there is between start and close. */
  private record Running(KubernetesClient client, List<Feed<?, ?>> feeds) {
    void close() {
      feeds.forEach(Feed::close);
      client.close();
    }
  }

  /**
   * Nothing is connected yet.
   *
   * @param access asked at the start, when a port that was free before is known
   * @param minimum the oldest API server to work with
   * @param patience how long one that does not answer is waited for at the start
   * @param random spreads the reconnects of many activators
   */
  public Cluster(Supplier<ClusterAccess> access, KubernetesVersion minimum, Duration patience,
      RandomGenerator random) {
    this.access = access;
    this.minimum = minimum;
    this.patience = patience;
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

  /**
   * Connects, and returns once everything there is has been told. After a failure all is closed.
   *
   * @throws ClusterUnavailableException if the API cannot be used, after the patience is over, or if
   *     the access is not configured
   * @throws InterruptedException if the thread is interrupted meanwhile
   */
  public void start() throws InterruptedException {
    var client = Connection.open(access.get(), random);
    var url = client.getMasterUrl().toString();
    var feeds = feeds(client, new Complaints(url));
    running = new Running(client, feeds);
    boolean started = false;
    try {
      new Startup(url, () -> Connection.problem(client, minimum), feeds, patience).run();
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  private List<Feed<?, ?>> feeds(KubernetesClient client, Complaints complaints) {
    var revisionObjects = client.resources(Items.OfRevision.class, Items.RevisionList.class)
        .inAnyNamespace();
    var endpoints = client.resources(Items.OfEndpoints.class, Items.EndpointsList.class)
        .inAnyNamespace().withLabelIn(Labels.SERVICE_TYPE, Labels.PRIVATE, Labels.PUBLIC);
    var services = client.resources(Items.OfService.class, Items.ServiceList.class)
        .inAnyNamespace().withLabel(Labels.SERVICE_TYPE, Labels.PRIVATE);
    return List.of(new Feed<>("revisions", revisionObjects, complaints, this::revisionChanged),
        new Feed<>("endpoints", endpoints, complaints, this::addressesChanged),
        new Feed<>("services", services, complaints, this::serviceChanged));
  }

  /** Whether everything there was at the start has been told. */
  public boolean synced() {
    var now = running;
    return now != null && now.feeds().stream().allMatch(feed -> feed.listed().isDone());
  }

  @Override
  public @Nullable Revision find(RevisionId id) {
    return revisions.get(id);
  }

  /** Ends all watching. */
  @Override
  public void close() {
    var now = running;
    if (now != null) {
      now.close();
    }
  }

  private void revisionChanged(@Nullable Revision before, @Nullable Revision now) {
    if (now != null) {
      revisions.put(now.id(), now);
      tell(onRevision, now);
    } else if (before != null) {
      revisions.remove(before.id());
      tell(onRevisionGone, before.id());
    }
  }

  private void addressesChanged(@Nullable Addresses before, @Nullable Addresses now) {
    if (before != null && !saysTheSameOf(before, now)) {
      takeBack(before);
    }
    switch (now) {
      case Addresses.OfPods(var pods) -> tell(onPods, pods);
      case Addresses.OfActivators(var addresses) -> tell(onPublicAddresses, addresses);
      case null -> {
        // it was taken back above
      }
    }
  }

  /** Whether what is said now replaces what was said before: labels can be changed, too. */
  private static boolean saysTheSameOf(Addresses before, @Nullable Addresses now) {
    return now != null && now.getClass() == before.getClass()
        && now.revision().equals(before.revision());
  }

  private void takeBack(Addresses before) {
    switch (before) {
      case Addresses.OfPods(var pods) -> tell(onPodsGone, pods.revision());
      case Addresses.OfActivators(var addresses) -> tell(onPublicAddresses,
          new PublicAddresses(addresses.revision(), List.of(), List.of()));
    }
  }

  private void serviceChanged(@Nullable ClusterIp before, @Nullable ClusterIp now) {
    if (before != null && (now == null || !now.revision().equals(before.revision()))) {
      tell(onClusterIp, new ClusterIp(before.revision(), null, null));
    }
    if (now != null) {
      tell(onClusterIp, now);
    }
  }

  private static <T> void tell(List<Consumer<T>> consumers, T news) {
    consumers.forEach(consumer -> consumer.accept(news));
  }
}
