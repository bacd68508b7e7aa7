package dev.activator.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.activator.throttle.policy.WaitLimits;
import dev.activator.ext.console.EventFetcher;
import dev.activator.testing.TestRevisions;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.kube.ScalingApiClients;
import dev.activator.ext.console.ClusterRevisionDetails;
import dev.activator.platform.RevisionDetailsSource.Setting;
import dev.activator.platform.RevisionDetailsSource;
import dev.activator.platform.ScalingReport;
import dev.activator.ext.console.KnativeAutoscalerDefaults;
import dev.activator.ext.console.ScalingExplanationBuilder;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.lifecycle.LifecyclePart;
import dev.activator.loop.NettyLoop;
import dev.activator.proxy.policy.MapFields;
import dev.activator.revision.RevisionId;
import dev.activator.revision.WakingExplanations.Waking;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import dev.activator.testing.FreePort;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Everything that scales, as in a cluster without Knative, over HTTP and WebSockets. */
class StandalonePlatformTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final String IP = "127.0.7.1";
  private static final Duration LONG = Duration.ofSeconds(120);

  private final EmbeddedApi api = EmbeddedApi.start();
  private final ApiStore store = api.store();
  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(2,
      NioIoHandler.newFactory());
  private final NettyLoop loop = new NettyLoop(threads.next());
  private final ClusterAccess access = new ClusterAccess.At(URI.create(api.url()));
  private final ScaledServices services = Make.scaledServices();
  private final StandalonePlatform platform = new StandalonePlatform(access,
      new StandalonePlatform.Identity("activator-1", IP, "system", "activator", "activator",
          FreePort.next()),
      services, threads, new Random(1),
      new ScalingApiClients(access, () -> KubernetesWriteRateLimiter.UNLIMITED, LONG),
      LONG);
  private final ClusterWatcher cluster = Make.cluster(() -> access, LONG);
  private final AutoscalerLink link = AutoscalerLink.to(platform::autoscalerUri, loop,
      "activator-1", AutoscalerLink.Timings.DEFAULT, new Random(1));
  private final TestRevisions revisions = new TestRevisions(loop);
  private final ConcurrencyReporter reporter = new ConcurrencyReporter(revisions.live, loop,
      Duration.ofSeconds(1), link);
  private final RevisionCount requests = reporter.onLoop(loop).of(revisions.begun(WEB));

  @BeforeEach
  void start() throws Exception {
    ScaledServiceCrd.createIn(store);
    store.create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'replicas': 0}}
        """));
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
         'ports': [{'name': 'http', 'port': 80}]}}
        """));
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'hosts': ['shop.example.com'],
         'maxReplicas': 5, 'target': {'concurrency': 2}}}
        """));
    link.onChange(reporter);
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

  private int replicas() {
    return store.find(BuiltInKinds.DEPLOYMENT, "shop", "web").at("/spec/replicas").asInt();
  }

  private List<String> events() {
    return store.list(BuiltInKinds.EVENT).stream().map(one -> one.path("reason").asString())
        .toList();
  }

  private String condition(String type) {
    return store.find(ScaledServiceCrd.of(store), "shop", "web").at("/status/conditions")
        .valueStream().filter(one -> one.path("type").asString().equals(type)).findFirst()
        .map(one -> one.path("status").asString() + " " + one.path("reason").asString())
        .orElse("");
  }

  @ParameterizedTest
  @CsvSource({"'', 10.0.0.9", "activator-2_10.0.0.2, 10.0.0.2", "activator-2_fd00::2, [fd00::2]",
      "'x y', 10.0.0.9", "'a_b c', 10.0.0.9"})
  void reportsToTheHolderOfTheLease_orToItselfWhileThatIsNoActivator(String holder, String host) {
    var own = new StandalonePlatform.Identity("activator-1", "10.0.0.9", "system", "activator",
        "activator", 8080);

    assertThat(StandalonePlatform.autoscalerOf(holder, own))
        .isEqualTo(URI.create("ws://" + host + ":8080"));
  }

  @Test
  void aRequestAtZeroStartsAPodAndTheStatusSaysSo() {
    await().until(link::connected);
    await().untilAsserted(() -> assertThat(condition("Ready")).isEqualTo("True Ready"));

    loop.execute(() -> requests.arrived());

    await().untilAsserted(() -> assertThat(replicas()).isEqualTo(1));
    await()
        .untilAsserted(() -> assertThat(condition("Active")).isEqualTo("Unknown Queued"));
    await().untilAsserted(() -> assertThat(events()).contains("ScaledUp"));
    assertThat(platform.scaling(WEB).explanation()).contains("in flight ÷ 2");
    assertThat(platform.leadership().writes()).containsKey("written");
    assertThat(services.revision("shop.example.com", "/", MapFields.of())).isEqualTo(WEB);
  }

  private ClusterRevisionDetails details() {
    return new ClusterRevisionDetails(cluster,
        new ClusterRevisionDetails.Defaults("cluster.local", 10, WaitLimits.NONE, "off"),
        new EventFetcher(cluster::api, loop::nanoTime, EventFetcher.TIMEOUT),
        platform::workload,
        new ScalingExplanationBuilder(platform::scaling, platform::leadership),
        () -> KnativeAutoscalerDefaults.ofKnative(null),
        _ -> new Waking("shop/front started, which wakes it", List.of("shop/cart")));
  }

  @Test
  void theConsoleKnowsWhereItIsHowItIsScaledAndByWhat() {
    var details = details();
    await().untilAsserted(() -> assertThat(details.settings(WEB).join())
        .extracting(Setting::name, Setting::value)
        .contains(tuple("scaled by", "this activator"), tuple("pods wanted", "0"),
            tuple("condition Ready", "True"), tuple("starts with it", "shop/cart"),
            tuple("last woken because", "shop/front started, which wakes it")));

    assertThat(details.card(WEB).kind()).isEqualTo("ScaledService");
    assertThat(details.card(WEB).url()).isEqualTo("http://shop.example.com/");
    assertThat(details.card(WEB).maxPods()).isEqualTo(5);
    assertThat(details.settings(WEB).join()).extracting(Setting::origin)
        .noneMatch(origin -> origin.contains("Revision"));
    await().untilAsserted(() -> assertThat(details.card(WEB).obstacles()).isEmpty());

    store.delete(BuiltInKinds.SERVICE, "shop", "web");
    await().untilAsserted(() -> assertThat(details.card(WEB).obstacles())
        .containsExactly("there is no Service shop/web"));
    // written by the one that scales
    await().untilAsserted(() -> assertThat(details().events(WEB).join().all())
        .extracting(RevisionDetailsSource.EventLine::reason).contains("ServiceNotFound"));
  }

  @Test
  void oneThatDoesNotLeadSaysWhoDoesAndWhatItHasWritten() throws Exception {
    await().untilAsserted(() -> assertThat(condition("Ready")).isEqualTo("True Ready"));
    await().until(link::connected);
    loop.execute(() -> requests.arrived());
    await()
        .untilAsserted(() -> assertThat(condition("Active")).isEqualTo("Unknown Queued"));

    var its = Make.scaledServices();
    var follower = new StandalonePlatform(access, new StandalonePlatform.Identity("activator-2",
        "127.0.7.2", "system", "activator", "activator", FreePort.next()), its, threads,
        new Random(2),
        KubernetesWriteRateLimiter.Limit.NONE);
    var cluster = Make.cluster(() -> access, LONG);
    follower.join(cluster, AutoscalerLink.to(follower::autoscalerUri, loop, "activator-2",
        AutoscalerLink.Timings.DEFAULT, new Random(2)));
    for (var part : follower.beforePorts()) {
      part.start().run();
    }
    cluster.start();
    try {
      await().until(() -> !follower.leadership().pod().isEmpty());
      await().untilAsserted(() -> {
        assertThat(follower.leadership().pod()).isEqualTo("activator-1");
        assertThat(follower.leadership().here()).isFalse();
        var status = store.find(ScaledServiceCrd.of(store), "shop", "web").path("status");
        assertThat(new ScalingExplanationBuilder(follower::scaling, follower::leadership)
            .report(WEB, follower.workload(WEB))).isEqualTo(
                new ScalingReport(status.path("desiredReplicas").asInt(), 0, 0, "waking",
                    "UNKNOWN",
                    "activator-1 scales it; this is what the status of the ScaledService says:"
                        + " Requests to the target are being buffered as resources are"
                        + " provisioned.",
                    null, ""));
      });
    } finally {
      cluster.close();
      follower.beforePorts().reversed().stream().map(LifecyclePart::stop).forEach(Runnable::run);
    }
  }

  /** As in a namespace that the chart's standalone.namespaces does not name. */
  @Test
  void whereItMayNotScaleTheStatusSaysSo() {
    api.faults().add(Match.requests(Verb.GET).of(BuiltInKinds.DEPLOYMENT),
        Fault.Answer.status(403));
    store.create(ScaledServiceCrd.of(store), Objects.parse("""
        {'metadata': {'namespace': 'blog', 'name': 'web'}, 'spec': {
         'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 2}}}
        """));
    store.create(BuiltInKinds.SERVICE, Objects.parse("""
        {'metadata': {'namespace': 'blog', 'name': 'web'}, 'spec': {'selector': {'app': 'web'},
         'ports': [{'name': 'http', 'port': 80}]}}
        """));
    store.create(BuiltInKinds.DEPLOYMENT,
        Objects.parse("{'metadata': {'namespace': 'blog', 'name': 'web'}}"));

    await().untilAsserted(() -> assertThat(
        store.find(ScaledServiceCrd.of(store), "blog", "web").at("/status/conditions").toString())
        .contains("\"Forbidden\"", "cannot get Deployment web in namespace blog: 403"));
    assertThat(platform.scaling(new RevisionId("blog", "web")).trouble().reason())
        .isEqualTo("Forbidden");
  }

  private List<String> leases() {
    return store.list(BuiltInKinds.EVENT).stream()
        .filter(one -> one.at("/involvedObject/kind").asString().equals("Lease"))
        .map(one -> one.at("/involvedObject/uid").asString() + " " + one.path("reason").asString()
            + " " + one.path("message").asString())
        .toList();
  }

  @Test
  void saysWhoLeadsInAnEventOfTheLeaseAndWhenItEnds() {
    await().until(() -> platform.leadership().here());
    assertThat(platform.leadership().pod()).isEqualTo("activator-1");
    assertThat(platform.leadership().transitions()).isZero();
    var lease = store.list(BuiltInKinds.LEASE).getFirst();
    var uid = lease.at("/metadata/uid").asString();
    await().untilAsserted(() -> assertThat(leases()).containsExactly(
        uid + " LeaderElected activator-1_127.0.7.1 became leader"));

    platform.beforePorts().reversed().stream().map(LifecyclePart::stop).forEach(Runnable::run);
    assertThat(leases()).containsExactlyInAnyOrder(
        uid + " LeaderElected activator-1_127.0.7.1 became leader",
        uid + " LeaderLost activator-1_127.0.7.1 stopped leading");
    assertThat(platform.leadership().here()).isFalse();
  }

  @Test
  void whatWasScaledLastIsInTheStatusWhenTheLeaderHasEnded() {
    await().until(link::connected);
    await().untilAsserted(() -> assertThat(condition("Ready")).isEqualTo("True Ready"));
    loop.execute(() -> requests.arrived());
    await().until(() -> replicas() > 0);

    // As the process ends: the cluster first.
    cluster.close();
    platform.beforePorts().reversed().stream().map(LifecyclePart::stop).forEach(Runnable::run);

    assertThat(store.find(ScaledServiceCrd.of(store), "shop", "web")
        .at("/status/desiredReplicas").asInt()).isEqualTo(replicas());
    assertThat(store.list(BuiltInKinds.LEASE).getFirst().at("/spec/holderIdentity").asString())
        .isEmpty();
  }

  @Test
  void theConsoleNamesTheCommandWhereEventsMayNotBeListed() {
    api.faults().add(Match.requests(Verb.LIST).of(BuiltInKinds.EVENT), Fault.Answer.status(403));

    // An answer that takes longer than two seconds is none.
    await().untilAsserted(() -> {
      var events = details().events(WEB).join();
      assertThat(events.all()).isEmpty();
      assertThat(events.insteadDo()).isEqualTo("This activator may not list Events (the chart's"
          + " rbac.events): kubectl get events -n shop");
    });
  }

  @Test
  void aServiceThatGoesIsSeenWithinASecond_andRequestsStartNoPodForIt() {
    await().untilAsserted(() -> assertThat(condition("Ready")).isEqualTo("True Ready"));
    await().until(link::connected);

    store.delete(BuiltInKinds.SERVICE, "shop", "web");
    await().untilAsserted(
        () -> assertThat(condition("Ready")).isEqualTo("False ServiceNotFound"));

    loop.execute(() -> {
      for (int i = 0; i < 5; i++) {
        requests.arrived();
      }
    });
    await().untilAsserted(
        () -> assertThat(condition("Active")).isEqualTo("False RequestsRefused"));
    assertThat(replicas()).isZero();
  }
}
