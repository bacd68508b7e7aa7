package dev.activator.ext.warmup;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.backend.ProbeSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.discovery.RevisionChangePublisher;
import dev.activator.discovery.MergedEndpointsPublisher;
import dev.activator.kube.decode.ListWatchParser;
import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.Informer;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.policy.IpFamily;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.ThreadLoop;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.upstream.HttpProbeClient;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Performs cold starts of a made-up revision, one after the other, so that the path from an
 * Endpoints event to the first request is compiled before a caller waits for it. A pod on the
 * loopback interface is added and removed by events like those of the API server.
 *
 * <p><b>Errors.</b> Failures are ignored.
 */
public final class ColdStartWarmUp {
  private static final Logger log = LoggerFactory.getLogger(ColdStartWarmUp.class);
  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final Revision REVISION = Revision.of(JvmWarmUp.ID, 0);

  private final JvmWarmUp warmUp;
  private final LoopGroup loops;
  private final RandomGenerator random;
  private final JsonFactory json = new JsonFactory();
  private final ThreadLoop loop = new ThreadLoop("warm-up");
  private final Informer<ObjectDecodeResult<RevisionEndpointSlice>> informer = new Informer<>(
      "warm-up", loop, Duration.ZERO, KnativeKinds.ENDPOINTS::stored);
  private final CountDownLatch left;
  private int version;
  private @Nullable RevisionBackendsManager backends;

  public ColdStartWarmUp(EventLoopGroup group, LoopGroup loops, RandomGenerator random,
      int starts) {
    this.warmUp = new JvmWarmUp(group, loops, random, 0);
    this.loops = loops;
    this.random = random;
    this.left = new CountDownLatch(starts);
  }

  /** Blocks until all cold starts have ended, or until the timeout. Returns how many have ended. */
  public int run(Duration timeout) {
    long all = left.getCount();
    try {
      begin();
      var _ = left.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (IOException | RuntimeException e) {
      log.debug("No cold start could be tried", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      end();
    }
    int ended = (int) (all - left.getCount());
    log.debug("{} of {} warm-up cold starts have ended", ended, all);
    return ended;
  }

  private void begin() throws IOException {
    int pod = warmUp.pod();
    var upstreams = warmUp.upstreams();
    var revisions = new LiveRevisions(loops::loopFor);
    var watching = new RevisionBackendsManager(revisions, loops.loopFor("probes"),
        new HttpProbeClient(upstreams, ProbeSettings.DEFAULT.repeatsPerSecond()),
        ProbeSettings.DEFAULT, random);
    backends = watching;
    var throttler = new Throttler(revisions, JvmWarmUp.LOOPBACK, ThrottlerOptions.of(1), random);
    watching.healthy().subscribe("throttler", throttler::onDestinations);
    var pods = new RevisionChangePublisher<PrivateEndpoints>("pods");
    pods.changes().subscribe("warm-up", watching::listed);
    var events = new MergedEndpointsPublisher(informer.store(), IpFamily.IPV4, _ -> "", pods,
        new RevisionChangePublisher<>("public Endpoints"));
    informer.addHandler(new DecodedObjectHandler<>(KnativeKinds.ENDPOINTS, events, loop::nanoTime),
        InformerHandlerOptions.on(loop, "warm-up"));
    var revision = revisions.update(REVISION);
    throttler.onRevision(revision);
    watching.revision(revision);
    informer.start();
    var client = new JvmWarmUp.Client(() -> {
      onLoop(() -> list(""));
      return false;
    });
    watching.healthy().subscribe("warm-up", now -> scaledToZero(now, client));
    warmUp.connect(warmUp.proxy(revisions, upstreams, (_, caller) -> {
      var admission = throttler.admit(revision, caller);
      onLoop(() -> list("'addresses': [{'ip': '127.0.0.1', 'nodeName': 'node', 'targetRef': "
          + "{'kind': 'Pod', 'name': 'pod', 'uid': 'uid'}}], 'ports': [{'name': 'http', 'port': "
          + pod + ", 'protocol': 'TCP'}]"));
      return admission;
    }), client);
  }

  /** Stops the watchers before the connections, because watchers send probes over them. */
  private void end() {
    informer.close();
    loop.close();
    var watching = backends;
    if (watching != null) {
      var _ = watching.stop();
    }
    warmUp.end();
  }

  /**
   * Ignores the rejection of a task after the end; it would be logged as a failed admission. Loops
   * reject such tasks, because otherwise their callers might wait for ever.
   */
  private void onLoop(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      log.debug("A warm-up cold start is cancelled, as the process ends");
    }
  }

  private void scaledToZero(HealthyDestinations now, JvmWarmUp.Client client) {
    if (now.pods().isEmpty()) {
      left.countDown();
      if (left.getCount() > 0) {
        // The pause leaves most of the processor to real requests. It also lets the throttler's
        // task run first.
        loops.loopFor(JvmWarmUp.ID).schedule(PAUSE, client::send);
      }
    }
  }

  /** Lists the addresses as a watch event in JSON, like a line from the API server. */
  private void list(String subset) {
    version++;
    var line = """
        {'type': 'MODIFIED', 'object': {'kind': 'Endpoints', 'apiVersion': 'v1', 'metadata': {
          'name': 'warm-up-private', 'namespace': 'activator', 'uid': 'uid',
          'resourceVersion': '%d', 'creationTimestamp': '2026-01-01T00:00:00Z', 'labels': {
            'networking.internal.knative.dev/serviceType': 'Private',
            'serving.knative.dev/revision': 'warm-up', 'serving.knative.dev/revisionUID': 'uid'},
          'managedFields': [{'manager': 'controller', 'operation': 'Update', 'fieldsV1': {
            'f:metadata': {'f:labels': {'.': {}}}, 'f:subsets': {}}}]},
         'subsets': [{%s}]}}""".formatted(version, subset).replace('\'', '"')
        .getBytes(StandardCharsets.UTF_8);
    if (ListWatchParser.event(KnativeKinds.ENDPOINTS,
        () -> json.createParser(ObjectReadContext.empty(),
            line)) instanceof WatchEvent.Put<ObjectDecodeResult<RevisionEndpointSlice>>(var now)) {
      informer.sink().put(now);
    }
  }
}
