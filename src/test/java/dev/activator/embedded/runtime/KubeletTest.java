package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.Propagation;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.RevisionId;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Pods of the sample, where the system has no port for them at first. */
class KubeletTest {
  private static final String DEPLOYMENT = "hello-00001-deployment";

  private final LoopResources loops = LoopResources.create("test", 1, 2, true);
  private final NettyLoop loop = new NettyLoop(
      loops.onServer(LoopResources.DEFAULT_NATIVE).next());
  private final ApiStore store = new ApiStore(Clock.systemUTC());
  private final ServingController serving = new ServingController(store, loop, "127.0.0.1",
      (_, _) -> true);
  private volatile boolean portsAreFree;
  private volatile boolean sends;
  private volatile boolean hasReadSends;
  private final Kubelet kubelet = new Kubelet(store, loop,
      new LoopbackPorts(new SecureRandom(), this::listen),
      new LocalRuntime.Dependencies(Clock.systemUTC(), new SecureRandom(), true, (_, _) -> true,
          _ -> {
            boolean now = sends;
            hasReadSends |= now;
            return now;
          }, _ -> 0));

  private Closeable listen(int port) throws IOException {
    if (!portsAreFree) {
      throw new SocketException("Too many open files");
    }
    return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
  }

  @BeforeEach
  void start() {
    new GarbageCollector(store, loop).start();
    new DeploymentController(store, loop).subscribe();
    kubelet.subscribe();
    serving.start(8012);
    serving.createSample("default", "hello");
    until(() -> store.find(BuiltInKinds.DEPLOYMENT, "default", DEPLOYMENT) != null);
  }

