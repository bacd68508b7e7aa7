package dev.activator.ext.actuators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.ScaledServices;
import dev.activator.standalone.StandalonePlatform;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.FreePort;
import dev.activator.testing.Make;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.BeforeEach;

/** A ScaledService with {@code wake}, and all that scales it, over HTTP and WebSockets. */
class WokenObjectTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Duration LONG = Duration.ofSeconds(120);

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final Sandboxes sandboxes = new Sandboxes(store);
  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(2,
      NioIoHandler.newFactory());
  private final NettyLoop loop = new NettyLoop(threads.next());
  private final ClusterAccess access = new ClusterAccess.At(URI.create(api.url()));
  private final ScaledServices services = Make.scaledServices();
  private final StandalonePlatform platform = new StandalonePlatform(access,
      new StandalonePlatform.Identity("activator-1", "127.0.7.9", "system", "activator",
          "activator", FreePort.next()),
      services, threads, new Random(1), KubernetesWriteRateLimiter.Limit.NONE);
  private final ClusterWatcher cluster = Make.cluster(() -> access, LONG);
  private final AutoscalerLink link = AutoscalerLink.to(platform::autoscalerUri, loop,
      "activator-1",
      AutoscalerLink.Timings.DEFAULT, new Random(1));
  private final TestRevisions revisions = new TestRevisions(loop);
  private final ConcurrencyReporter reporter = new ConcurrencyReporter(revisions.live, loop,
      Duration.ofSeconds(1), link);
  private final RevisionCount requests = reporter.onLoop(loop).of(revisions.begun(WEB));

  @BeforeEach
  void create() {
    ScaledServiceCrd.createIn(store);
    sandboxes.create("web", "{'mode': 'Suspended'}");
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
         'ports': [{'name': 'http', 'port': 80}]}}
        """));
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
         'wake': {'patch': {'apiVersion': 'agents.x-k8s.io/v1alpha1', 'kind': 'Sandbox',
          'name': 'web', 'running': {'spec': {'mode': 'Running'}},
          'stopped': {'spec': {'mode': 'Suspended'}}}},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 2}}}
        """));
  }

  private void start(@Nullable ActuatorsProperties settings) throws Exception {
    link.onChange(reporter);
    if (settings != null) {
      new ActuatorsConfiguration().actuators(platform, settings).attach();
    }
    platform.extensions(Set.of());
    platform.join(cluster, link);
    for (var part : platform.beforePorts()) {
      part.start().run();
    }
    cluster.start();
    link.open();
    reporter.start();
  }

  @AfterEach
  void stop() {
    reporter.stop();
    link.close();
    cluster.close();
    platform.beforePorts().reversed().stream().map(LifecyclePart::stop).forEach(Runnable::run);
    api.close();
    threads.shutdownGracefully(0, 5, TimeUnit.SECONDS);
  }

  private String ready() {
    return store.find(ScaledServiceCrd.of(store), "shop", "web").at("/status/conditions")
        .valueStream().filter(one -> one.path("type").asString().equals("Ready")).findFirst()
        .map(one -> one.path("status").asString() + " " + one.path("reason").asString() + " "
            + one.path("message").asString())
        .orElse("");
  }

  @Test
  void requestsWait_untilTheConditionOfTheObjectIsTrue() throws Exception {
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      ((ObjectNode) found.at("/spec/wake/patch")).put("readyCondition", "Ready");
      return found;
    });
    store.create(BuiltInKinds.ENDPOINT_SLICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web-x',
          'labels': {'kubernetes.io/service-name': 'web'}}, 'addressType': 'IPv4',
         'ports': [{'name': 'http', 'port': 8080}],
         'endpoints': [{'addresses': ['10.0.0.1'], 'conditions': {'ready': true}}]}
        """));
    sandboxes.condition("web", "Ready", "False");
    start(allowed());
    await().untilAsserted(() -> assertThat(services.find(WEB)).isNotNull());
    await().untilAsserted(
        () -> assertThat(services.find(WEB).pods().http1().all().isEmpty()).isFalse());
    assertThat(services.find(WEB).ready()).isZero();

    sandboxes.condition("web", "Ready", "True");

    await().untilAsserted(() -> assertThat(services.find(WEB).ready()).isEqualTo(1));
    store.delete(sandboxes.kind(), "shop", "web");
    await().untilAsserted(() -> assertThat(services.find(WEB).troubles())
        .anySatisfy(trouble -> assertThat(trouble.message())
            .isEqualTo("there is no Sandbox web in namespace shop")));
  }

  private static ActuatorsProperties allowed() {
    return new ActuatorsProperties(Set.of(Sandboxes.RESOURCE), Set.of());
  }

  @Test
  void onePatchStartsIt_howeverManyRequestsWait() throws Exception {
    start(allowed());
    await().untilAsserted(() -> assertThat(ready()).startsWith("True"));
    await().until(link::connected);

    loop.execute(() -> {
      for (int i = 0; i < 10_000; i++) {
        requests.arrived();
      }
    });

    await().untilAsserted(() -> assertThat(sandboxes.mode("web")).isEqualTo("Running"));
    await().untilAsserted(() -> assertThat(store.list(BuiltInKinds.EVENT))
        .anySatisfy(event -> assertThat(event.path("message").asString())
            .startsWith("Sandbox web goes from 0 to 1: ")));
    await().untilAsserted(() -> assertThat(store.find(ScaledServiceCrd.of(store), "shop", "web")
        .at("/status/desiredReplicas").asInt()).isEqualTo(1));
    assertThat(api.faults().journal().calls(Match.requests(Verb.PATCH).of(sandboxes.kind())))
        .hasSize(1);
  }

  private void wakeByUrl(Machines machines) {
    store.delete(ScaledServiceCrd.of(store), "shop", "web");
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
         'wake': {'http': {'start': {'url': '%s'}, 'stop': {'url': '%s'}}},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 2}}}
        """.formatted(machines.url("/start"), machines.url("/stop"))));
  }

  @Test
  void oneCallStartsIt_howeverManyRequestsWait() throws Exception {
    try (var machines = new Machines()) {
      wakeByUrl(machines);
      start(new ActuatorsProperties(Set.of(), Set.of(machines.url("/"))));
      await().untilAsserted(() -> assertThat(ready()).startsWith("True"));
      await().until(link::connected);

      loop.execute(() -> {
        for (int i = 0; i < 10_000; i++) {
          requests.arrived();
        }
      });

      await().untilAsserted(() -> assertThat(store.list(BuiltInKinds.EVENT))
          .anySatisfy(event -> assertThat(event.path("message").asString())
              .startsWith("URL " + machines.url("/start") + " goes from 0 to 1: ")));
      await().untilAsserted(() -> assertThat(store.find(ScaledServiceCrd.of(store), "shop", "web")
          .at("/status/desiredReplicas").asInt()).isEqualTo(1));
      assertThat(machines.calls()).containsExactly("POST /start");
      assertThat(store.find(ScaledServiceCrd.of(store), "shop", "web")
          .at("/status/wake/state").asString()).isEqualTo("Running");
    }
  }

  @Test
  void theConditionSaysHowACallWasAnswered_andItIsTriedAgain() throws Exception {
    try (var machines = new Machines()) {
      machines.answer("/start", 500);
      wakeByUrl(machines);
      start(new ActuatorsProperties(Set.of(), Set.of(machines.url("/"))));
      await().untilAsserted(() -> assertThat(ready()).startsWith("True"));
      await().until(link::connected);

      loop.execute(() -> requests.arrived());

      await().untilAsserted(() -> assertThat(ready()).isEqualTo("False ScaleFailed cannot start:"
          + " POST " + machines.url("/start") + " was answered with 500"));
      assertThat(services.find(WEB).revision().startFailure()).isNull();
      assertThat(store.list(BuiltInKinds.EVENT).toString()).contains("was answered with 500")
          .doesNotContain(Machines.BODY);
      machines.answer("/start", 200);
      await().untilAsserted(() -> assertThat(ready()).startsWith("True"));
    }
  }

  @Test
  void theConditionSaysSo_whenNoPrefixAllowsAUrl() throws Exception {
    try (var machines = new Machines()) {
      wakeByUrl(machines);
      start(allowed());

      await().untilAsserted(() -> assertThat(ready()).startsWith(
          "False Forbidden POST " + machines.url("/start") + " may not be sent"));
    }
  }

  @Test
  void requestsAreRefusedWithASentence_andItIsWokenOnceTheObjectIsThereAgain() throws Exception {
    store.delete(sandboxes.kind(), "shop", "web");
    start(allowed());

    await().untilAsserted(() -> assertThat(ready()).startsWith(
        "False TargetNotFound cannot get Sandbox web in namespace shop: 404"));
    await().untilAsserted(() -> assertThat(services.find(WEB).revision().startFailure())
        .isNotNull());
    await().until(link::connected);
    loop.execute(() -> requests.arrived());
    sandboxes.create("web", "{'mode': 'Suspended'}");

    await().untilAsserted(() -> assertThat(sandboxes.mode("web")).isEqualTo("Running"));
    await().untilAsserted(() -> assertThat(ready()).startsWith("True"));
  }

  @Test
  void theConditionNamesTheKind_thatMayNotBePatched() throws Exception {
    start(new ActuatorsProperties(Set.of(), Set.of()));

    await().untilAsserted(() -> assertThat(ready())
        .startsWith("False Forbidden sandboxes.agents.x-k8s.io may not be patched"));
  }

  @Test
  void readsNoConditions_ofAKindThatMayNotBePatched() throws Exception {
    store.edit(ScaledServiceCrd.of(store), "shop", "web", found -> {
      ((ObjectNode) found.at("/spec/wake/patch")).put("readyCondition", "Ready");
      return found;
    });
    start(new ActuatorsProperties(Set.of(), Set.of()));

    await().untilAsserted(() -> assertThat(ready())
        .startsWith("False Forbidden sandboxes.agents.x-k8s.io may not be patched"));
    assertThat(api.faults().journal().calls(Match.requests(Verb.LIST, Verb.WATCH)
        .of(sandboxes.kind()))).isEmpty();
  }

  @Test
  void theConditionHasTheServersSentence_whenAPatchIsRefused() throws Exception {
    api.faults().add(Match.requests(Verb.PATCH).of(sandboxes.kind()), Fault.Answer.status(403));
    start(allowed());
    await().untilAsserted(() -> assertThat(ready()).startsWith("True"));
    await().until(link::connected);

    loop.execute(() -> requests.arrived());

    await().untilAsserted(() -> assertThat(ready()).startsWith(
        "False Forbidden cannot patch Sandbox web in namespace shop: 403"));
  }

  @Test
  void theConditionSaysSo_inABuildThatLeavesTheExtensionOut() throws Exception {
    start(null);

    await().untilAsserted(() -> assertThat(ready()).startsWith("False FeatureNotInstalled"
        + " spec.wake.patch has no effect"));
    assertThat(services.find(WEB).target()).isNull();
  }
}
