package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ScalingApiClients;
import dev.activator.kube.Yaml;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.standalone.policy.ActivatorEndpointSlice;
import dev.activator.standalone.policy.ActivatorSlicePlanner;
import dev.activator.kube.policy.IpFamily;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.loop.ThreadLoop;
import dev.activator.revision.RevisionId;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.SteppedLoop;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The slices that lead a Service's requests to activators, over HTTP; time is moved by hand. */
class ActivatorEndpointSliceWriterTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaledService OBJECT = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
      metadata: {namespace: shop, name: web, uid: u}
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        serviceRef: {name: svc, port: http}
        target: {concurrency: 20}
        catchService: true
      """).value();
  private static final String NAME = "web.svc.activator.dev";

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ScalingApiClients session = new ScalingApiClients(
      new ClusterAccess.At(URI.create(api.url())), () -> KubernetesWriteRateLimiter.UNLIMITED,
      Duration.ofSeconds(120));
  private final ThreadLoop thread = new ThreadLoop("catcher");
  private final SteppedLoop loop = new SteppedLoop(thread);
  private final List<RevisionId> all = new ArrayList<>(List.of(WEB));
  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private volatile boolean leads = true;
  private final ActivatorEndpointSliceWriter catcher = new ActivatorEndpointSliceWriter(loop,
      session::records, () -> leads,
      (_, text) -> warnings.add(text), new Random(1));

  @BeforeEach
  void start() {
    session.open();
    catcher.start();
  }

  @AfterEach
  void close() {
    api.faults().heal();
    all.forEach(catcher::gone);
    eventually(() -> names().isEmpty());
    leads = false;
    all.forEach(catcher::gone);
    catcher.stop();
    thread.close();
    session.close();
    api.close();
  }

  private static ActivatorEndpointSlice slice(String... addresses) {
    return new ActivatorEndpointSlice(WEB, "u", "svc", IpFamily.IPV4, Map.of("http", 8012),
        List.of(addresses));
  }

  private void pods(boolean ready, ActivatorEndpointSlice... present) {
    catcher.changed(new ActivatorSlicePlanner(OBJECT, true, ready, List.of(slice("10.9.0.1")),
        present.length == 0 ? Map.of() : Map.of(NAME, present[0])));
  }

  /** A slow machine may take so long for an answer that a write is repeated later. */
  private void eventually(Callable<Boolean> condition) {
    await().pollInterval(Duration.ofMillis(20)).until(() -> {
      loop.advance(Duration.ofMillis(10));
      return condition.call();
    });
  }

  private List<String> names() {
    return api.store().list(BuiltInKinds.ENDPOINT_SLICE, _ -> true).stream().map(ObjectMeta::name)
        .toList();
  }

  @Test
  void existsWhileNoPodIsReady_andBelongsToTheScaledService() {
    pods(false);

    eventually(() -> names().contains(NAME));
    var object = api.store().find(BuiltInKinds.ENDPOINT_SLICE, "shop", NAME);
    assertThat(ObjectMeta.labels(object)).containsEntry("kubernetes.io/service-name", "svc")
        .containsEntry("endpointslice.kubernetes.io/managed-by", "activator.dev");
    assertThat(object.at("/metadata/ownerReferences/0/uid").asString()).isEqualTo("u");
    assertThat(object.at("/endpoints/0/addresses/0").asString()).isEqualTo("10.9.0.1");
    assertThat(object.at("/endpoints/0/conditions/ready").asBoolean()).isTrue();
    assertThat(object.at("/ports/0/name").asString()).isEqualTo("http");
    assertThat(object.at("/ports/0/port").asInt()).isEqualTo(8012);

    pods(true, slice("10.9.0.1"));
    eventually(() -> names().isEmpty());
  }

  @Test
  void theLastPodsGoOnlyOnceProxiesCouldLearnOfIt() {
    pods(true);
    var mayGo = catcher.prepareScaleToZero(WEB);
    eventually(() -> names().contains(NAME));
    assertThat(mayGo).isNotDone();

    await().pollInterval(Duration.ofMillis(20)).until(() -> {
      loop.advance(Duration.ofMillis(100));
      return mayGo.isDone();
    });

    assertThat(mayGo.join()).isTrue();
    assertThat(Duration.ofNanos(loop.nanoTime())).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
  }

  /** The pods may go. */
  private void mayGo(CompletableFuture<Boolean> mayGo) {
    await().pollInterval(Duration.ofMillis(20)).until(() -> {
      loop.advance(Duration.ofMillis(100));
      return mayGo.isDone();
    });
    assertThat(mayGo.join()).isTrue();
  }

  private int deletions() {
    return api.faults().journal().calls(Match.requests(Verb.DELETE).of(BuiltInKinds.ENDPOINT_SLICE))
        .size();
  }

  /** The slice follows another activator, by which all earlier writes are answered. */
  private void podsAreGone() {
    catcher.changed(new ActivatorSlicePlanner(OBJECT, true, false, List.of(slice("10.9.0.2")),
        Map.of(NAME, slice("10.9.0.1"))));
    eventually(
        () -> api.store().find(BuiltInKinds.ENDPOINT_SLICE, "shop", NAME) instanceof ObjectNode one
            && one.at("/endpoints/0/addresses/0").asString().equals("10.9.0.2"));
  }

  @Test
  void goesAtOnceIfThePodsStay() {
    pods(true);
    mayGo(catcher.prepareScaleToZero(WEB));
    pods(true, slice("10.9.0.1"));

    catcher.cancelScaleToZero(WEB);

    eventually(() -> names().isEmpty());
  }

  @Test
  void goesAfterAMinuteIfThePodsThatShouldGoDoNot() {
    pods(true);
    mayGo(catcher.prepareScaleToZero(WEB));
    pods(true, slice("10.9.0.1"));

    loop.advance(Duration.ofMinutes(1));

    eventually(() -> names().isEmpty());
  }

  @Test
  void staysUntilThePodsAreGone_howeverSlowControllersAre() {
    pods(true);
    mayGo(catcher.prepareScaleToZero(WEB));
    pods(true, slice("10.9.0.1"));

    loop.advance(Duration.ofSeconds(30));
    podsAreGone();
    assertThat(deletions()).isZero();

    // when the first pod of the next start is ready
    pods(true, slice("10.9.0.2"));
    eventually(() -> names().isEmpty());
  }

  @Test
  void isWrittenAgainBeforeTheLastPodsGo_asTheWatchMayBeLate() {
    pods(true);
    mayGo(catcher.prepareScaleToZero(WEB));
    api.store().delete(BuiltInKinds.ENDPOINT_SLICE, "shop", NAME);
    pods(true, slice("10.9.0.1"));

    mayGo(catcher.prepareScaleToZero(WEB));

    assertThat(names()).contains(NAME);
  }

  @Test
  void theLastPodsStay_ifNoActivatorIsReadyInTheLastSecond() {
    pods(true);
    var mayGo = catcher.prepareScaleToZero(WEB);
    eventually(() -> names().contains(NAME));

    catcher.changed(
        new ActivatorSlicePlanner(OBJECT, true, true, List.of(), Map.of(NAME, slice("10.9.0.1"))));

    await().pollInterval(Duration.ofMillis(20)).until(() -> {
      loop.advance(Duration.ofMillis(100));
      return mayGo.isDone();
    });
    assertThat(mayGo.join()).isFalse();
  }

  @Test
  void theLastPodsStay_ifTheyWereNotReadyForAMoment_whichEndedTheSlices() {
    pods(true);
    var mayGo = catcher.prepareScaleToZero(WEB);
    eventually(() -> names().contains(NAME));

    pods(false, slice("10.9.0.1"));
    pods(true, slice("10.9.0.1"));
    eventually(() -> names().isEmpty());

    await().pollInterval(Duration.ofMillis(20)).until(() -> {
      loop.advance(Duration.ofMillis(100));
      return mayGo.isDone();
    });
    assertThat(mayGo.join()).isFalse();
  }

  @Test
  void aNewLeaderDoesNotEndWhatTheLastOneWroteBeforeItRemovedThePods() {
    pods(false);
    eventually(() -> names().contains(NAME));
    leads = false;
    loop.advance(Duration.ofSeconds(1));
    pods(true, slice("10.9.0.1"));

    leads = true;
    pods(true, slice("10.9.0.1"));
    loop.advance(Duration.ofSeconds(10));
    podsAreGone();

    assertThat(deletions()).isZero();
  }

  @Test
  void belongsToTheScaledServiceThatWasMadeAgainUnderTheName() {
    var before = new ActivatorEndpointSlice(WEB, "before", "svc", IpFamily.IPV4,
        Map.of("http", 8012),
        List.of("10.9.0.1"));
    catcher.changed(new ActivatorSlicePlanner(OBJECT, true, false, List.of(before), Map.of()));
    eventually(() -> names().contains(NAME));

    pods(false, before);

    eventually(() -> api.store().find(BuiltInKinds.ENDPOINT_SLICE, "shop", NAME)
        .at("/metadata/ownerReferences/0/uid").asString().equals("u"));
  }

  @Test
  void fiftyAreWrittenAtOnce() {
    var unanswered = api.faults().add(Match.requests(Verb.CREATE).of(BuiltInKinds.ENDPOINT_SLICE),
        new Fault.NoAnswer());
    for (int i = 0; i < 60; i++) {
      var object = Yaml.decoded(StandaloneKinds.SCALED_SERVICES, """
          metadata: {namespace: shop, name: web%d, uid: u}
          spec:
            scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
            serviceRef: {name: svc, port: http}
            target: {concurrency: 20}
            catchService: true
          """.formatted(i)).value();
      all.add(object.id());
      catcher.changed(new ActivatorSlicePlanner(object, true, false,
          List.of(new ActivatorEndpointSlice(object.id(), "u",
              "svc", IpFamily.IPV4, Map.of("http", 8012), List.of("10.9.0.1"))),
          Map.of()));
    }
    unanswered.awaitFired(50, Duration.ofSeconds(120));
    loop.advance(Duration.ZERO);
    assertThat(api.faults().journal().calls(Match.requests(Verb.CREATE))).hasSize(50);

    unanswered.remove();
    api.faults().release();

    eventually(() -> names().size() == 60);
  }

  @Test
  void theLastPodsStayWhileItCannotBeWritten_andAnEventSaysWhy() {
    api.faults().add(Match.requests(Verb.CREATE), Fault.Answer.status(403));
    pods(true);

    assertThat(catcher.prepareScaleToZero(WEB).join()).isFalse();

    assertThat(warnings).singleElement().asString().contains("Service svc", "403");
    api.faults().heal();
    var again = catcher.prepareScaleToZero(WEB);
    await().pollInterval(Duration.ofMillis(20)).until(() -> {
      loop.advance(Duration.ofSeconds(1));
      return again.isDone();
    });
    assertThat(again.join()).isTrue();
    assertThat(warnings).hasSize(1);
  }

  @Test
  void followsTheActivators() {
    pods(false);
    eventually(() -> names().contains(NAME));

    catcher.changed(
        new ActivatorSlicePlanner(OBJECT, true, false, List.of(slice("10.9.0.2", "10.9.0.3")),
            Map.of(NAME, slice("10.9.0.1"))));

    eventually(() -> api.store().find(BuiltInKinds.ENDPOINT_SLICE, "shop", NAME).path("endpoints")
        .valueStream().map(one -> one.at("/addresses/0").asString()).toList()
        .equals(List.of("10.9.0.2", "10.9.0.3")));
    catcher.changed(new ActivatorSlicePlanner(OBJECT, true, false, List.of(),
        Map.of(NAME, slice("10.9.0.2", "10.9.0.3"))));
    eventually(() -> names().isEmpty());
    assertThat(catcher.prepareScaleToZero(WEB).join()).isFalse();
  }

  @Test
  void oneThatExistsAlready_unknownToUs_isUpdated() {
    pods(false);
    eventually(() -> names().contains(NAME));

    catcher.changed(
        new ActivatorSlicePlanner(OBJECT, true, false, List.of(slice("10.9.0.2")), Map.of()));

    eventually(() -> api.store().find(BuiltInKinds.ENDPOINT_SLICE, "shop", NAME)
        .at("/endpoints/0/addresses/0").asString().equals("10.9.0.2"));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"'' | '' | no activator",
      "mesh.example | '' | mesh.example", "activator.dev | other | ScaledService other"})
  void aSliceOfAnotherManagerIsKept_andAnEventNamesItsManager(String manager, String of,
      String owner) {
    var foreign = (ObjectNode) JsonMapper.shared().readTree("""
        {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
         "metadata": {"namespace": "shop", "name": "%s", "labels":
           {"kubernetes.io/service-name": "svc",
            "endpointslice.kubernetes.io/managed-by": "%s"},
           "annotations": {"activator.dev/scaled-service": "%s"}},
         "endpoints": [{"addresses": ["10.1.1.1"]}], "ports": []}""".formatted(NAME, manager, of));
    api.store().create(BuiltInKinds.ENDPOINT_SLICE, foreign);

    pods(false);
    assertThat(catcher.prepareScaleToZero(WEB).join()).isFalse();

    assertThat(warnings).singleElement().asString()
        .contains("EndpointSlice " + NAME + " belongs to " + owner);
    assertThat(api.store().find(BuiltInKinds.ENDPOINT_SLICE, "shop", NAME)
        .at("/endpoints/0/addresses/0").asString()).isEqualTo("10.1.1.1");
    // when it is gone
    api.store().delete(BuiltInKinds.ENDPOINT_SLICE, "shop", NAME);
    loop.advance(Duration.ofSeconds(2));
    eventually(() -> names().contains(NAME));
  }

  @Test
  void onlyTheLeaderWrites_andANewOneDoesWhatIsMissing() {
    leads = false;
    pods(false);
    assertThat(catcher.prepareScaleToZero(WEB).join()).isFalse();
    assertThat(names()).isEmpty();

    leads = true;
    loop.advance(Duration.ofSeconds(1));

    eventually(() -> names().contains(NAME));
  }

  @Test
  void aScaledServiceThatDoesNotCatchMayGoAtOnce() {
    assertThat(catcher.prepareScaleToZero(new RevisionId("shop", "other")).join()).isTrue();
    catcher.changed(
        new ActivatorSlicePlanner(OBJECT, false, true, List.of(), Map.of(NAME, slice("1.2.3.4"))));

    CompletableFuture<Boolean> mayGo = catcher.prepareScaleToZero(WEB);

    assertThat(mayGo.join()).isTrue();
  }
}