  @AfterEach
  void stop() {
    serving.stop();
    loop.execute(kubelet::stop);
    until(() -> CompletableFuture.supplyAsync(kubelet::isEmpty, loop).join());
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(30)).block();
  }

  @Test
  void aRevisionWithoutAPodForWantOfAPortSaysSoAndGetsOneLater() {
    scale(1);

    // when there is no port for the process, then the revision has failed
    until(() -> whyUnhealthy().contains("Too many open files"));
    assertThat(store.list(BuiltInKinds.POD)).isEmpty();

    // and is ready once there is
    portsAreFree = true;
    until(this::isReady);
    assertThat(store.list(BuiltInKinds.POD)).hasSize(1);
  }

  @Test
  void aRevisionThatIsReadyStaysSoWhileAnotherPodStartsSlowly() {
    portsAreFree = true;
    var objects = new ControllerWrites(store);
    var pods = new ReplicaSetPods(store.find(BuiltInKinds.DEPLOYMENT, "default", DEPLOYMENT),
        kubelet,
        new EndpointsController(objects, _ -> Stream.empty()), loop, objects, Clock.systemUTC());
    onLoop(
        () -> pods.update(replicas(store.find(BuiltInKinds.DEPLOYMENT, "default", DEPLOYMENT), 1)));
    until(() -> pods.pods().stream().anyMatch(pod -> pod.view().ready()));

    onLoop(() -> pods.slow(kubelet.makePod(pods.template(), pods)));

    assertThat(ConditionManager.find(revision(), "Ready").path("status").stringValue())
        .isEqualTo("True");
    onLoop(pods::stop);
    until(pods::isEmpty);
  }

  @Test
  void aPodWhoseLivenessProbeFailedIsNotReadyWhileItsProcessEnds(@TempDir Path directory)
      throws IOException {
    portsAreFree = true;
    // When this goes, so does the process, even after a failure.
    var runs = Files.writeString(directory.resolve("runs"), "");
    var sick = directory.resolve("sick");
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'replicas': 1, 'selector':
          {'matchLabels': {'app': 'd'}}, 'template': {'metadata': {'labels': {'app': 'd'}},
          'spec': {'terminationGracePeriodSeconds': 60, 'containers': [{'name': 'c', 'command':
            ['sh', '-c', 'trap : TERM; while [ -f %s ]; do sleep 0.02; done'],
            'readinessProbe': {'timeoutSeconds': 120, 'exec': {'command': ['true']}},
            'livenessProbe': {'failureThreshold': 1, 'periodSeconds': 1, 'timeoutSeconds': 120,
              'exec': {'command': ['test', '!', '-f', '%s']}}}]}}}}""".formatted(runs, sick)));
    until(() -> readyReplicas() == 1);

    Files.writeString(sick, "");

    until(() -> readyReplicas() == 0);
    assertThat(
        store.list(BuiltInKinds.POD).getFirst().at("/status/containerStatuses/0/restartCount")
            .intValue(0))
        .isZero();
    Files.delete(sick);
    Files.delete(runs);
  }

  @Test
  void aProcessThatHasEnded_isNotListed_andRestarts_ifTheActivatorSentRequestsToIt() {
    portsAreFree = true;
    sends = true;
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'selector': {'app': 'd'},
          'ports': [{'port': 80}]}}"""));
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'replicas': 1, 'selector':
          {'matchLabels': {'app': 'd'}}, 'template': {'metadata': {'labels': {'app': 'd'}},
          'spec': {'containers': [{'name': 'c', 'command': ['sh', '-c', 'exit 3'],
            'readinessProbe': {'periodSeconds': 600, 'exec': {'command': ['false']}}}]}}}}"""));

    until(() -> kubelet.processes(new RevisionId("default", "d")).restarting()
        && store.find(BuiltInKinds.ENDPOINTS, "default", "d").path("subsets").isEmpty());
  }

  /** Spring Cloud Kubernetes takes the uid as the id of an instance. */
  @Test
  void aPodHasListsOfItsAddresses_andItsUidIsInTheEndpoints() {
    portsAreFree = true;
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'selector': {'app': 'd'},
          'ports': [{'port': 80}]}}"""));
    startSleeping();

    var pod = store.list(BuiltInKinds.POD).getFirst();
    assertThat(pod.at("/status/podIPs/0/ip").asString()).isEqualTo("127.0.0.1");
    assertThat(pod.at("/status/hostIPs/0/ip").asString()).isEqualTo("127.0.0.1");
    assertThat(store.find(BuiltInKinds.ENDPOINTS, "default", "d")
        .at("/subsets/0/addresses/0/targetRef/uid").asString()).isEqualTo(ObjectMeta.uid(pod));
  }

  private void startSleeping() {
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'replicas': 1, 'selector':
          {'matchLabels': {'app': 'd'}}, 'template': {'metadata': {'labels': {'app': 'd'}},
          'spec': {'containers': [{'name': 'c', 'command': ['sleep', '1000'],
            'readinessProbe': {'exec': {'command': ['true']}}}]}}}}"""));
    until(() -> readyReplicas() == 1);
  }

  @Test
  void podsGoOn_ifTheirReplicaSetIsDeletedWithoutThem() {
    portsAreFree = true;
    startSleeping();
    var set = store.list(BuiltInKinds.REPLICA_SET,
        one -> ObjectMeta.name(one).startsWith("d-")).getFirst();
    var pod = ObjectMeta.uid(store.list(BuiltInKinds.POD).getFirst());

    store.delete(BuiltInKinds.REPLICA_SET, "default", ObjectMeta.name(set), ObjectMeta.uid(set),
        Propagation.ORPHAN);
    until(() -> store.list(BuiltInKinds.REPLICA_SET).stream()
        .anyMatch(now -> !ObjectMeta.uid(now).equals(ObjectMeta.uid(set))
            && now.at("/status/readyReplicas").intValue(0) == 1));

    assertThat(store.list(BuiltInKinds.POD)).extracting(ObjectMeta::uid).containsExactly(pod);
  }

  /** The activator may notice the end first. */
  @Test
  void aProcessRestarts_ifTheActivatorSentRequestsToItBeforeItsEnd(@TempDir Path directory)
      throws IOException {
    portsAreFree = true;
    sends = true;
    var runs = Files.writeString(directory.resolve("runs"), "");
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'replicas': 1, 'selector':
          {'matchLabels': {'app': 'd'}}, 'template': {'metadata': {'labels': {'app': 'd'}},
          'spec': {'containers': [{'name': 'c', 'command':
            ['sh', '-c', 'while [ -f %s ]; do sleep 0.02; done'],
            'readinessProbe': {'periodSeconds': 600, 'exec': {'command': ['false']}}}]}}}}"""
        .formatted(runs)));
    until(() -> hasReadSends);

    sends = false;
    Files.delete(runs);

    until(() -> kubelet.processes(new RevisionId("default", "d")).restarting());
  }

  @Test
  void aPodWhoseProcessCannotStart_isNotListed() {
    portsAreFree = true;
    var listed = new CopyOnWriteArrayList<JsonNode>();
    store.subscribe(BuiltInKinds.ENDPOINTS, loop, event -> {
      if (ObjectMeta.name(event.object()).equals("d")) {
        event.object().path("subsets").forEach(listed::add);
      }
    });
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'selector': {'app': 'd'},
          'ports': [{'port': 80}]}}"""));
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'replicas': 1, 'selector':
          {'matchLabels': {'app': 'd'}}, 'template': {'metadata': {'labels': {'app': 'd'}},
          'spec': {'containers': [{'name': 'c', 'command': ['sleep', '1000'],
            'envFrom': [{'configMapRef': {'name': 'missing'}}]}]}}}}"""));

    until(() -> store.list(BuiltInKinds.POD).stream()
        .anyMatch(pod -> pod.at("/status/containerStatuses/0/state/waiting/reason").asString("")
            .equals("CreateContainerConfigError")));
    onLoop(() -> assertThat(listed).isEmpty());
  }

  /** {@code kubectl describe} ends with an error otherwise. */
  @Test
  void aProbeByGrpcHasAService() {
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'replicas': 0, 'selector':
          {'matchLabels': {'app': 'd'}}, 'template': {'metadata': {'labels': {'app': 'd'}},
          'spec': {'containers': [{'name': 'c', 'command': ['a'], 'readinessProbe': {'grpc':
            {'port': 1}}, 'livenessProbe': {'grpc': {'port': 1, 'service': 's'}},
            'startupProbe': {'grpc': null}}]}}}}"""));

    var container = deployment().at("/spec/template/spec/containers/0");
    assertThat(container.at("/readinessProbe/grpc/service").stringValue()).isEmpty();
    assertThat(container.at("/livenessProbe/grpc/service").stringValue()).isEqualTo("s");
  }

  @Test
  void aDeploymentFailsOnlyAsLongAsItHasNoCommand() {
    portsAreFree = true;
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'd'}, 'spec': {'replicas': 1, 'selector':
          {'matchLabels': {'app': 'd'}}, 'template': {'metadata': {'labels': {'app': 'd'}},
          'spec': {'containers': [{'name': 'c', 'image': 'nginx'}]}}}}"""));
    until(() -> ConditionManager.isTrue(deployment(), "ReplicaFailure"));
    assertThat(ConditionManager.find(deployment(), "ReplicaFailure").path("message").asString())
        .contains("give the container a command");

    command("sleep", "1000");
    until(() -> !ConditionManager.isTrue(deployment(), "ReplicaFailure"));

    command();
    until(() -> ConditionManager.isTrue(deployment(), "ReplicaFailure"));
  }

  private ObjectNode deployment() {
    return store.find(BuiltInKinds.DEPLOYMENT, "default", "d");
  }

  private void command(String... words) {
    store.edit(BuiltInKinds.DEPLOYMENT, "default", "d", found -> {
      var command = ((ObjectNode) found.at("/spec/template/spec/containers/0")).putArray("command");
      Stream.of(words).forEach(command::add);
      return found;
    });
  }

  private int readyReplicas() {
    return deployment().at("/status/readyReplicas").intValue(0);
  }

  private void onLoop(Runnable work) {
    CompletableFuture.runAsync(work, loop).join();
  }

  private boolean isReady() {
    return ConditionManager.isTrue(revision(), "Ready");
  }

  private String whyUnhealthy() {
    for (var condition : revision().path("status").path("conditions")) {
      if (condition.path("type").stringValue("").equals("ContainerHealthy")) {
        return condition.path("message").stringValue("");
      }
    }
    return "";
  }

  private ObjectNode revision() {
    return store.find(BuiltInKinds.REVISION, "default", "hello-00001");
  }

  private void scale(int pods) {
    store.edit(BuiltInKinds.DEPLOYMENT, "default", DEPLOYMENT, found -> replicas(found, pods));
  }

  private static ObjectNode replicas(ObjectNode deployment, int pods) {
    var next = deployment.deepCopy();
    next.withObjectProperty("spec").put("replicas", pods);
    return next;
  }

  private static void until(Callable<Boolean> holds) {
    await().until(holds);
  }
}
