package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.loop.Loop;
import dev.activator.revision.PodFreezer;
import dev.activator.revision.Destination;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the Services and Deployments of embedded mode as local processes. It consists of the
 * controllers and the kubelet.
 *
 * <p><b>Threads.</b> Any thread may call. Controllers run on one loop.
 */
public final class LocalRuntime implements PodFreezer {
  private static final Logger log = LoggerFactory.getLogger(LocalRuntime.class);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final ApiStore store;
  private final Loop loop;
  private final ServingController serving;
  private final RandomGenerator random;
  private final DeploymentController deployments;
  private final Kubelet kubelet;
  private final EndpointSliceMirroringController slices;
  private final List<StoreSubscription> subscriptions = new ArrayList<>();
  private volatile CompletableFuture<Void> sampleRouted = new CompletableFuture<>();

  /**
   * The dependencies on the rest of the activator.
   *
   * @param logsOutput whether the output of processes is logged
   * @param routable whether requests can be routed to the revision with this id and uid
   * @param sends whether the activator sends requests to a pod; called on any thread, like
   *     {@code inFlight}
   * @param inFlight the number of requests in flight on a pod
   */
  public record Dependencies(Clock clock, RandomGenerator random, boolean logsOutput,
      BiPredicate<RevisionId, String> routable, Predicate<Destination> sends,
      ToIntFunction<Destination> inFlight) {}

  public LocalRuntime(ApiStore store, Loop given, Dependencies dependencies) {
    this.store = store;
    this.loop = new LoopUntilEnd(given);
    this.slices = new EndpointSliceMirroringController(new ControllerWrites(store));
    this.serving = new ServingController(store, loop, PodObjectBuilder.LOOPBACK,
        dependencies.routable());
    this.random = dependencies.random();
    this.deployments = new DeploymentController(store, loop);
    this.kubelet = new Kubelet(store, loop, new LoopbackPorts(dependencies.random()), dependencies);
  }

  /** @param requestPort the activator's port for HTTP/1.1 */
  public void start(int requestPort) {
    Thread.startVirtualThread(() -> PodProcessFinder.endLeftovers(loop));
    // The garbage collector is started first, so that the dependents of a deleted object are
    // deleted before controllers create new ones.
    subscriptions.add(new GarbageCollector(store, loop).start());
    subscriptions.addAll(new EmbeddedEventRecorder(store, loop).subscribe());
    // A ReplicaSet that has changed starts its pods before its Deployment gets another status.
    subscriptions.addAll(kubelet.subscribe());
    subscriptions.addAll(deployments.subscribe());
    subscriptions.add(store.subscribe(BuiltInKinds.ENDPOINTS, loop, slices::endpointsChanged));
    subscriptions.add(store.subscribe(BuiltInKinds.ENDPOINT_SLICE, loop, slices::sliceChanged));
    serving.start(requestPort);
    sampleRouted = serving.createSample("default", "hello");
  }

  /** Completes when requests to the sample can be routed. Call after {@link #start}. */
  public CompletableFuture<Void> sampleRouted() {
    return sampleRouted;
  }

  /** The activator can route requests to this revision. */
  public void routable(RevisionId revision) {
    loop.execute(() -> serving.routable(revision));
  }

  /** Stops all processes. Blocks, and kills processes that do not end in time. */
  public void stop() {
    serving.stop();
    subscriptions.forEach(StoreSubscription::close);
    loop.execute(kubelet::stop);
    if (!awaitNoPods(STOP_TIMEOUT)) {
      log.warn("Some processes did not end in {} s and are killed", STOP_TIMEOUT.toSeconds());
      loop.execute(kubelet::kill);
      awaitNoPods(KILL_TIMEOUT);
    }
  }

  /**
   * Chooses the revision for one request; null if there is no such host.
   *
   * @param host the name of a Service, or {@code <tag>-<service>}
   */
  public @Nullable RevisionId revision(String namespace, String host) {
    var split = serving.split(namespace, host);
    return split == null ? null : split.choose(random::nextInt);
  }

  @Override
  public CompletableFuture<String> freeze(Collection<Destination> pods) {
    return CompletableFuture.supplyAsync(() -> kubelet.freeze(pods), loop);
  }

  @Override
  public CompletableFuture<Void> thaw(Collection<Destination> pods) {
    return CompletableFuture.runAsync(() -> kubelet.thaw(pods), loop);
  }

  /** The problems of the processes of this revision, or of the Deployment with this name. */
  public LocalProcessProblems processes(RevisionId workload) {
    return kubelet.processes(workload);
  }

  /** The hosts of Services and of their tags. */
  public Set<RevisionId> hosts() {
    return serving.hosts();
  }

  private boolean awaitNoPods(Duration timeout) {
    var none = new CompletableFuture<Boolean>();
    loop.execute(() -> completeWithoutPods(none));
    try {
      return none.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      none.cancel(false);
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  private void completeWithoutPods(CompletableFuture<Boolean> none) {
    if (kubelet.isEmpty()) {
      none.complete(true);
    } else if (!none.isDone()) {
      loop.schedule(PAUSE, () -> completeWithoutPods(none));
    }
  }
}
