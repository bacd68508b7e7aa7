package dev.activator.ext.podstarts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.testing.LogLines;
import dev.activator.kube.ClusterAccess;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Lifetime;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Pods that do not start, over real HTTP. */
class ContainerFailureTest {
  private static final RevisionId REVISION = new RevisionId("failing", "rev");
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ClusterWatcher cluster = Make
      .cluster(() -> new ClusterAccess.At(URI.create(api.url())), PATIENCE);
  private PodStartWatch pods = new PodStartWatch(cluster, Duration.ofMinutes(1));
  private final List<ContainerFailure> received = new CopyOnWriteArrayList<>();

  @BeforeEach
  void exists() {
    cluster.live().update(Revision.of(REVISION, 1));
  }

  private void start() throws InterruptedException {
    cluster.start();
    pods.start();
  }

  @AfterEach
  void close() {
    pods.close();
    cluster.close();
    api.faults().heal();
    api.close();
  }

  private static ObjectNode pod(String waiting) {
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'failing', 'name': 'rev-pod',
         'labels': {'serving.knative.dev/revision': 'rev'}}, 'spec': {'containers': []},
         'status': {'phase': 'Pending', 'containerStatuses': [{'name': 'user-container',
         'restartCount': 3, 'state': {'waiting': {'reason': '%s', 'message': 'why'}}}]}}
        """.formatted(waiting));
  }

  private static ObjectNode unscheduled() {
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'failing', 'name': 'rev-pod',
         'labels': {'serving.knative.dev/revision': 'rev'}}, 'spec': {'containers': []},
         'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled',
         'status': 'False', 'reason': 'Unschedulable', 'message': '0/3 nodes'}]}}
        """);
  }

  private static String reason(ContainerFailure news) {
    return news.failure() == null ? "may start" : news.failure().reason();
  }

  /** Says that requests wait until that is heard. */
  private void hears(String expected) {
    await().until(() -> {
      pods.onRequestWaits(REVISION);
      return !received.isEmpty() && reason(received.getLast()).equals(expected);
    });
  }

  @Test
  void reportsPodsThatDoNotStartWhileTheyAreWaitedFor() throws Exception {
    cluster.podStarts().failures().subscribe("test", received::add);
    start();
    api.store().create(BuiltInKinds.POD, pod("CrashLoopBackOff"));
    api.store().writes().replaceStatus(BuiltInKinds.POD, pod("CrashLoopBackOff"));

    hears("CrashLoopBackOff");
    assertThat(received.getLast().failure().message()).isEqualTo("container user-container: why");

    api.store().writes().replaceStatus(BuiltInKinds.POD, pod("ContainerCreating"));
    hears("may start");
  }

  @Test
  void reportsHowFarPodsAre_whileTheyAreWaitedFor() throws Exception {
    var progress = new CopyOnWriteArrayList<RevisionStartProgress>();
    cluster.podStarts().progress().subscribe("test", progress::add);
    start();
    api.store().create(BuiltInKinds.POD, pod("ImagePullBackOff"));
    api.store().writes().replaceStatus(BuiltInKinds.POD, pod("ImagePullBackOff"));

    await().until(() -> {
      pods.onRequestWaits(REVISION);
      return !progress.isEmpty() && progress.getLast().reason().equals("ImagePullBackOff");
    });
    assertThat(progress.getFirst()).isEqualTo(RevisionStartProgress.none(REVISION));
    assertThat(progress.getLast().pod()).isEqualTo("rev-pod");
    assertThat(progress.getLast().ends()).containsOnlyKeys(StartPhase.CREATE);
  }

  @Test
  void waitsForANodeAsLongAsConfigured() throws Exception {
    // given a patience that is over at once, in the place of a minute's
    pods = new PodStartWatch(cluster, Duration.ofMillis(1));
    cluster.podStarts().failures().subscribe("test", received::add);
    start();
    var pod = unscheduled();
    api.store().create(BuiltInKinds.POD, pod);
    api.store().writes().replaceStatus(BuiltInKinds.POD, pod);

    await().until(() -> {
      pods.onRequestWaits(REVISION);
      return received.stream().anyMatch(news -> reason(news).equals("Unschedulable"));
    });
  }

  @Test
  void reportsTheEventThatNoNodeIsAdded() throws Exception {
    readsEvents();
  }

  /** As by a server that has not read all roles yet. */
  @Test
  void readsEvents_thoughTheyAreRefusedOnce() throws Exception {
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.EVENT), Fault.Answer.status(403),
        new Lifetime.Times(1));

    readsEvents();
  }

  private void readsEvents() throws Exception {
    cluster.podStarts().failures().subscribe("test", received::add);
    start();
    api.store().create(BuiltInKinds.POD, unscheduled());
    var uid = api.store().writes().replaceStatus(BuiltInKinds.POD, unscheduled())
        .at("/metadata/uid").asString();
    api.store().create(BuiltInKinds.EVENT,
        Objects.parse(
            """
                {'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'namespace': 'failing', 'name': 'rev-pod.1'},
                 'involvedObject': {'kind': 'Pod', 'namespace': 'failing', 'name': 'rev-pod', 'uid': '%s'},
                 'reason': 'NotTriggerScaleUp', 'message': 'max total nodes in cluster reached',
                 'source': {'component': 'cluster-autoscaler'}}
                """
                .formatted(uid)));

    hears("NotTriggerScaleUp");
    assertThat(received.getLast().failure().message())
        .isEqualTo("max total nodes in cluster reached");
  }

  @Test
  void goesOnWithoutWherePodsMayNotBeListed() throws Exception {
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.POD), Fault.Answer.status(403));
    cluster.podStarts().failures().subscribe("test", received::add);
    try (var log = LogLines.of(AccessPauses.class)) {
      start();
      api.store().create(BuiltInKinds.POD, pod("CrashLoopBackOff"));

      await().until(() -> {
        pods.onRequestWaits(REVISION);
        return !ofThisNamespace(log).isEmpty();
      });
      pods.onRequestWaits(REVISION);
      pods.onRequestWaits(new RevisionId("failing", "other"));

      assertThat(ofThisNamespace(log))
          .containsExactly("INFO The Kubernetes API does not allow the activator to"
              + " list pods -n failing (403). Only the status of a Revision shows why its pods do not"
              + " start. For more details, allow list and watch of pods (chart value rbac.pods)");
      assertThat(received).isEmpty();
      assertThat(cluster.synced()).isTrue();
    }
  }

  /** Tests that run beside this one have others. */
  private static List<String> ofThisNamespace(LogLines log) {
    return log.lines().stream().filter(line -> line.contains(" -n failing ")).toList();
  }
}
