package dev.activator.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.kube.ClusterAccess;
import dev.activator.kube.Rig;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.FreePort;
import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import dev.activator.kube.policy.IpFamily;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.embedded.api.EmbeddedApiServer;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Real informers against a real watch cache, over HTTP. */
class ClusterOnEmbeddedApiTest {
  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final NettyLoop loop = new NettyLoop(threads.next());
  private ApiStore store = new ApiStore(Clock.systemUTC());
  private EmbeddedApiServer server = started(store, FreePort.next());
  private final ClusterWatcher cluster = Make.cluster(
      () -> new ClusterAccess.At(URI.create("http://127.0.0.1:" + server.port())),
      Duration.ofSeconds(120), ReflectorSettings.DEFAULT,
      new PodAddressPreference(EndpointsSource.ENDPOINTS, IpFamily.IPV4));

  /** What was told and not taken back. */
  private final Map<String, String> received = new ConcurrentSkipListMap<>();

  ClusterOnEmbeddedApiTest() {
    cluster.revisions().subscribe("test",
        revision -> received.put("revision " + revision.id().name(),
            revision.spec().timeouts().toString()));
    TestRevisions.onEnd(cluster, id -> received.remove("revision " + id.name()));
    cluster.pods().subscribe("test",
        pods -> received.put("pods " + pods.revision().name(), pods.http1().ready().toString()));
    cluster.podsGone().subscribe("test", last -> received.remove("pods " + last.revision().name()));
  }

