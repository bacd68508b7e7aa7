package dev.activator.ext.console;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.acceptance.FakeCluster;
import dev.activator.app.Extensions;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.proxy.RequestPorts;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.testing.FreePort;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * What the product says of each road while that road is broken: the API, the autoscaler and the pods
 * are sockets, and the sentence is read from the product.
 */
class WaitDiagnosisRoadsTest {
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final int REFUSED_STREAM = 7;

  private static FakeCluster cluster;
  private static ConfigurableApplicationContext product;
  /** What was said of a revision before the first lists were complete. */
  private static String atTheStart;

  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void start() throws Exception {
    cluster = new FakeCluster();
    cluster.revision("early");
    var unlisted = cluster.api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.ENDPOINTS),
        Fault.Answer.status(503));
    int port = FreePort.next();
    var starting = new FutureTask<>(() -> cluster.start(Extensions.ALL,
        "--activator.probe.timeout=30s", "--activator.console.port=" + port));
    Thread.ofPlatform().name("start").start(starting);
    await().ignoreExceptions().untilAsserted(() -> {
      atTheStart = said(port, "early");
      assertThat(atTheStart).contains("NOT_SYNCED");
    });
    unlisted.remove();
    product = starting.get();
  }

  @AfterAll
  static void stop() {
    product.close();
    cluster.close();
  }

  @AfterEach
  void close() throws Exception {
    for (var one : open) {
      one.close();
    }
  }

  private static String said(int port, String revision) throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port
          + "/actuator/activator/default/" + revision)).build(), BodyHandlers.ofString()).body();
    }
  }

  @Test
  void theFirstListsAreNotComplete() {
    assertThat(atTheStart).contains(
        "default/early: the first lists of the Kubernetes API are not complete");
    says("early", WaitState.AT_ZERO, "it is at zero.");
  }

  @Test
  void thereIsNoSuchRevision() {
    says("none", WaitState.UNKNOWN, "There is no revision or Service default/none.");
  }

  @Test
  void aRevisionIsAtZero_andTheAutoscalerIsAway() {
    revision("zero", "{}");
    says("zero", WaitState.AT_ZERO, "No request waits for default/zero: it is at zero.");

    cluster.autoscalerGoes();
    says("zero", WaitState.NO_AUTOSCALER,
        "it is at zero, and no request can start a pod while the link"
            + " to the autoscaler is down");

    cluster.autoscalerComes();
    says("zero", WaitState.AT_ZERO, "it is at zero.");
  }

  @Test
  void noPodIsListed_andTheAutoscalerIsAway() throws Exception {
    revision("empty", "{}");
    request("empty");
    says("empty", WaitState.NO_PODS,
        "1 request waits for default/empty: no pod is listed; the autoscaler"
            + " link is up");

    cluster.autoscalerGoes();
    says("empty", WaitState.NO_PODS, "no pod is listed; the autoscaler link is down (");
    cluster.autoscalerComes();
    says("empty", WaitState.NO_PODS, "the autoscaler link is up");
  }

  @Test
  void theKubernetesApiGivesNoNews() throws Exception {
    revision("deaf", "{}");
    request("deaf");
    says("deaf", WaitState.NO_PODS, "no pod is listed");

    var broken = cluster.api.faults().add(Match.requests().of(BuiltInKinds.ENDPOINTS),
        Fault.Answer.status(503));
    cluster.api.endWatches();
    says("deaf", WaitState.NO_NEWS, "the Kubernetes API has given no news of pods for ");

    broken.remove();
    says("deaf", WaitState.NO_PODS, "no pod is listed");
  }

  @Test
  void theKubernetesApiAnswersNoMore_whileItsWatchesStayOpen() throws Exception {
    revision("mute", "{}");
    request("mute");
    says("mute", WaitState.NO_PODS, "no pod is listed");

    var silent = cluster.api.faults().add(Match.requests(), new Fault.NoAnswer());
    says("mute", WaitState.NO_NEWS, "(it does not answer within 2 s), so pods that started since"
        + " are not seen; before, no pod is listed");

    silent.remove();
    says("mute", WaitState.NO_PODS, "no pod is listed");
  }

  @Test
  void aPodRefusesConnections() throws Exception {
    revision("closed", "{}");
    listed("closed", ScriptedPod.nobody(), true);
    says("closed", WaitState.STARTING, "1 pod is listed, and none answers our probe: ");

    request("closed");
    says("closed", WaitState.NOT_ANSWERING,
        "1 pod is listed, and none answers our probe: connection"
            + " refused (");
  }

  @Test
  void aPodAnswersProbesWith500() throws Exception {
    revision("sick", "{}");
    listed("sick", pod(ScriptedPod
        .answering("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n")).destination(), true);
    request("sick");

    says("sick", WaitState.NOT_ANSWERING, "none answers our probe: answered 500");
  }

  @Test
  void aPodHasNotAnsweredItsFirstProbe() throws Exception {
    revision("hung", "{}");
    listed("hung", pod(new ScriptedPod(caller -> caller.waitForEver().readToEnd())).destination(),
        true);
    request("hung");

    says("hung", WaitState.NOT_PROBED_YET, "1 pod is listed, and the first answer is awaited");
  }

  /** Its readiness is known to Kubernetes alone, since it is probed by a command. */
  @Test
  void kubernetesCallsNoPodReady() throws Exception {
    revision("gated", "{metadata: {annotations: {activator.dev/probe: container}}, spec:"
        + " {containers: [{image: x, readinessProbe: {exec: {command: [a]}}}]}}");
    listed("gated", pod(ScriptedPod
        .answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")).destination(), false);
    request("gated");

    says("gated", WaitState.NOT_READY,
        "1 pod is listed, 1 of them answers, and Kubernetes, which alone"
            + " knows when they are ready, calls none so");
  }

  @Test
  void theOnlyPermitIsInUse_andThenTheQueueIsFull() throws Exception {
    revision("busy", "{metadata: {annotations: {activator.dev/queue-capacity: '2'}}, spec:"
        + " {containerConcurrency: 1}}");
    var reached = new CompletableFuture<Destination>();
    listed("busy", holding(reached), true);
    request("busy");
    reached.get(30, TimeUnit.SECONDS);
    says("busy", WaitState.SERVING, "1 request in flight on 1 pod");

    request("busy");
    says("busy", WaitState.BUSY,
        "1 request waits for default/busy: the only permit is in use on 1 pod");

    request("busy");
    says("busy", WaitState.QUEUE_FULL, "the only permit is in use on 1 pod, and so are all 2 in the"
        + " queue: new requests are refused");
  }

  @Test
  void thePodOfASessionHasNoRoom() throws Exception {
    revision("bound", "{metadata: {annotations: {activator.dev/affinity-header: Session,"
        + " activator.dev/affinity-mode: strict}}, spec: {containerConcurrency: 1}}");
    var reached = new CompletableFuture<Destination>();
    listed("bound", true, holding(reached), holding(reached));
    says("bound", WaitState.SERVING, "0 requests in flight on 2 pods");
    request("bound", "Session: a");
    var pod = reached.get(30, TimeUnit.SECONDS);

    request("bound", "Session: a");

    says("bound", WaitState.BOUND, "1 request waits for default/bound: 1 may run only on " + pod
        + ", to which its key belongs");
  }

  /** A pod that answers probes, and no request. */
  private Destination holding(CompletableFuture<Destination> reached) throws Exception {
    var at = new CompletableFuture<Destination>();
    at.complete(pod(new ScriptedPod(caller -> {
      while (caller.readHead().header("K-Network-Probe") != null) {
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue");
      }
      reached.complete(at.join());
      caller.waitForEver().readToEnd();
    })).destination());
    return at.join();
  }

  @Test
  void aPodAnswersProbes_andProcessesNoRequest() throws Exception {
    revision("half", "{}");
    var pod = pod(new ScriptedPod(WaitDiagnosisRoadsTest::answerProbesOnly)).destination();
    listed("half", pod, true);
    var caller = RawPeer.connect(product.getBean(RequestPorts.class).http1());
    open.add(caller);
    var ended = Thread.ofVirtual().start(() -> callAgainAndAgain(caller, "half"));

    says("half", WaitState.NOT_DELIVERABLE,
        "1 pod is listed, but requests could not be delivered to [" + pod + "]");

    caller.close();
    ended.join();
  }

  /** A request in HTTP/2 is refused before it is processed, each time. */
  private static void answerProbesOnly(RawPeer caller) throws IOException {
    if (caller.peek(3).equals("GET")) {
      while (true) {
        caller.readBody(caller.readHead());
        caller.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue");
      }
    }
    var http2 = RawHttp2.pod(caller);
    for (var frame = http2.read(); true; frame = http2.read()) {
      if (frame.type() == RawHttp2.HEADERS) {
        http2.reset(frame.stream(), REFUSED_STREAM);
      }
    }
  }

  private static void callAgainAndAgain(RawPeer peer, String revision) {
    try (var caller = RawHttp2.caller(peer)) {
      for (int stream = 1; true; stream += 2) {
        caller.headers(stream, true, ":method", "GET", ":scheme", "http", ":path", "/",
            ":authority", "any", "knative-serving-namespace", "default",
            "knative-serving-revision", revision);
        var frame = caller.read();
        while (frame.stream() != stream || !frame.ends()) {
          frame = caller.read();
        }
      }
    } catch (IOException closed) {
      // By the test.
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "crash | ContainerHealthy   | ExitCode1                | CANNOT_START | its containers do not start: ExitCode1 (boom)",
      "late  | ContainerHealthy   | ProgressDeadlineExceeded | OVERDUE      | boom",
      "node  | ResourcesAvailable | Unschedulable            | NO_NODE      | no node takes its pods: Unschedulable (boom)"})
  void theRevisionSaysWhyItHasNoPod(String name, String type, String reason, WaitState state,
      String sentence) {
    revision(name, "{status: {conditions: [{type: " + type + ", status: 'False', reason: " + reason
        + ", message: boom}]}}");

    says(name, state, sentence);
  }

  @Test
  void podsMustNotBeAddressed_andTheClusterIpIsMissing_orDoesNotAnswer() throws Exception {
    cluster.configMap("config-network", Map.of("mesh-compatibility-mode", "enabled"));
    try {
      var queue = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nqueue";
      revision("mesh", "{}");
      listed("mesh", pod(ScriptedPod.answering(queue)).destination(), true);
      var notAddressed = "pods must not be addressed (mesh-compatibility-mode: enabled), and the private Service"
          + " has no ClusterIP";
      // Only then the setting has arrived, and the pod does not answer the request.
      says("mesh", WaitState.STARTING, notAddressed);
      request("mesh");
      says("mesh", WaitState.NO_CLUSTER_IP, notAddressed);

      var closed = ScriptedPod.nobody();
      service("mesh", closed);
      says("mesh", WaitState.NO_CLUSTER_IP,
          "the ClusterIP does not answer our probe: connection refused"
              + " (" + closed);

      var clusterIp = pod(ScriptedPod.answering(queue)).destination();
      service("mesh", clusterIp);
      says("mesh", WaitState.SERVING_BY_CLUSTER_IP, "by the ClusterIP " + clusterIp);
    } finally {
      cluster.configMap("config-network", Map.of());
    }
  }

  private static void says(String name, WaitState state, String sentence) {
    await().untilAsserted(() -> {
      var report = report(name);
      assertThat(report.summary()).contains(sentence);
      assertThat(report.state()).isEqualTo(state);
      assertThat(report.whatToDo()).isNotEmpty();
    });
  }

  private static RevisionWaitReport report(String name) {
    return product.getBean(RevisionInspector.class).revision(new RevisionId("default", name))
        .join();
  }

  /** A request whose answer is not read. */
  private void request(String revision, String... fields) throws IOException {
    var caller = RawPeer.connect(product.getBean(RequestPorts.class).http1());
    open.add(caller);
    caller.send("GET / HTTP/1.1\r\nHost: any\r\nKnative-Serving-Namespace: default\r\n"
        + "Knative-Serving-Revision: " + revision + "\r\n"
        + Stream.of(fields).map(field -> field + "\r\n").collect(joining()) + "\r\n");
  }

  private ScriptedPod pod(ScriptedPod pod) {
    open.add(pod);
    return pod;
  }

  private static void revision(String name, String more) {
    var revision = object("metadata: {namespace: default, name: " + name + "}");
    revision.withObjectProperty("spec").put("timeoutSeconds", 300)
        .putArray("containers").addObject().put("image", "x");
    YAML.readTree(more).properties().forEach(part -> {
      if (part.getValue() instanceof ObjectNode own) {
        revision.withObjectProperty(part.getKey()).setAll(own);
      }
    });
    cluster.api.store().create(BuiltInKinds.REVISION, revision);
    if (revision.has("status")) {
      cluster.api.store().updateStatus(BuiltInKinds.REVISION, "default", name, stored -> {
        stored.set("status", revision.path("status"));
        return stored;
      });
    }
    await().until(() -> report(name).state() != WaitState.UNKNOWN);
  }

  private static void listed(String revision, Destination pod, boolean ready) {
    listed(revision, ready, pod);
  }

  private static void listed(String revision, boolean ready, Destination... pods) {
    cluster.api.store().create(BuiltInKinds.ENDPOINTS, object("""
        metadata:
          namespace: default
          name: %1$s-private
          labels:
            serving.knative.dev/revision: %1$s
            serving.knative.dev/revisionUID: u
            networking.internal.knative.dev/serviceType: Private
        subsets: [%2$s]
        """.formatted(revision, Stream.of(pods)
        .map(pod -> "{%s: [{ip: %s}], ports: [{name: http, port: %d}]}".formatted(
            ready ? "addresses" : "notReadyAddresses", pod.host(), pod.port()))
        .collect(joining(", ")))));
  }

  private static void service(String revision, Destination at) {
    var service = object("""
        metadata:
          namespace: default
          name: %1$s-private
          labels:
            serving.knative.dev/revision: %1$s
            serving.knative.dev/revisionUID: u
            networking.internal.knative.dev/serviceType: Private
        spec: {clusterIP: %2$s, ports: [{name: http, port: %3$d}]}
        """.formatted(revision, at.host(), at.port()));
    if (cluster.api.store().stored(BuiltInKinds.SERVICE, service) == null) {
      cluster.api.store().create(BuiltInKinds.SERVICE, service);
    } else {
      cluster.api.store().edit(BuiltInKinds.SERVICE, "default", revision + "-private", stored -> {
        stored.set("spec", service.path("spec"));
        return stored;
      });
    }
  }

  private static ObjectNode object(String yaml) {
    return (ObjectNode) YAML.readTree(yaml);
  }
}
