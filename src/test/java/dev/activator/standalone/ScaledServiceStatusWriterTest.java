package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.config.NamespaceHostRules;
import dev.activator.config.PortRange;
import dev.activator.config.RevisionAnnotations;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ScaledServiceStatus.Scaling;
import dev.activator.standalone.policy.TcpPortTable;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.loop.ThreadLoop;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.platform.IdleMethod;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import dev.activator.testing.SteppedLoop;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Pause;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.faults.When;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Random;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Statuses and Events in an embedded API, over HTTP; time is moved by hand. */
class ScaledServiceStatusWriterTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final ThreadLoop thread = new ThreadLoop("writer");
  private final SteppedLoop loop = new SteppedLoop(thread);
  private final ClusterWatcher cluster = Make
      .cluster(() -> new ClusterAccess.At(URI.create(api.url())));
  private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private volatile boolean leads;
  private volatile List<Trouble> troubles = List.of(new Trouble("NotSeen", "not read yet"));
  private volatile long generation;
  private volatile int shown;
  private volatile int ready;
  private volatile boolean isAsleep;
  private volatile String opened = "";
  private final InstantSource clock = () -> now;
  private final ScaledServiceStatusWriter writer = new ScaledServiceStatusWriter(loop, cluster::api,
      clock,
      () -> leads, new Random(1));

  @BeforeEach
  void start() throws InterruptedException {
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.DEPLOYMENT,
        Objects.parse("{'metadata': {'namespace': 'shop', 'name': 'web'}}"));
    store.create(ScaledServiceCrd.of(store), scaledService());
    var services = new ScaledServices(new ScaledServices.Scope("cluster.local",
        NamespaceHostRules.ANY, Set.of(), TestValues.MAX_TIMEOUT,
        new TcpPortTable.Allowed(new PortRange(9100, 9109), false, NamespaceHostRules.ANY)));
    services.extensions(Set.of("asleep"), List.of(), new Idle());
    cluster.leaveOutKnative();
    cluster.setSource(services);
    services.changes().subscribe("test", writer::changed);
    services.changes().subscribe("test", state -> {
      troubles = state.troubles();
      generation = state.object().generation();
      opened = state.revision().annotations().getOrDefault(RevisionAnnotations.TCP_PORT, "");
      ready = state.ready();
      shown = state.object().status().desiredReplicas().orElse(-1);
      isAsleep = state.object().idle().state() != null;
    });
    services.ends().subscribe("test", last -> writer.gone(last.object().id()));
    cluster.start();
    writer.start();
  }

  private static ObjectNode scaledService() {
    return Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 20}}}
        """);
  }

  @AfterEach
  void close() {
    cluster.close();
    api.close();
    thread.close();
  }

  private void lead() {
    leads = true;
    loop.advance(Duration.ofSeconds(1));
  }

  private void service() {
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
         'ports': [{'name': 'http', 'port': 80}]}}
        """));
    await().until(() -> troubles.isEmpty());
  }

  private static Scaling scaling(int replicas, int desired, @Nullable Trouble trouble) {
    return new Scaling(OptionalInt.of(replicas), OptionalInt.of(desired), "Unknown", "Queued",
        "Requests wait.", trouble, "", "waking");
  }

  private JsonNode status() {
    return store.find(ScaledServiceCrd.of(store), "shop", "web").path("status");
  }

  private String condition(String type) {
    return status().path("conditions").valueStream()
        .filter(one -> one.path("type").asString().equals(type)).findFirst()
        .map(one -> one.path("status").asString() + " " + one.path("reason").asString() + " "
            + one.path("lastTransitionTime").asString())
        .orElse("");
  }

  private List<String> events() {
    return store.list(BuiltInKinds.EVENT).stream()
        .filter(one -> one.at("/involvedObject/kind").asString().equals("ScaledService"))
        .map(one -> one.path("type").asString() + " " + one.path("reason").asString() + ": "
            + one.path("message").asString())
        .sorted().toList();
  }

  private void becomes(String type, String condition) {
    eventually(() -> assertThat(condition(type)).isEqualTo(condition));
  }

  /**
   * Moves time little by little: a write that the API server has stored is known to the writer only once its
   * answer is here, and what follows it counts from then.
   */
  private void eventually(ThrowingRunnable holds) {
    eventually(Duration.ofMillis(10), holds);
  }

  private void eventually(Duration step, ThrowingRunnable holds) {
    await().untilAsserted(() -> {
      loop.advance(step);
      holds.run();
    });
  }

  private long patches() {
    return api.faults().journal()
        .calls(Match.requests(Verb.PATCH).of(ScaledServiceCrd.of(store))).size();
  }

  @Test
  void writesTheStateAndTheTarget_thatKubectlShows() {
    service();
    lead();
    writer.scaled(WEB, scaling(1, 1, null));

    eventually(() -> assertThat(status().path("state").asString("")).isEqualTo("waking"));
    assertThat(status().path("target").asString()).isEqualTo("Deployment/web");
  }

  @Test
  void whatIsMissingIsAConditionWithinASecondAndThenAnEvent() {
    lead();

    becomes("Ready", "False ServiceNotFound 2026-01-01T00:00:00Z");
    becomes("Active", "Unknown NotDecided 2026-01-01T00:00:00Z");
    assertThat(status().path("observedGeneration").asInt()).isEqualTo(1);
    assertThat(status().path("conditions")).hasSize(3)
        .allMatch(one -> one.path("observedGeneration").asInt() == 1);
    becomes("Reconciling", "True ServiceNotFound 2026-01-01T00:00:00Z");
    loop.advance(Duration.ofSeconds(3));
    eventually(() -> assertThat(events())
        .containsExactly("Warning ServiceNotFound: there is no Service shop/web"));
  }

  @Test
  void aServiceThatComesAMomentLaterIsNoEvent() {
    lead();
    becomes("Ready", "False ServiceNotFound 2026-01-01T00:00:00Z");
    service();
    writer.scaled(WEB, scaling(0, 0, null));
    becomesLater("Ready", "True Ready 2026-01-01T00:00:00Z");

    loop.advance(Duration.ofSeconds(5));
    writer.happened(WEB, false, "ScaledUp", "from 0 to 1");
    eventually(() -> assertThat(events()).containsExactly("Normal ScaledUp: from 0 to 1"));
  }

  @Test
  void whatTheLeaderDecidesIsWrittenAndTimesStayWhileConditionsDo() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 1, null));
    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");
    becomes("Active", "Unknown Queued 2026-01-01T00:00:00Z");
    assertThat(status().path("replicas").asInt()).isZero();
    assertThat(status().path("desiredReplicas").asInt()).isEqualTo(1);

    now = Instant.parse("2026-01-01T00:01:00Z");
    writer.scaled(WEB, new Scaling(OptionalInt.of(2), OptionalInt.empty(), "True", "", "",
        new Trouble("Forbidden", "patch deployments/scale in shop"), "", "waking"));
    loop.advance(Duration.ofSeconds(1));

    becomes("Ready", "False Forbidden 2026-01-01T00:01:00Z");
    becomes("Active", "True Active 2026-01-01T00:01:00Z");
    assertThat(status().path("desiredReplicas").asInt())
        .as("what was wanted last stays, for the next leader").isEqualTo(1);
    assertThat(status().path("replicas").asInt()).as("no pod is listed").isZero();
  }

  @Test
  void namesThePortsForConnections_beforeTheFirstDecision() {
    service();
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      ((ObjectNode) found.path("spec")).remove("serviceRef");
      found.withObject("/spec/serviceRef").put("name", "web");
      ((ObjectNode) found.path("spec")).putArray("ports").addObject().put("port", "http")
          .put("protocol", "tcp");
      return found;
    });
    lead();

    eventually(() -> assertThat(status().path("ports").toString())
        .isEqualTo("[{\"port\":\"http\",\"number\":9100}]"));
    eventually(() -> assertThat(opened).isEqualTo("9100"));

    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      found.withObject("/spec/serviceRef").put("port", "http");
      ((ObjectNode) found.path("spec")).remove("ports");
      return found;
    });
    loop.advance(Duration.ofSeconds(2));
    eventually(() -> assertThat(status().path("ports")).isEmpty());
    assertThat(opened).isEmpty();
  }

  private static RevisionStartProgress start(String reason, String message) {
    return new RevisionStartProgress(WEB, "web-1",
        Map.of(StartPhase.CREATE, Instant.EPOCH), reason, message, Duration.ZERO);
  }

  @Test
  void saysThatNoNodeTakesThePods_whileRequestsWait() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 1, null));
    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");
    writer.starts(start("Unschedulable", "0/3 nodes"));
    becomesLater("False Unschedulable 2026-01-01T00:00:00Z");

    now = Instant.parse("2026-01-01T00:01:00Z");
    writer.starts(start("TriggeredScaleUp", "pod triggered scale-up"));
    becomesLater("False TriggeredScaleUp 2026-01-01T00:00:00Z");
    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");

    writer.starts(RevisionStartProgress.none(WEB));
    becomesLater("");
  }

  /** A second after the last write was answered. */
  private void becomesLater(String podsScheduled) {
    becomesLater("PodsScheduled", podsScheduled);
  }

  private void becomesLater(String type, String expected) {
    eventually(Duration.ofMillis(100), () -> assertThat(condition(type)).isEqualTo(expected));
  }

  private static ContainerFailure crashes() {
    return new ContainerFailure(WEB, new RevisionStartFailure("CrashLoopBackOff",
        "container app ended with exit code 3: no database", "pod web-1"));
  }

  private static ContainerFailure noFailure() {
    return new ContainerFailure(WEB, null);
  }

  @Test
  void isNotReadyWhilePodsCannotStart_untilOneIsReady() {
    service();
    lead();
    writer.scaled(WEB, scaling(1, 1, null));
    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");

    now = Instant.parse("2026-01-01T00:01:00Z");
    writer.startFailed(crashes());
    becomesLater("Ready", "False CrashLoopBackOff 2026-01-01T00:01:00Z");
    assertThat(status().at("/conditions/0/message").asString()).isEqualTo("no pod starts:"
        + " pod web-1, container app ended with exit code 3: no database");
    eventually(() -> assertThat(store.list(BuiltInKinds.EVENT).toString())
        .contains("CrashLoopBackOff"));

    // The kubelet tries it again.
    writer.startFailed(noFailure());
    writer.scaled(WEB, scaling(1, 2, null));
    eventually(Duration.ofMillis(100),
        () -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(2));
    assertThat(condition("Ready")).isEqualTo("False CrashLoopBackOff 2026-01-01T00:01:00Z");

    writer.scaled(WEB, new Scaling(OptionalInt.of(1), OptionalInt.of(1), "True", "", "", null, "",
        "running"));
    becomesLater("Ready", "True Ready 2026-01-01T00:01:00Z");
  }

  @Test
  void isNotReadyWhilePodsFailTheProbeOfAPort() {
    service();
    lead();
    writer.scaled(WEB, scaling(1, 1, null));
    writer.portProbeFails(WEB.ofPort("pg"), "10.0.0.1:5432 answered 'E'");
    becomesLater("Ready", "False PortProbeFails 2026-01-01T00:00:00Z");
    assertThat(status().at("/conditions/0/message").asString()).isEqualTo("ready pods get no"
        + " connections, as they fail the readinessProbe in spec.ports: 10.0.0.1:5432 answered 'E'");

    writer.portProbeFails(WEB.ofPort("pg"), "");
    becomesLater("Ready", "True Ready 2026-01-01T00:00:00Z");
  }

  @Test
  void saysThatPodsRunAndAreNotReady_afterHalfAMinute() {
    service();
    lead();
    writer.scaled(WEB, scaling(1, 1, null));
    writer.starts(running("2026-01-01T00:00:05Z"));
    loop.advance(Duration.ofSeconds(20));
    desires(1);
    assertThat(condition("Ready")).isEqualTo("True Ready 2026-01-01T00:00:00Z");

    now = Instant.parse("2026-01-01T00:01:00Z");
    loop.advance(Duration.ofSeconds(10));
    becomesLater("Ready", "False PodsNotReady 2026-01-01T00:01:00Z");
    assertThat(status().at("/conditions/0/message").asString()).isEqualTo("no pod is ready: the"
        + " containers of pod web-1 have run since 2026-01-01T00:00:05Z, but its probes or"
        + " readiness gates do not pass");
    eventually(() -> assertThat(events()).hasSize(1).first().asString()
        .startsWith("Warning PodsNotReady: no pod is ready"));

    writer.scaled(WEB, new Scaling(OptionalInt.of(1), OptionalInt.of(1), "True", "", "", null, "",
        "running"));
    becomesLater("Ready", "True Ready 2026-01-01T00:01:00Z");
  }

  @Test
  void doesNotSayThatPodsAreNotReady_ofAWorkloadThatWasReplaced() {
    service();
    lead();
    writer.scaled(WEB, scaling(1, 1, null));
    writer.starts(running("2026-01-01T00:00:05Z"));
    loop.advance(Duration.ofSeconds(30));
    becomesLater("Ready", "False PodsNotReady 2026-01-01T00:00:00Z");

    store.delete(BuiltInKinds.DEPLOYMENT, "shop", "web");
    becomesLater("Ready", "False TargetNotFound 2026-01-01T00:00:00Z");
    store.create(BuiltInKinds.DEPLOYMENT,
        Objects.parse("{'metadata': {'namespace': 'shop', 'name': 'web'}}"));
    await().until(() -> troubles.isEmpty());
    writer.scaled(WEB, scaling(0, 1, null));

    becomesLater("Ready", "True Ready 2026-01-01T00:00:00Z");
  }

  private static RevisionStartProgress running(String since) {
    return new RevisionStartProgress(WEB, "web-1",
        Map.of(StartPhase.CREATE, Instant.EPOCH, StartPhase.CONTAINER, Instant.parse(since)), "",
        "", Duration.ZERO);
  }

  private void desires(int replicas) {
    eventually(() -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(replicas));
  }

  @Test
  void doesNotSayWhyPodsFailedBeforeItsTerm() {
    service();
    writer.startFailed(crashes());
    writer.startFailed(noFailure());
    lead();
    writer.scaled(WEB, scaling(1, 1, null));

    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");
  }

  @Test
  void aStatusIsWrittenOnceASecondAtMost() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 1, null));
    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");
    long before = patches();

    for (int i = 2; i < 20; i++) {
      writer.scaled(WEB, scaling(1, i, null));
    }
    loop.advance(Duration.ofMillis(900));
    assertThat(patches()).isEqualTo(before);

    loop.advance(Duration.ofMillis(100));
    eventually(() -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(19));
    assertThat(patches()).isEqualTo(before + 1);
  }

  @Test
  void aChangeOfPodsIsWrittenWithTheDecisionThatFollows() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 0, null));
    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");
    eventually(() -> assertThat(shown).isZero());
    loop.advance(Duration.ofSeconds(2));
    long before = patches();

    store.create(BuiltInKinds.ENDPOINT_SLICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web-1',
         'labels': {'kubernetes.io/service-name': 'web'}}, 'addressType': 'IPv4',
         'ports': [{'name': 'http', 'port': 8080}], 'endpoints': [{'addresses': ['10.0.0.1']}]}
        """));
    await().until(() -> ready == 1);
    loop.advance(Duration.ofMillis(100));
    assertThat(patches()).isEqualTo(before);
    writer.scaled(WEB, scaling(1, 1, null));

    eventually(() -> assertThat(shown).isEqualTo(1));
    loop.advance(Duration.ofSeconds(2));
    assertThat(patches()).isEqualTo(before + 1);
    assertThat(status().path("replicas").asInt()).isEqualTo(1);
  }

  @Test
  void onlyTheLeaderWrites() {
    loop.advance(Duration.ofSeconds(1));
    writer.happened(WEB, false, "ScaledUp", "from 0 to 1");
    loop.advance(Duration.ofSeconds(5));
    assertThat(patches()).isZero();

    lead();
    becomes("Ready", "False ServiceNotFound 2026-01-01T00:00:00Z");
    leads = false;
    loop.advance(Duration.ofSeconds(1));
    long before = patches();
    service();
    loop.advance(Duration.ofSeconds(5));
    assertThat(patches()).isEqualTo(before);
    assertThat(events()).noneMatch(one -> one.contains("ScaledUp"));
  }

  @Test
  void whatWasDecidedLastIsWrittenAtOnceBeforeAnotherLeads() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 1, null));
    becomes("Active", "Unknown Queued 2026-01-01T00:00:00Z");
    long before = patches();

    writer.scaled(WEB, scaling(1, 7, null));
    var finished = writer.finish();

    // The loop's time does not pass: the status would not be due.
    eventually(Duration.ZERO, () -> assertThat(finished).isDone());
    assertThat(patches()).isEqualTo(before + 1);
    assertThat(status().path("desiredReplicas").asInt()).isEqualTo(7);
  }

  @Test
  void whatHasJustChangedIsWrittenBeforeAnotherLeads() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 1, null));
    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");
    loop.advance(Duration.ofSeconds(2));

    store.delete(BuiltInKinds.SERVICE, "shop", "web");
    await().until(() -> !troubles.isEmpty());
    var finished = writer.finish();

    eventually(Duration.ZERO, () -> assertThat(finished).isDone());
    assertThat(condition("Ready")).isEqualTo("False ServiceNotFound 2026-01-01T00:00:00Z");
  }

  @Test
  void aNewTermWritesEvenIfTheLastWriteOfTheOneBeforeIsUnderWay() {
    service();
    lead();
    api.faults().once(Match.requests(Verb.PATCH).of(ScaledServiceCrd.of(store)),
        new Fault.LateAnswer(Pause.of(Duration.ofMillis(300))));
    writer.scaled(WEB, scaling(0, 1, null));
    writer.finish();

    writer.scaled(WEB, scaling(1, 7, null));
    eventually(() -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(7));
  }

  @Test
  void aTermThatFollowsAtOnceWritesWhatTheLastOneCouldNot() {
    var refusal = api.faults().add(Match.requests(Verb.PATCH).of(ScaledServiceCrd.of(store)),
        Fault.Answer.status(503));
    lead();
    refusal.awaitFired(1, Duration.ofSeconds(120));
    eventually(() -> assertThat(finished()).isTrue());
    refusal.remove();

    // when it leads again before anyone has noticed
    for (int i = 0; i < 20; i++) {
      loop.advance(Duration.ofSeconds(5));
    }

    becomes("Ready", "False ServiceNotFound 2026-01-01T00:00:00Z");
  }

  /** The end of a term waits for its last writes of scales, and the next may begin meanwhile. */
  @Test
  void writesWhatANewTermDecided_ifTheOneBeforeFinishesAfterThat() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 1, new Trouble("ScaleFailed", "no answer")));
    becomes("Ready", "False ScaleFailed 2026-01-01T00:00:00Z");

    var refusal = api.faults().add(Match.requests(Verb.PATCH).of(ScaledServiceCrd.of(store)),
        Fault.Answer.status(503));
    loop.advance(Duration.ofSeconds(1));
    writer.scaled(WEB, scaling(0, 1, null));
    loop.advance(Duration.ZERO);
    refusal.awaitFired(1, Duration.ofSeconds(120));
    eventually(() -> assertThat(finished()).isTrue());
    refusal.remove();

    eventually(Duration.ofSeconds(1),
        () -> assertThat(condition("Ready")).isEqualTo("True Ready 2026-01-01T00:00:00Z"));
  }

  @Test
  void forgetsAnEarlierTerm_onceAnotherLeads() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 7, null));
    eventually(() -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(7));
    var finished = writer.finish();
    eventually(() -> assertThat(finished).isDone());
    leads = false;
    loop.advance(Duration.ofSeconds(1));
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      ((ObjectNode) found.path("status")).put("desiredReplicas", 2);
      return found;
    });
    minReplicas(1);
    eventually(() -> assertThat(generation).isEqualTo(2));

    long before = patches();
    lead();
    loop.advance(Duration.ofSeconds(2));
    assertThat(patches()).isEqualTo(before);
    writer.scaled(WEB, scaling(0, 2, null));
    eventually(Duration.ofSeconds(1),
        () -> assertThat(status().path("observedGeneration").asInt()).isEqualTo(2));
    assertThat(status().path("desiredReplicas").asInt()).isEqualTo(2);
  }

  private boolean finished() {
    var done = writer.finish();
    loop.advance(Duration.ZERO);
    return done.isDone();
  }

  @Test
  void aTermThatFollowsAtOnceWritesWhatChangedAtTheEndOfTheLastOne() {
    lead();
    becomes("Ready", "False ServiceNotFound 2026-01-01T00:00:00Z");
    loop.advance(Duration.ofSeconds(1));
    var late = api.faults().once(Match.requests(Verb.PATCH).of(ScaledServiceCrd.of(store)),
        new Fault.LateAnswer(Pause.of(Duration.ofMinutes(2))));
    minReplicas(1);
    late.awaitFired(1, Duration.ofSeconds(120));

    // when the object changes while the last write of the term is under way
    var finished = writer.finish();
    minReplicas(0);
    eventually(() -> assertThat(generation).isEqualTo(3));
    api.faults().release();
    eventually(() -> assertThat(finished).isDone());

    eventually(Duration.ofSeconds(1),
        () -> assertThat(status().path("observedGeneration").asInt()).isEqualTo(3));
  }

  private void minReplicas(int min) {
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      ((ObjectNode) found.path("spec")).put("minReplicas", min);
      return found;
    });
  }

  @Test
  void nothingIsWrittenAtTheEndByOneThatLeadsNoMore() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 1, null));
    becomes("Active", "Unknown Queued 2026-01-01T00:00:00Z");
    long before = patches();

    leads = false;
    writer.scaled(WEB, scaling(1, 7, null));
    var finished = writer.finish();
    eventually(() -> assertThat(finished).isDone());
    assertThat(patches()).isEqualTo(before);
  }

  private void anotherClientSets(int desired) {
    store.updateStatus(ScaledServiceCrd.of(store), "shop", "web", found -> {
      ((ObjectNode) found.path("status")).put("desiredReplicas", desired);
      return found;
    });
  }

  @Test
  void whatAnotherClientReplacesAtOnceIsWrittenAgainWithinSeconds() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 7, null));
    eventually(() -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(7));

    anotherClientSets(2);
    eventually(() -> assertThat(shown).isEqualTo(2));

    eventually(Duration.ofMillis(500),
        () -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(7));
    assertThat(Duration.ofNanos(loop.nanoTime())).isLessThan(Duration.ofSeconds(15));
  }

  @Test
  void whatAnotherClientReplacesAgainAndAgainIsWrittenEverMoreRarely() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 7, null));
    eventually(() -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(7));
    long before = patches();

    for (int i = 0; i < 300; i++) {
      if (status().path("desiredReplicas").asInt() == 7) {
        anotherClientSets(2);
      }
      await().until(() -> shown == status().path("desiredReplicas").asInt());
      loop.advance(Duration.ofSeconds(1));
    }

    assertThat(patches() - before).isBetween(2L, 8L);
  }

  /** The watch may be lost, and shows none of the writes. */
  @Test
  void whatTheWatchDoesNotShowIsWrittenAgainEverMoreRarely() {
    service();
    lead();
    api.faults().strike(Match.requests(Verb.WATCH).of(ScaledServiceCrd.of(store)),
        new Fault.HalfOpen(When.now(), Duration.ofMinutes(60)));
    writer.scaled(WEB, scaling(0, 7, null));
    eventually(() -> assertThat(status().path("desiredReplicas").asInt()).isEqualTo(7));
    long before = patches();

    for (int i = 0; i < 300; i++) {
      loop.advance(Duration.ofSeconds(1));
    }

    assertThat(patches() - before).isLessThan(8);
  }

  @Test
  void theSameEventComesOnceAMinute() {
    service();
    lead();
    for (int i = 1; i < 4; i++) {
      writer.happened(WEB, false, "ScaledUp", "from 0 to " + i);
    }
    writer.happened(WEB, false, "ScaledToZero", "from 1 to 0");
    eventually(() -> assertThat(events()).containsExactly(
        "Normal ScaledToZero: from 1 to 0", "Normal ScaledUp: from 0 to 1"));

    now = now.plusSeconds(60);
    writer.happened(WEB, false, "ScaledUp", "from 0 to 9");
    eventually(
        () -> assertThat(events()).contains("Normal ScaledUp: from 0 to 9").hasSize(3));
  }

  @Test
  void aDeletedOneThatLeavesItsTargetAtZeroSaysSo() {
    service();
    lead();
    writer.scaled(WEB, scaling(0, 0, null));
    becomes("Ready", "True Ready 2026-01-01T00:00:00Z");

    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    eventually(() -> assertThat(events()).containsExactly("Warning LeftAtZero:"
        + " ScaledService web is deleted, and Deployment web keeps 0 replicas"));
  }

  @Test
  void aDeletedOneWhosePodsAreAsleepDoesNotSayThatItsTargetIsAtZero() {
    service();
    lead();
    store.updateStatus(ScaledServiceCrd.of(store), "shop", "web", found -> {
      ((ObjectNode) found).withObject("/status").set("idle", Objects.parse(
          "{'state': 'Asleep', 'since': '2026-01-01T00:00:00Z', 'do': 'sleep'}"));
      return found;
    });
    eventually(() -> assertThat(isAsleep).isTrue());
    writer.scaled(WEB, scaling(0, 0, null));
    eventually(() -> assertThat(status().path("desiredReplicas").asInt(-1)).isZero());

    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    store.create(ScaledServiceCrd.of(store), scaledService());
    eventually(() -> assertThat(isAsleep).isFalse());
    writer.happened(WEB, false, "ScaledUp", "from 0 to 1");
    eventually(() -> assertThat(events()).containsExactly("Normal ScaledUp: from 0 to 1"));
  }

  /** Leaves the workload as it is. */
  private static final class Idle implements IdleMethod<ScaleTarget> {
    @Override
    public Class<ScaleTarget> type() {
      return ScaleTarget.class;
    }

    @Override
    public ScaleTarget target(ScaleTarget workload, IdleSpec idle) {
      return workload;
    }

    @Override
    public ScaleClient<ScaleTarget> client(Environment environment) {
      throw new UnsupportedOperationException("nothing is scaled in this test");
    }
  }
}
