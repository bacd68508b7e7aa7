package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.Rig;
import dev.activator.revision.LiveRevisions;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.policy.IpFamily;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.loop.ThreadLoop;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** What happens to a pod while the handler of Endpoints is busy, from the API to its watcher. */
class MissedChangesTest {
  private static final RevisionId REVISION = new RevisionId("default", "rev");
  private static final String READY = "{'addresses': [%s], 'ports': [%s]}".formatted(
      "{'ip': '10.0.0.1', 'targetRef': {'kind': 'Pod', 'uid': 'u1'}}",
      "{'name': 'http', 'port': 8012}");
  private static final String NOT_READY = READY.replace("addresses", "notReadyAddresses");

  private final Rig rig = new Rig().start();
  private final ThreadLoop handlers = new ThreadLoop("test handlers");
  private final ThreadLoop revisions = new ThreadLoop("test revisions");
  private final AtomicInteger probes = new AtomicInteger();
  private final List<String> published = new CopyOnWriteArrayList<>();
  /** A pod that answers its first probe and no other. */
  private final LiveRevisions live = new LiveRevisions(_ -> revisions);
  private final RevisionBackendsManager backends = Make.backends(live, revisions,
      (loop, _, done) -> {
        var answer = new ProbeResult.Answered(probes.getAndIncrement() == 0 ? 200 : 500, "queue");
        loop.execute(() -> done.accept(answer));
      });

  @AfterEach
  void close() {
    backends.stop().join();
    handlers.close();
    revisions.close();
    rig.close();
  }

  private static ObjectNode endpoints(String subsets) {
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints', 'metadata': {'namespace': 'default',
         'name': 'rev-private', 'labels': {'serving.knative.dev/revision': 'rev',
         'serving.knative.dev/revisionUID': 'u',
         'networking.internal.knative.dev/serviceType': 'Private'}}, 'subsets': [%s]}
        """.formatted(subsets));
  }

  @ParameterizedTest(name = "ready, then [{0}], then ready")
  @ValueSource(strings = {"not ready", "", "deleted"})
  void aPodThatWasNotReadyBetweenTwoEventsIsProbedBeforeItGetsMoreRequests(String between) {
    // given a pod that answered its probe, and serves
    var store = rig.lease().informer().store();
    var pods = new RevisionChangePublisher<PrivateEndpoints>("pods");
    pods.changes().subscribe("test", backends::listed);
    pods.ends().subscribe("test", last -> backends.podsGone(last.revision()));
    rig.lease().informer().addHandler(
        new DecodedObjectHandler<>(KnativeKinds.ENDPOINTS,
            new MergedEndpointsPublisher(store, IpFamily.IPV4, _ -> "", pods,
                new RevisionChangePublisher<>("public Endpoints")),
            handlers::nanoTime),
        InformerHandlerOptions.on(handlers, "pods"));
    backends.healthy().subscribe("test", now -> published.add(now.pods().toString()));
    backends.revision(live.update(Revision.of(REVISION, 0)));
    rig.api.store().create(BuiltInKinds.ENDPOINTS, endpoints(READY));
    await()
        .untilAsserted(() -> assertThat(published).containsExactly("[10.0.0.1:8012]"));

    // when it falls from ready and comes back before the handler is told of either
    var busy = new CountDownLatch(1);
    handlers.execute(() -> awaitUninterrupted(busy));
    if (between.equals("deleted")) {
      rig.api.store().delete(BuiltInKinds.ENDPOINTS, "default", "rev-private");
      rig.api.store().create(BuiltInKinds.ENDPOINTS, endpoints(READY));
    } else {
      rig.api.store().writes().update(BuiltInKinds.ENDPOINTS,
          endpoints(between.isEmpty() ? "" : NOT_READY));
      rig.api.store().writes().update(BuiltInKinds.ENDPOINTS, endpoints(READY));
    }
    rig.converges();
    busy.countDown();

    // then it is probed once more, and serves no longer as it does not answer
    await()
        .untilAsserted(() -> assertThat(published).containsExactly("[10.0.0.1:8012]", "[]"));
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