  private EmbeddedApiServer started(ApiStore of, int port) {
    var fresh = new EmbeddedApiServer(of, loop,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    fresh.start();
    return fresh;
  }

  @AfterEach
  void close() {
    cluster.close();
    server.stop();
    threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  private static ObjectNode revision(String name) {
    return Objects.parse("""
        {'apiVersion': 'serving.knative.dev/v1', 'kind': 'Revision',
         'metadata': {'namespace': 'ns', 'name': '%s'}, 'spec': {'timeoutSeconds': 7}}
        """.formatted(name));
  }

  private static ObjectNode endpoints(String revision, String ip) {
    return Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Endpoints', 'metadata': {'namespace': 'ns',
         'name': '%s-private', 'labels': {'serving.knative.dev/revision': '%s',
         'serving.knative.dev/revisionUID': 'u',
         'networking.internal.knative.dev/serviceType': 'Private'}},
         'subsets': [{'addresses': [{'ip': '%s'}], 'ports': [{'name': 'http', 'port': 8012}]}]}
        """.formatted(revision, revision, ip));
  }

  /** A connection that a stopped server forgot to close is given up after 30 seconds. */
  private void tellsInTheEnd(Map<String, String> expected) {
    await()
        .untilAsserted(() -> assertThat(Map.copyOf(received)).isEqualTo(expected));
  }

  @Test
  void followsObjectsThroughTheirLives() throws Exception {
    store.create(BuiltInKinds.REVISION, revision("a"));
    cluster.start();
    assertThat(received).containsExactly(
        Map.entry("revision a", "RequestTimeouts[overall=PT7S, responseStart=PT0S, idle=PT0S]"));
    assertThat(cluster.live().spec(new RevisionId("ns", "a"))).isNotNull();

    store.create(BuiltInKinds.ENDPOINTS, endpoints("a", "10.0.0.1"));
    store.writes().update(BuiltInKinds.ENDPOINTS, endpoints("a", "10.0.0.2"));
    store.delete(BuiltInKinds.REVISION, "ns", "a");
    tellsInTheEnd(Map.of("pods a", "[10.0.0.2:8012]"));

    store.delete(BuiltInKinds.ENDPOINTS, "ns", "a-private");
    tellsInTheEnd(Map.of());
  }

  @Test
  void readsTheRulesOfARevisionFromItsAnnotations() throws Exception {
    var revision = revision("a");
    ((ObjectNode) revision.path("metadata")).set("annotations", Objects.parse("""
        {'activator.dev/do-not-wake': '[{userAgent: Prometheus/, refuse: {}}]',
         'activator.dev/fallback': '{respond: {status: 202}}',
         'activator.dev/idle-connections': 'ignore-after=30s'}
        """));
    store.create(BuiltInKinds.REVISION, revision);
    cluster.start();

    var rules = cluster.live().spec(new RevisionId("ns", "a")).rules();
    assertThat(rules.doNotWake()).map(DoNotWakeRule::toString)
        .containsExactly("User-Agent: Prometheus/* → 503");
    assertThat(rules.fallback()).hasToString("answers 202 at once");
    assertThat(rules.ignoreIdleAfter()).isEqualTo(Duration.ofSeconds(30));
    assertThat(rules.problems()).isEmpty();

    store.create(BuiltInKinds.REVISION, revision("plain"));
    await().untilAsserted(
        () -> assertThat(cluster.live().spec(new RevisionId("ns", "plain"))).isNotNull());
    assertThat(cluster.live().spec(new RevisionId("ns", "plain")).rules()).isNull();
  }

  private static ObjectNode ofService(String name, String service, int generation) {
    var revision = revision(name);
    ((ObjectNode) revision.path("metadata")).set("labels", Objects.parse("""
        {'serving.knative.dev/service': '%s',
         'serving.knative.dev/configurationGeneration': '%d'}
        """.formatted(service, generation)));
    return revision;
  }

  @Test
  void theNameOfAServiceMeansItsNewestRevision() throws Exception {
    var service = new RevisionId("ns", "web");
    store.create(BuiltInKinds.REVISION, ofService("web-00010", "web", 10));
    store.create(BuiltInKinds.REVISION, ofService("web-00009", "web", 9));
    store.create(BuiltInKinds.REVISION, ofService("other-00011", "other", 11));
    cluster.start();
    assertThat(cluster.named(service)).hasToString("ns/web-00010");
    assertThat(cluster.revisionsOf(service)).hasSize(2);

    store.delete(BuiltInKinds.REVISION, "ns", "web-00010");
    await().untilAsserted(
        () -> assertThat(cluster.named(service)).hasToString("ns/web-00009"));

    store.delete(BuiltInKinds.REVISION, "ns", "web-00009");
    await().untilAsserted(() -> assertThat(cluster.named(service)).isNull());
  }

  @Test
  void findsItsWayBackToAServerThatWasRestartedAndForgotSome() throws Exception {
    store.create(BuiltInKinds.ENDPOINTS, endpoints("a", "10.0.0.1"));
    store.create(BuiltInKinds.ENDPOINTS, endpoints("b", "10.0.0.2"));
    cluster.start();
    tellsInTheEnd(Map.of("pods a", "[10.0.0.1:8012]", "pods b", "[10.0.0.2:8012]"));

    // when another server takes the place of the first, with other objects
    int port = server.port();
    server.stop();
    store = new ApiStore(Clock.systemUTC());
    store.create(BuiltInKinds.ENDPOINTS, endpoints("b", "10.0.0.3"));
    store.create(BuiltInKinds.ENDPOINTS, endpoints("c", "10.0.0.4"));
    server = started(store, port);

    // then what is gone is taken back, and what is new is told
    tellsInTheEnd(Map.of("pods b", "[10.0.0.3:8012]", "pods c", "[10.0.0.4:8012]"));
  }

  @Test
  void reportsThatEndpointsAreNotWatchedWhileTheApiIsAway() throws Exception {
    int port = server.port();
    var watched = new CopyOnWriteArrayList<Boolean>();
    try (
        var quick = Make.cluster(() -> new ClusterAccess.At(URI.create("http://127.0.0.1:" + port)),
            Duration.ofSeconds(120), Rig.QUICK,
            new PodAddressPreference(EndpointsSource.ENDPOINTSLICES, IpFamily.IPV4))) {
      quick.endpointsWatch().subscribe("test", watched::add);
      quick.start();
      await().until(() -> quick.reflectors().stream().allMatch(one -> one.health().watching()));

      server.stop();
      await().untilAsserted(() -> assertThat(watched).containsExactly(false));

      server = started(store, port);
      await().untilAsserted(() -> assertThat(watched).containsExactly(false, true));
    }
  }

  @Test
  void endsWithWhatIsTrueHoweverFastItChanges() throws Exception {
    cluster.start();
    var random = new Random(7);
    var expected = new ConcurrentSkipListMap<String, String>();
    for (int i = 0; i < 300; i++) {
      String name = "r" + random.nextInt(10);
      String ip = "10.0.0." + random.nextInt(5);
      boolean exists = store.find(BuiltInKinds.ENDPOINTS, "ns", name + "-private") != null;
      if (!exists) {
        store.create(BuiltInKinds.ENDPOINTS, endpoints(name, ip));
        expected.put("pods " + name, "[" + ip + ":8012]");
      } else if (random.nextInt(3) == 0) {
        store.delete(BuiltInKinds.ENDPOINTS, "ns", name + "-private");
        expected.remove("pods " + name);
      } else {
        store.writes().update(BuiltInKinds.ENDPOINTS, endpoints(name, ip));
        expected.put("pods " + name, "[" + ip + ":8012]");
      }
    }

    tellsInTheEnd(expected);
  }
}
