package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.activator.ext.podstarts.PodStartWatch;
import dev.activator.kube.Yaml;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.api.store.ObjectWrites.DeleteOptions;
import dev.activator.embedded.api.store.ObjectWrites.Deletion.Outcome;
import dev.activator.embedded.api.store.ObjectWrites.Preconditions;
import dev.activator.embedded.api.store.ContainerLog;
import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.standalone.autoscaler.ReportBatch;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.LeadershipCheck;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.testing.TestValues;
import dev.activator.testing.quiescence.Quiescence;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Execution(ExecutionMode.CONCURRENT) // They wait most of the time.
class LocalRuntimeTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");
  private static final RevisionId ECHO = new RevisionId("default", "echo-00001");
  private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java")
      .toString();
  private static final String SERVER = """
      import com.sun.net.httpserver.HttpServer;
            void main(String[] args) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1",
            Integer.parseInt(args[0])), 0);
        server.createContext("/", exchange -> {
          byte[] body = (System.getenv("K_REVISION") + " " + System.getenv("GREETING")).getBytes();
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
        server.start();
      }
      """;

  @TempDir
  Path directory;
  private final LoopResources loops = LoopResources.create("test", 1, 2, true);
  private final AtomicInteger inFlight = new AtomicInteger();
  private final ApiStore store = new ApiStore(Clock.systemUTC());
  private final LocalRuntime runtime = new LocalRuntime(store, loop(),
      new LocalRuntime.Dependencies(Clock.systemUTC(), new SecureRandom(), true, (_, _) -> true,
          _ -> false, _ -> inFlight.get()));
  private final HttpClient http = HttpClient.newHttpClient();

  @BeforeEach
  void start() {
    runtime.start(8012);
    until(() -> runtime.revision("default", "hello") != null);
  }

  @AfterEach
  void stop() {
    runtime.stop();
    http.shutdownNow();
    loops.disposeLater(Duration.ZERO, Duration.ofSeconds(30)).block();
  }

  @Test
  void theSampleIsThereAtZeroWithAllItsObjects() {
    until(() -> store.find(BuiltInKinds.DEPLOYMENT, "default", "hello-00001-deployment") != null);

    var revision = store.find(BuiltInKinds.REVISION, "default", "hello-00001");
    assertThat(ObjectMeta.labels(revision)).containsEntry("serving.knative.dev/service", "hello")
        .containsEntry("serving.knative.dev/configuration", "hello")
        .containsEntry("serving.knative.dev/configurationGeneration", "1");
    assertThat(revision.path("spec").path("timeoutSeconds").intValue()).isEqualTo(300);
    // a PodSpec has no fields of a RevisionSpec, and its containers have names
    var pods = store.find(BuiltInKinds.DEPLOYMENT, "default", "hello-00001-deployment")
        .at("/spec/template/spec");
    assertThat(pods.propertyNames()).containsExactly("containers");
    assertThat(pods.at("/containers/0/name").asString("")).isEqualTo("user-container");
    var endpoints = store.find(BuiltInKinds.ENDPOINTS, "default", "hello-00001-private");
    assertThat(ObjectMeta.labels(endpoints))
        .containsEntry("networking.internal.knative.dev/serviceType", "Private")
        .containsEntry("serving.knative.dev/revision", "hello-00001")
        .containsEntry("serving.knative.dev/revisionUID", ObjectMeta.uid(revision));
    var shown = store.find(BuiltInKinds.ENDPOINTS, "default", "hello-00001").path("subsets")
        .path(0);
    assertThat(shown.path("addresses").path(0).path("ip").stringValue()).isEqualTo("127.0.0.1");
    assertThat(shown.path("ports").path(0).path("port").intValue()).isEqualTo(8012);
    until(() -> ConditionManager.isTrue(find(BuiltInKinds.KNATIVE_SERVICE, "hello"), "Ready"));
    assertThat(find(BuiltInKinds.KNATIVE_SERVICE, "hello").path("status").path("url").stringValue())
        .isEqualTo("http://hello.default.localhost:8012");
    assertThat(runtime.revision("default", "hello")).isEqualTo(HELLO);
    assertThat(store.list(BuiltInKinds.POD)).isEmpty();
  }

  @Test
  void runsTheSampleAndListsItOnceItAnswers() throws Exception {
    scale(HELLO, 1);
    int port = readyPort(HELLO);

    assertThat(get(port)).isEqualTo("Hello from revision hello-00001\n");
    var pod = store.list(BuiltInKinds.POD).getFirst();
    assertThat(pod.path("status").path("phase").stringValue()).isEqualTo("Running");
    phasesOfAStartAreThoseOfAKubelet(pod);

    scale(HELLO, 0);
    until(() -> subsets(HELLO).isEmpty() && store.list(BuiltInKinds.POD).isEmpty());
  }

  private static void phasesOfAStartAreThoseOfAKubelet(ObjectNode pod) {
    var ends = Yaml.decoded(PodStartWatch.PODS, pod.toString()).value().ends();

    assertThat(ends.keySet()).containsExactlyInAnyOrderElementsOf(
        Stream.of(StartPhase.values()).filter(StartPhase::isOfPod).toList());
    assertThat(ends.values()).extracting(Instant::getEpochSecond)
        .allMatch(second -> second >= ends.get(StartPhase.CREATE).getEpochSecond())
        .allMatch(second -> second <= Instant.now().getEpochSecond());
  }

  @Test
  void goesFromZeroToOneAndBackAsTheAutoscalerDecides() {
    var scaling = new EmbeddedScaleClient(store, loop(), new Defaults(Duration.ofSeconds(6), 10));
    var autoscaler = Quiescence
        .watch(new Autoscaler(loop(), scaling, LeadershipCheck.ALONE, new ScalingListener() {
        }, new Random(1)));
    autoscaler.start();
    scaling.start(autoscaler);

    // when a first request arrives, and then none, then a pod comes and goes
    autoscaler.received(new ReportBatch("activator-1", OptionalDouble.empty(),
        List.of(new ReportBatch.Entry(HELLO, TestValues.sample("activator-1", 1, 1)))));
    readyPort(HELLO);
    until(() -> subsets(HELLO).isEmpty() && store.list(BuiltInKinds.POD).isEmpty());
    scaling.stop();
    autoscaler.stop();
  }

  @Test
  void runsAProgramWithItsPortAndItsEnvironment() throws Exception {
    apply("echo", List.of(JAVA, server(), "$PORT"), "GREETING", "good day");

    scale(ECHO, 2);
    until(() -> subsets(ECHO).valueStream().filter(one -> one.has("addresses")).count() == 2);

    assertThat(get(readyPort(ECHO))).isEqualTo("echo-00001 good day");
    scale(ECHO, 0);
    until(() -> store.list(BuiltInKinds.POD).isEmpty());
  }

  @Test
  void aPodThatIsStoppedIsDelistedAtOnceAndEndsAfterItsRequests() throws Exception {
    // given a pod with a request
    apply("echo", List.of(JAVA, server(), "$PORT"));
    scale(ECHO, 1);
    int port = readyPort(ECHO);
    inFlight.set(1);

    // when it is stopped, then it is delisted and runs on
    scale(ECHO, 0);
    until(() -> subsets(ECHO).isEmpty());
    assertThat(get(port)).startsWith("echo-00001");
    assertThat(store.list(BuiltInKinds.POD)).hasSize(1);

    // and when the request ends, then it is gone
    inFlight.set(0);
    until(() -> store.list(BuiltInKinds.POD).isEmpty());
  }

  @Test
  void aPodWhoseRequestsNeverEndIsEndedAfterTheirTimeout() throws Exception {
    apply("echo", List.of(JAVA, server(), "$PORT"));
    store.edit(BuiltInKinds.KNATIVE_SERVICE, "default", "echo", service -> {
      ((ObjectNode) service.at("/spec/template/spec")).put("timeoutSeconds", 1);
      return service;
    });
    var second = new RevisionId("default", "echo-00002");
    scale(second, 1);
    readyPort(second);
    inFlight.set(1);

    scale(second, 0);

    until(() -> store.list(BuiltInKinds.POD).isEmpty());
  }

  @Test
  void reportsHowAProgramEndedAndStartsItAgain() {
    apply("broken", List.of("sh", "-c", "echo starting; echo 'no database' >&2; exit 3"));

    scale(new RevisionId("default", "broken-00001"), 1);

    // The runtime waits 200 ms for what a program printed: on a slow machine a later run tells it.
    var first = await().until(() -> condition("broken-00001"), now -> now.path("message")
        .stringValue("").equals("process of broken-00001 ended with exit code 3: no database"));
    assertThat(first.path("reason").stringValue()).isEqualTo("ExitCode3");
    assertThat(first.path("status").stringValue()).isEqualTo("False");
    until(() -> store.list(BuiltInKinds.POD).stream().map(pod -> pod
        .at("/status/containerStatuses/0/lastState/terminated/message").asString(""))
        .anyMatch("no database"::equals));
    // the next failure is another one
    until(() -> !condition("broken-00001").path("lastTransitionTime")
        .equals(first.path("lastTransitionTime")));
    until(() -> !ConditionManager.isTrue(find(BuiltInKinds.KNATIVE_SERVICE, "broken"), "Ready"));
  }

  @Test
  void aProgramThatServedAndEndedIsRestarting() throws Exception {
    Path stop = directory.resolve("stop");
    var served = service("served");
    var container = (ObjectNode) served.at("/spec/template/spec/containers/0");
    container.putArray("command").add("sh").add("-c")
        .add("echo up; until test -f " + stop + "; do sleep 0.1; done; echo 'lost the database'; "
            + "rm " + stop + "; exit 3");
    container.putObject("readinessProbe").putObject("exec").putArray("command").add("true");
    store.create(BuiltInKinds.KNATIVE_SERVICE, served);
    var id = new RevisionId("default", "served-00001");
    scale(id, 1);
    until(() -> store.list(BuiltInKinds.POD).stream()
        .anyMatch(pod -> ConditionManager.isTrue(pod, "Ready")));
    assertThat(runtime.processes(id)).isEqualTo(LocalProcessProblems.NONE);

    Files.writeString(stop, "");

    var restarting = await().until(() -> runtime.processes(id), LocalProcessProblems::restarting);
    assertThat(restarting.problem()).isEqualTo(
        "process of served-00001 ended with exit code 3: lost the database; it is started again");
    assertThat(restarting.output()).contains("lost the database");
    assertThat(restarting.pods()).singleElement().satisfies(pod -> assertThat(pod.lastEnd())
        .isEqualTo("process of served-00001 ended with exit code 3: lost the database"));
    until(() -> runtime.processes(id).pods().getFirst().times() == 1
        && !runtime.processes(id).restarting());
    assertThat(
        ConditionManager.find(find(BuiltInKinds.REVISION, "served-00001"), "ContainerHealthy")
            .path("status").asString(""))
        .isNotEqualTo("False");
    until(() -> events("BackOff") == 1 && events("Crashed") == 1 && events("Started") == 2);
  }

  private int events(String reason) {
    return store.list(BuiltInKinds.EVENT).stream()
        .filter(event -> event.path("reason").asString("").equals(reason))
        .mapToInt(event -> event.path("count").intValue(0)).sum();
  }

  @Test
  void holdsAPodWhoseSecretIsMissingUntilItIsThere() {
    var service = service("keyed");
    var container = (ObjectNode) service.at("/spec/template/spec/containers/0");
    container.putArray("command").add("sh").add("-c").add("echo got $KEY; sleep 1000");
    container.putArray("env").addObject().put("name", "KEY").putObject("valueFrom")
        .putObject("secretKeyRef").put("name", "vault").put("key", "k");
    store.create(BuiltInKinds.KNATIVE_SERVICE, service);
    scale(new RevisionId("default", "keyed-00001"), 1);

    // when the Secret is missing, then the pod waits, and the revision says why
    until(() -> condition("keyed-00001").path("reason").stringValue("")
        .equals("CreateContainerConfigError"));
    assertThat(condition("keyed-00001").path("message").stringValue())
        .isEqualTo("secret \"vault\" not found");
    // The pod waits for nothing while it is tried again.
    var waiting = await().until(
        () -> store.list(BuiltInKinds.POD).getFirst().at("/status/containerStatuses/0"),
        now -> now.at("/state/waiting/reason").asString("").equals("CreateContainerConfigError"));
    assertThat(waiting.path("restartCount").intValue(-1)).isZero();

    // and when it comes, then the process starts with it
    var secret = Json.object();
    ObjectMeta.of(secret).put("namespace", "default").put("name", "vault");
    secret.putObject("data").put("k", "MTIz");
    store.create(BuiltInKinds.SECRET, secret);
    String pod = ObjectMeta.name(store.list(BuiltInKinds.POD).getFirst());
    until(() -> lines(store.podLogs().current("default", pod)).equals(List.of("got 123")));
  }

  @Test
  void runsADeploymentAndListsItsPodsForAServiceThatSelectsThem() throws Exception {
    store.create(BuiltInKinds.DEPLOYMENT, deployment("web", 2, JAVA, server(), "$PORT"));
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'default', 'name': 'front'}, 'spec': {'selector': {'app': 'web'},
         'ports': [{'name': 'http', 'port': 80, 'targetPort': 8080}]}}"""));

    until(() -> ready("front").size() == 2);
    assertThat(get(ready("front").getFirst())).startsWith("null");
    until(() -> find(BuiltInKinds.DEPLOYMENT, "web").at("/status/availableReplicas")
        .intValue(0) == 2);
    until(() -> store.list(BuiltInKinds.ENDPOINT_SLICE).stream()
        .filter(slice -> ObjectMeta.name(slice).startsWith("front-")).count() == 2);

    // when it is scaled down, then the address of the pod that goes is no longer there
    store.edit(BuiltInKinds.DEPLOYMENT, "default", "web", now -> {
      ((ObjectNode) now.path("spec")).put("replicas", 1);
      return now;
    });
    until(() -> ready("front").size() == 1);

    // and when its template changes, then another pod takes its place once it is ready
    int before = ready("front").getFirst();
    store.edit(BuiltInKinds.DEPLOYMENT, "default", "web", now -> {
      ((ObjectNode) now.at("/spec/template/spec/containers/0")).putArray("env").addObject()
          .put("name", "GREETING").put("value", "new");
      return now;
    });
    until(() -> {
      var now = ready("front");
      return now.size() == 1 && now.getFirst() != before;
    });
    assertThat(get(ready("front").getFirst())).isEqualTo("null new");

    store.delete(BuiltInKinds.DEPLOYMENT, "default", "web");
    until(() -> store.list(BuiltInKinds.POD).isEmpty() && ready("front").isEmpty());
  }

  @Test
  void saysThatADeploymentWithoutACommandDoesNotRun() {
    store.create(BuiltInKinds.DEPLOYMENT, deployment("image", 1));

    until(() -> ConditionManager.find(find(BuiltInKinds.DEPLOYMENT, "image"), "Available")
        .path("message")
        .asString("").contains("give the container a command"));
  }

  @Test
  void startsAProcessAgainWhoseLivenessProbeFails() {
    var deployment = deployment("sick", 1, "sleep", "1000");
    var container = (ObjectNode) deployment.at("/spec/template/spec/containers/0");
    container.putObject("livenessProbe").put("failureThreshold", 1).put("periodSeconds", 1)
        .put("timeoutSeconds", 120).putObject("exec").putArray("command").add("false");
    store.create(BuiltInKinds.DEPLOYMENT, deployment);

    until(() -> store.list(BuiltInKinds.POD).stream().anyMatch(pod -> pod
        .at("/status/containerStatuses/0/restartCount").intValue(0) >= 1));
    assertThat(store.list(BuiltInKinds.POD).getFirst()
        .at("/status/containerStatuses/0/lastState/terminated/message").asString())
        .isEqualTo("its livenessProbe failed too often: the probe [false] ended with exit code 1");
  }

  @Test
  void aProgramThatNeverListensIsOverdueAfterItsProgressDeadline() {
    var mute = service("mute");
    ((ObjectNode) mute.at("/spec/template/spec/containers/0")).putArray("command").add("sleep")
        .add("1000");
    ((ObjectNode) mute.at("/spec/template/metadata/annotations"))
        .put("autoscaling.knative.dev/initial-scale", "1")
        .put("serving.knative.dev/progress-deadline", "1s");
    store.create(BuiltInKinds.KNATIVE_SERVICE, mute);

    until(
        () -> ConditionManager.find(find(BuiltInKinds.REVISION, "mute-00001"), "ResourcesAvailable")
            .path("reason").asString("").equals("ProgressDeadlineExceeded"));
    var ready = ConditionManager.find(find(BuiltInKinds.REVISION, "mute-00001"), "Ready");
    assertThat(ready.path("status").asString("")).isEqualTo("False");
    assertThat(ready.path("message").asString(""))
        .startsWith("no pod was ready within 1 s, the progress deadline: process ")
        .contains("nothing listens on its PORT");
    until(() -> runtime.processes(new RevisionId("default", "mute-00001")).problem()
        .startsWith("no pod was ready within 1 s"));
    until(
        () -> ConditionManager
            .find(find(BuiltInKinds.DEPLOYMENT, "mute-00001-deployment"), "Progressing")
            .path("reason").asString("").equals("ProgressDeadlineExceeded"));
    until(() -> ConditionManager.find(find(BuiltInKinds.KNATIVE_SERVICE, "mute"), "Ready")
        .path("message")
        .asString("").contains("the progress deadline"));
  }

  @Test
  void kubectlGetShowsInOneWordWhyARevisionIsNotReady() {
    apply("mute", List.of("sleep", "1000"));
    scale(new RevisionId("default", "mute-00001"), 1);

    for (var kind : List.of(BuiltInKinds.REVISION, BuiltInKinds.KNATIVE_SERVICE)) {
      var name = kind.equals(BuiltInKinds.REVISION) ? "mute-00001" : "mute";
      until(() -> ConditionManager.find(find(kind, name), "Ready").path("reason").asString("")
          .equals("NotListening"));
    }
  }

  @Test
  void aDeploymentProgressesAgainWhenAPodIsReadyAfterItsDeadline() throws Exception {
    Path ok = directory.resolve("late");
    var deployment = deployment("late", 1, "sleep", "1000");
    ((ObjectNode) deployment.path("spec")).put("progressDeadlineSeconds", 1);
    var container = (ObjectNode) deployment.at("/spec/template/spec/containers/0");
    container.putObject("readinessProbe").put("periodSeconds", 1).putObject("exec")
        .putArray("command").add("test").add("-f").add(ok.toString());
    store.create(BuiltInKinds.DEPLOYMENT, deployment);
    until(() -> ConditionManager.find(find(BuiltInKinds.DEPLOYMENT, "late"), "Progressing")
        .path("status")
        .asString("").equals("False"));

    Files.writeString(ok, "");

    until(() -> ConditionManager.isTrue(find(BuiltInKinds.DEPLOYMENT, "late"), "Progressing"));
    assertThat(runtime.processes(new RevisionId("default", "late")).problem()).isEmpty();
  }

  @Test
  void startsNoReadinessProbeBeforeTheStartupProbeHasPassed() {
    Path ok = directory.resolve("ok");
    var deployment = deployment("slow", 1, "sleep", "1000");
    var container = (ObjectNode) deployment.at("/spec/template/spec/containers/0");
    container.putObject("startupProbe").put("failureThreshold", 100).put("periodSeconds", 1)
        .putObject("exec").putArray("command").add("test").add("-f").add(ok.toString());
    container.putObject("readinessProbe").putObject("exec").putArray("command").add("true");
    store.create(BuiltInKinds.DEPLOYMENT, deployment);
    until(() -> runtime.processes(new RevisionId("default", "slow")).problem()
        .contains("exit code 1"));
    assertThat(find(BuiltInKinds.DEPLOYMENT, "slow").at("/status/readyReplicas").intValue(0))
        .isZero();

    until(() -> Files.exists(Files.writeString(ok, "")));

    until(() -> find(BuiltInKinds.DEPLOYMENT, "slow").at("/status/readyReplicas").intValue(0) == 1);
    assertThat(runtime.processes(new RevisionId("default", "slow")).problem()).isEmpty();
  }

  private static ObjectNode deployment(String name, int replicas, String... command) {
    var deployment = Objects.parse(
        """
            {'metadata': {'namespace': 'default', 'name': '%s'}, 'spec': {'replicas': %d,
             'selector': {'matchLabels': {'app': '%s'}}, 'template': {'metadata': {'labels': {'app': '%s'}},
              'spec': {'containers': [{'name': 'c', 'ports': [{'containerPort': 8080}]}]}}}}"""
            .formatted(name, replicas, name, name));
    var container = (ObjectNode) deployment.at("/spec/template/spec/containers/0");
    for (String word : command) {
      container.withArrayProperty("command").add(word);
    }
    return deployment;
  }

  /** The ports of the ready addresses. */
  private List<Integer> ready(String service) {
    return find(BuiltInKinds.ENDPOINTS, service).path("subsets").valueStream()
        .filter(subset -> subset.has("addresses"))
        .map(subset -> subset.at("/ports/0/port").intValue()).toList();
  }

  @Test
  void keepsWhatAProgramPrintsInThisRunAndTheOneBefore() {
    apply("talker", List.of("sh", "-c", "echo one; echo two >&2; exit 1"));

    scale(new RevisionId("default", "talker-00001"), 1);
    until(() -> store.list(BuiltInKinds.POD).size() == 1);
    String pod = ObjectMeta.name(store.list(BuiltInKinds.POD).getFirst());

    until(() -> lines(store.podLogs().previous("default", pod)).equals(List.of("one", "two")));
    scale(new RevisionId("default", "talker-00001"), 0);
    until(() -> store.podLogs().ended("default", pod) != null);
    assertThat(lines(store.podLogs().previous("default", pod))).containsExactly("one", "two");
  }

  private static List<String> lines(ContainerLog log) {
    return log == null
        ? List.of()
        : log.lines().stream().map(ContainerLog.Line::text).toList();
  }

  @Test
  void reportsAProgramThatDoesNotExist() {
    apply("missing", List.of("/no/such/program"));

    scale(new RevisionId("default", "missing-00001"), 1);

    until(() -> condition("missing-00001").path("reason").stringValue("").equals("CannotRun"));
    assertThat(condition("missing-00001").path("message").stringValue())
        .startsWith("process of missing-00001 cannot run:").contains("/no/such/program");
  }

  @Test
  void leavesNoChildOfAProcessBehind() throws Exception {
    // given a program that starts another one, and ends on its own
    Path pid = directory.resolve("pid");
    apply("parent", List.of("sh", "-c", "sleep 1000 & echo $! > " + pid + "; exit 1"));

    scale(new RevisionId("default", "parent-00001"), 1);
    until(() -> condition("parent-00001").path("reason").stringValue("").equals("ExitCode1"));

    // The next run may be about to write its own.
    var written = await().until(() -> Files.readString(pid).strip(), text -> !text.isEmpty());
    var child = ProcessHandle.of(Long.parseLong(written));
    until(() -> child.isEmpty() || !child.get().isAlive());
  }

  @Test
  void aStoppedProgramPrintsUntilItsEndAndAloneGetsTheSignal() throws Exception {
    var ended = directory.resolve("ended");
    var worker = "trap 'echo worker >> %s' TERM; while :; do sleep 0.05; done".formatted(ended);
    apply("bye", List.of("sh", "-c", "trap 'echo 1; sleep 0.2; echo 2 >&2; echo clean >> " + ended
        + "; exit 0' TERM; sh -c \"" + worker + "\" & echo begun; wait"));
    scale(new RevisionId("default", "bye-00001"), 1);
    until(() -> store.list(BuiltInKinds.POD).size() == 1);
    String pod = ObjectMeta.name(store.list(BuiltInKinds.POD).getFirst());
    until(() -> lines(store.podLogs().current("default", pod)).equals(List.of("begun")));

    scale(new RevisionId("default", "bye-00001"), 0);
    until(() -> store.list(BuiltInKinds.POD).isEmpty());

    assertThat(lines(store.podLogs().current("default", pod))).containsExactly("begun", "1", "2");
    assertThat(ended).hasContent("clean");
  }

  @Test
  void aPodIsTerminatingWhileItsProcessEnds() throws Exception {
    var runs = Files.writeString(directory.resolve("runs"), "");
    var pod = pod(deployment("d", 1, "sh", "-c",
        "trap : TERM; echo begun; while [ -f " + runs + " ]; do sleep 0.02; done"), 60);

    var deletion = store.delete(BuiltInKinds.POD, "default", pod, Preconditions.NONE);
    assertThat(deletion.outcome()).isEqualTo(Outcome.WAITS);
    // The next pod does not wait for the end of this one.
    until(() -> store.list(BuiltInKinds.POD).size() == 2);
    assertThat(find(BuiltInKinds.POD, pod).at("/metadata/deletionGracePeriodSeconds").intValue())
        .isEqualTo(60);

    Files.delete(runs);
    until(() -> store.find(BuiltInKinds.POD, "default", pod) == null);
  }

  @Test
  void aForcedDeletionKillsAPodThatIsTerminating() throws Exception {
    var runs = Files.writeString(directory.resolve("runs"), "");
    var pod = pod(deployment("d", 1, "sh", "-c",
        "trap : TERM; echo begun; while [ -f " + runs + " ]; do sleep 0.02; done"), 600);
    // What it prints may be read before its id is known.
    long pid = await().until(() -> store.podProcesses().find("default", pod).pid().getAsLong(),
        id -> id > 0);
    var process = ProcessHandle.of(pid).orElseThrow();

    store.delete(BuiltInKinds.POD, "default", pod);
    store.writes().delete(BuiltInKinds.POD, "default", pod, DeleteOptions.NOW);

    assertThat(store.find(BuiltInKinds.POD, "default", pod)).isNull();
    until(() -> !process.isAlive());
    Files.delete(runs);
  }

  @Test
  void aPodThatNothingRunsIsGoneAtOnce() {
    var pod = Objects.parse("{'metadata': {'namespace': 'default', 'name': 'by-hand'}, 'spec':"
        + " {'nodeName': 'localhost', 'containers': [{'name': 'c'}]}}");
    store.create(BuiltInKinds.POD, pod);

    store.delete(BuiltInKinds.POD, "default", "by-hand");

    until(() -> store.find(BuiltInKinds.POD, "default", "by-hand") == null);
  }

  /** The name of the only pod of a new Deployment, which has printed a line. */
  private String pod(ObjectNode deployment, int graceSeconds) {
    ((ObjectNode) deployment.at("/spec/template/spec")).put("terminationGracePeriodSeconds",
        graceSeconds);
    store.create(BuiltInKinds.DEPLOYMENT, deployment);
    until(() -> store.list(BuiltInKinds.POD).size() == 1);
    var pod = ObjectMeta.name(store.list(BuiltInKinds.POD).getFirst());
    until(() -> lines(store.podLogs().current("default", pod)).equals(List.of("begun")));
    return pod;
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void controlCInTheTerminalOfTheActivatorDoesNotReachPrograms() throws Exception {
    apply("sleeper", List.of("sleep", "1000"));
    scale(new RevisionId("default", "sleeper-00001"), 1);
    until(() -> !store.list(BuiltInKinds.POD).isEmpty());
    var pod = store.list(BuiltInKinds.POD).getFirst();
    long pid = await().until(() -> {
      var running = store.podProcesses().find("default", ObjectMeta.name(pod));
      return running == null ? 0 : running.pid().getAsLong();
    }, id -> id > 0);

    // The fields of stat(5): a terminal sends the signal to a process group.
    until(() -> Files.readString(Path.of("/proc/" + pid + "/stat")).contains("(sleep)"));
    var fields = Files.readString(Path.of("/proc/" + pid + "/stat")).split(" ");
    assertThat(fields[4]).isEqualTo(Long.toString(pid));
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void endsTheProgramsOfAnActivatorThatWasKilled() throws Exception {
    var dead = new ProcessBuilder("true").start();
    dead.waitFor();
    var left = marked(dead.pid());
    var ours = marked(ProcessHandle.current().pid());

    PodProcessFinder.endLeftovers(loop());

    until(() -> !left.isAlive());
    assertThat(ours.isAlive()).isTrue();
    ours.destroy();
  }

  private static Process marked(long activator) throws Exception {
    var builder = new ProcessBuilder("sleep", "1000");
    builder.environment().put(PodProcessFinder.POD_VARIABLE, activator + "/pod/20000");
    return builder.start();
  }

  @Test
  void stopsProcessesThatDoNotListen() throws Exception {
    Path pid = directory.resolve("pid");
    apply("deaf",
        List.of("sh", "-c", "trap '' TERM; echo $$$$ > " + pid + "; sleep 1000; sleep 1000"));
    scale(new RevisionId("default", "deaf-00001"), 1);
    until(() -> Files.exists(pid) && !Files.readString(pid).isBlank());
    var process = ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();

    runtime.stop();

    assertThat(process.isAlive()).isFalse();
    assertThat(store.list(BuiltInKinds.POD)).isEmpty();
  }

  @Test
  void aChangedTemplateIsANewRevisionAndTheOldOneStays() {
    apply("echo", List.of("sleep", "1000"));
    until(() -> ECHO.equals(runtime.revision("default", "echo")));

    store.edit(BuiltInKinds.KNATIVE_SERVICE, "default", "echo", service -> {
      ((ObjectNode) service.path("spec").path("template").path("spec"))
          .put("containerConcurrency", 1);
      return service;
    });

    var second = new RevisionId("default", "echo-00002");
    until(() -> second.equals(runtime.revision("default", "echo")));
    until(() -> store.find(BuiltInKinds.REVISION, "default", "echo-00002") != null);
    assertThat(store.find(BuiltInKinds.REVISION, "default", "echo-00001")).isNotNull();
  }

  @Test
  void deletingAServiceEndsItsPodsAndDeletesItsObjects() {
    apply("echo", List.of("sleep", "1000"));
    scale(ECHO, 1);
    until(() -> !store.list(BuiltInKinds.POD).isEmpty());

    store.delete(BuiltInKinds.KNATIVE_SERVICE, "default", "echo");

    until(() -> store.list(BuiltInKinds.POD).isEmpty());
    until(() -> store.find(BuiltInKinds.ENDPOINTS, "default", "echo-00001-private") == null);
    for (Kind kind : List.of(BuiltInKinds.REVISION, BuiltInKinds.DEPLOYMENT, BuiltInKinds.SERVICE,
        BuiltInKinds.ENDPOINTS)) {
      until(() -> store.list(kind).stream()
          .noneMatch(one -> ObjectMeta.name(one).startsWith("echo-")));
    }
    assertThat(runtime.revision("default", "echo")).isNull();
  }

  @Test
  void aPodThatSomeoneDeletesIsReplaced() {
    apply("echo", List.of("sleep", "1000"));
    scale(ECHO, 1);
    until(() -> !store.list(BuiltInKinds.POD).isEmpty());
    String first = ObjectMeta.name(store.list(BuiltInKinds.POD).getFirst());

    store.delete(BuiltInKinds.POD, "default", first);

    until(
        () -> store.list(BuiltInKinds.POD).stream()
            .anyMatch(pod -> !ObjectMeta.name(pod).equals(first)));
  }

  @Test
  void refusesAnImageItCannotRun() {
    var service = service("web");
    ((ObjectNode) service.path("spec").path("template").path("spec").path("containers").get(0))
        .put("image", "nginx");

    assertThatThrownBy(() -> store.create(BuiltInKinds.KNATIVE_SERVICE, service))
        .hasMessageContaining("spec.template.spec.containers[0].command");
  }

  private NettyLoop loop() {
    return new NettyLoop(loops.onServer(LoopResources.DEFAULT_NATIVE).next());
  }

  private void apply(String name, List<String> command, String... env) {
    var service = service(name);
    var container = (ObjectNode) service.path("spec").path("template").path("spec")
        .path("containers").get(0);
    command.forEach(container.putArray("command")::add);
    for (int i = 0; i < env.length; i += 2) {
      container.putArray("env").addObject().put("name", env[i]).put("value", env[i + 1]);
    }
    store.create(BuiltInKinds.KNATIVE_SERVICE, service);
    until(() -> store.find(BuiltInKinds.DEPLOYMENT, "default", name + "-00001-deployment") != null);
  }

  private static ObjectNode service(String name) {
    var service = Json.object().put("apiVersion", "serving.knative.dev/v1").put("kind", "Service");
    service.putObject("metadata").put("namespace", "default").put("name", name);
    var template = service.putObject("spec").putObject("template");
    template.putObject("metadata").putObject("annotations")
        .put("autoscaling.knative.dev/initial-scale", "0");
    template.putObject("spec").putArray("containers").addObject();
    return service;
  }

  private String server() throws Exception {
    return Files.writeString(directory.resolve("Server.java"), SERVER).toString();
  }

  private void scale(RevisionId revision, int pods) {
    until(() -> store.find(BuiltInKinds.DEPLOYMENT, "default",
        revision.name() + "-deployment") != null);
    store.edit(BuiltInKinds.DEPLOYMENT, "default", revision.name() + "-deployment", deployment -> {
      ((ObjectNode) deployment.path("spec")).put("replicas", pods);
      return deployment;
    });
  }

  private int readyPort(RevisionId revision) {
    until(() -> subsets(revision).valueStream().anyMatch(subset -> subset.has("addresses")));
    var ready = subsets(revision).valueStream().filter(subset -> subset.has("addresses"))
        .findFirst().orElseThrow();
    return ready.path("ports").path(0).path("port").intValue();
  }

  private JsonNode subsets(RevisionId revision) {
    return find(BuiltInKinds.ENDPOINTS, revision.name() + "-private").path("subsets");
  }

  private JsonNode condition(String revision) {
    return ConditionManager.find(find(BuiltInKinds.REVISION, revision), "ContainerHealthy");
  }

  private JsonNode find(Kind kind, String name) {
    var found = store.find(kind, "default", name);
    return found == null ? Json.object() : found;
  }

  private String get(int port) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/")).build();
    return http.send(request, BodyHandlers.ofString()).body();
  }

  private static void until(Callable<Boolean> condition) {
    await().until(condition);
  }
}
