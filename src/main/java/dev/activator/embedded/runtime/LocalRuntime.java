package dev.activator.embedded.runtime;

import dev.activator.autoscaler.policy.ScalingLimits;
import dev.activator.embedded.LoopbackPorts;
import dev.activator.embedded.Sockets;
import dev.activator.embedded.api.store.ApiStore.Subscription;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.runtime.serving.LatestRevisions;
import dev.activator.embedded.runtime.serving.Names;
import dev.activator.embedded.runtime.serving.ServingController;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs Services as local processes: watches the API, makes revisions, starts and stops pods.
 *
 * <p>
 * <b>Threads.</b> Public methods may be called from any thread. All decisions are made on one loop;
 * each pod's sidecar has one of its own.
 *
 * <p>
 * <b>Errors.</b> A Service that cannot run here is refused when it is applied.
 */
public final class LocalRuntime {
  private static final Logger log = LoggerFactory.getLogger(LocalRuntime.class);
  private static final String ADDRESS = "127.0.0.1";
  private static final Duration STOP_LIMIT = Duration.ofSeconds(10);
  private static final Duration KILL_LIMIT = Duration.ofSeconds(3);
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final ApiStore store;
  private final Loop loop;
  private final Objects objects;
  private final RevisionLimits limits;
  private final ServingController serving;
  private final Kubelet kubelet;
  private final SliceMirror slices;
  private final List<Subscription> subscriptions = new ArrayList<>();

  public LocalRuntime(ApiStore store, Sockets sockets, RuntimeSettings settings) {
    this.store = store;
    this.loop = new NettyLoop(sockets.loops().next());
    this.objects = new Objects(store);
    this.slices = new SliceMirror(objects);
    this.limits = new RevisionLimits(settings.maxPods());
    this.serving = new ServingController(store, loop, ADDRESS);
    this.kubelet = new Kubelet(store, new PodFactory(loop, sockets, settings.random(),
        new LoopbackPorts(settings.random())), settings.clock());
  }

  /**
   * Begins to act on what is in the API, and adds the sample.
   *
   * @param requestPort where the activator takes HTTP/1.1
   */
  public void start(int requestPort) {
    subscriptions.add(store.subscribe(Kinds.REVISION, loop, event -> readLimits()));
    subscriptions.add(store.subscribe(Kinds.DEPLOYMENT, loop, kubelet::deploymentChanged));
    subscriptions.add(store.subscribe(Kinds.POD, loop, kubelet::podChanged));
    subscriptions.add(store.subscribe(Kinds.ENDPOINTS, loop, slices::endpointsChanged));
    serving.start(requestPort);
    serving.createSample("default", "hello");
  }

  /** Ends every pod, waits until all processes are gone, and kills those that stay. */
  public void stop() {
    serving.stop();
    subscriptions.forEach(Subscription::close);
    loop.execute(kubelet::stop);
    if (!awaitNoPods(STOP_LIMIT)) {
      log.warn("Some processes did not end in {} s and are killed", STOP_LIMIT.toSeconds());
      loop.execute(kubelet::kill);
      awaitNoPods(KILL_LIMIT);
    }
  }

  /** The revision should have this many pods; one that is gone is ignored. */
  public void scale(RevisionId revision, int pods) {
    loop.execute(() -> {
      String name = Names.deployment(revision.name());
      var deployment = store.find(Kinds.DEPLOYMENT, revision.namespace(), name);
      if (deployment != null && deployment.path("spec").path("replicas").intValue(0) != pods) {
        objects.edit(Kinds.DEPLOYMENT, revision.namespace(), name, found -> {
          ((ObjectNode) found.path("spec")).put("replicas", pods);
          return found;
        });
      }
    });
  }

  /** Which revision takes the requests of a Service. */
  public LatestRevisions latestRevisions() {
    return serving.latest();
  }

  /** Every revision, with what it asks of its autoscaler, at this moment. */
  public Map<RevisionId, ScalingLimits> scalingLimits() {
    return limits.all();
  }

  private void readLimits() {
    limits.replace(store.list(Kinds.REVISION));
  }

  private boolean awaitNoPods(Duration limit) {
    var none = new CompletableFuture<Boolean>();
    loop.execute(() -> lookForPods(none));
    try {
      return none.get(limit.toMillis(), TimeUnit.MILLISECONDS);
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

  private void lookForPods(CompletableFuture<Boolean> none) {
    if (kubelet.isEmpty()) {
      none.complete(true);
    } else if (!none.isDone()) {
      loop.schedule(PAUSE, () -> lookForPods(none));
    }
  }
}
